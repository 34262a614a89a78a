"""Who runs the statements of the bank, Headgate or Delta Spark, and what do they give, as text?"""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Lake
from headgate.errors import HeadgateError
from tests.sql.bank import Group, Statement
from tests.support.delta_spark import Answer, DeltaSpark, Refused
from tests.support.delta_spark_child import condition_of
from tests.support.plain_rows import Variant, plain_rows

_TIME = re.compile(r"\$\{time ([\w.]+) (\d+)\}")
_VIEW = re.compile(
    r"(?i)^create\s+(?:or\s+replace\s+)?temp(?:orary)?\s+view\s+(?:if\s+not\s+exists\s+)?(\w+)"
)
_SETTING = re.compile(r"(?i)^set\s+([\w.]+)\s*=")
_SCHEMAS = ("s", "s2")
_DELTA_SETTINGS = {
    "spark.sql.sources.default": "delta",
    # The parser of Delta 4.4 loses parameters on Spark 4.1 and newer (issue 7640 of delta-io/delta);
    # so Spark is to bind them as it did before.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
}


class Engine(Protocol):
    """Something that runs statements; each group has a schema ``s`` of its own."""

    folder: Path
    catalog: str
    """What the catalog of ``s`` is called there."""

    def run(self, text: str, statement: Statement | None = None) -> Answer: ...


@dataclass(frozen=True)
class Difference:
    """A statement that gave something else than it was to."""

    statement: Statement
    expected: Sequence[str]
    got: Sequence[str]

    def __str__(self) -> str:
        head = f"{self.statement.file}:{self.statement.line}\n{self.statement.text}"
        return "\n".join(
            [
                head,
                "expected",
                *(f"  {line}" for line in self.expected),
                "got",
                *(f"  {line}" for line in self.got),
            ]
        )


@dataclass
class OnDelta:
    """Delta Spark, where ``s`` is a schema of Spark's own catalog."""

    peer: DeltaSpark
    folder: Path
    catalog: str = "spark_catalog"

    def run(self, text: str, statement: Statement | None = None) -> Answer:
        if statement is None:
            return self.peer.sql(text)
        return self.peer.sql(text, statement.args, statement.frames)

    @contextmanager
    def group(self) -> Iterator[None]:
        """A schema ``s`` with nothing in it."""
        self._clear()
        for name, value in _DELTA_SETTINGS.items():
            self.run(f"SET {name} = {value}")
        self.run("CREATE SCHEMA s")
        try:
            yield
        finally:
            self._clear()
            for name in _DELTA_SETTINGS:
                self.run(f"RESET {name}")

    def _clear(self) -> None:
        for schema in _SCHEMAS:
            self.run(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)


@dataclass
class OnHeadgate:
    """Headgate, where ``s`` is a schema of a lake that the session knows."""

    spark: SparkSession
    folder: Path
    catalog: str = "main"
    through_lake: bool = False
    """Whether statements are given to ``lake.sql``, and the session knows no lake."""
    lake: Lake | None = None

    def run(self, text: str, statement: Statement | None = None) -> Answer:
        queries = statement.frames if statement else {}
        frames = {name: self.spark.sql(query) for name, query in queries.items()}
        try:
            return self._answer(self._sql(text, statement.args if statement else None, frames))
        except PySparkException as exc:
            raise Refused(str(exc), exc.getCondition() or "") from exc
        except HeadgateError as exc:
            raise Refused(str(exc), exc.code) from exc
        except Py4JJavaError as exc:
            raise Refused(str(exc.java_exception), condition_of(exc.java_exception)) from exc
        except Exception as exc:  # it is told like any other answer that was not expected
            raise Refused(f"{type(exc).__name__}: {exc}", "") from exc

    def _sql(self, text: str, args: Any, frames: Mapping[str, DataFrame]) -> DataFrame:
        if self.through_lake and self.lake is not None:
            return self.lake.sql(text, args, self.spark, **frames)
        return self.spark.sql(text, args, **frames)

    def _answer(self, frame: DataFrame) -> Answer:
        columns = tuple((each.name, each.dataType.simpleString()) for each in frame.schema.fields)
        return Answer(columns, plain_rows(frame))

    @contextmanager
    def group(self) -> Iterator[None]:
        """A lake with a schema ``s``, gone at the end, in a session without views of others."""
        for table in self.spark.catalog.listTables():
            if table.isTemporary:
                self.spark.catalog.dropTempView(table.name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        with headgate.connect(self.folder / "lake") as lake:
            lake.create_schema("s")
            self.lake = lake
            if not self.through_lake:
                lake.register(self.spark)
            try:
                yield
            finally:
                lake.unregister(self.spark)


def play(
    group: Group, engine: "OnDelta | OnHeadgate", statements: Sequence[Statement]
) -> Iterator[tuple[Statement, tuple[str, ...]]]:
    """Run statements of a group; what each of them gives, as it would stand in the file."""
    with engine.group():
        try:
            for statement in statements:
                yield statement, _outcome(engine, statement)
        finally:
            _tidy(engine, statements)


def differences(
    group: Group, engine: "OnDelta | OnHeadgate", statements: Sequence[Statement]
) -> list[Difference]:
    """The statements of a group that do not give what they are to."""
    expected: Callable[[Statement], tuple[str, ...]] = (
        (lambda each: each.of_delta) if isinstance(engine, OnDelta) else (lambda each: each.expected)
    )
    return [
        Difference(statement, expected(statement), got)
        for statement, got in play(group, engine, statements)
        if got != expected(statement)
    ]


def _outcome(engine: Engine, statement: Statement) -> tuple[str, ...]:
    try:
        answer = engine.run(_filled_in(engine, statement.text), statement)
    except Refused as exc:
        lines: tuple[str, ...] = (f"error {exc.condition or 'without a class: ' + _first_line(exc)}",)
    else:
        lines = render(answer, statement)
    return tuple(_without_chance(line, engine) for line in lines)


def _without_chance(line: str, engine: Engine) -> str:
    """What a run happens to have: its folder, its catalog, the numbers of expressions."""
    line = line.replace(str(engine.folder), "${folder}").replace(f"{engine.catalog}.s", "${catalog}.s")
    return re.sub(r"(?<=\w)#\d+", "#", line)


def _first_line(exc: Exception) -> str:
    return (str(exc).strip() or "?").splitlines()[0][:200]


def _filled_in(engine: Engine, text: str) -> str:
    def moment(found: re.Match[str]) -> str:
        rows = engine.run(f"DESCRIBE HISTORY {found[1]}").dicts
        when = next(row["timestamp"] for row in rows if row["version"] == int(found[2]))
        return f"{when:%Y-%m-%d %H:%M:%S.%f}"

    text = _TIME.sub(moment, text).replace("${folder}", str(engine.folder))
    return text.replace("${catalog}", engine.catalog)


def _tidy(engine: Engine, statements: Sequence[Statement]) -> None:
    """Forget views and settings that statements made."""
    for statement in statements:
        if found := _VIEW.match(statement.text):
            with suppress(Refused):
                engine.run(f"DROP VIEW IF EXISTS {found[1]}")
        if found := _SETTING.match(statement.text):
            engine.run(f"RESET {found[1]}")


def render(answer: Answer, statement: Statement) -> tuple[str, ...]:
    """Columns and rows as they stand in a file."""
    if not answer.columns:
        return ("ok",)
    header = ", ".join(f"{name} {kind}" for name, kind in answer.columns)
    shown = [statement.is_compared(name) for name, _ in answer.columns]
    rows = [
        " | ".join(_text(value) if seen else "*" for value, seen in zip(row, shown, strict=True))
        for row in answer.rows
    ]
    return (header, *(rows if statement.keeps_order else sorted(rows)))


def _text(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("\\", "\\\\").replace("\n", "\\n").replace("'", "\\'") + "'"
        case bytes():
            return f"X'{value.hex()}'"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}" + (f".{value:%f}" if value.microsecond else "")
        case date() | Decimal():
            return str(value)
        case Variant():
            return value.json
        case tuple():
            return f"({', '.join(_text(part) for part in value)})"
        case frozenset():
            return "{" + ", ".join(sorted(f"{_text(key)}: {_text(part)}" for key, part in value)) + "}"
        case _:
            return repr(value)
