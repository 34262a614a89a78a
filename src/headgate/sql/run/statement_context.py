"""What does a statement have around it: names, parameters and frames, and how are its parts run?

Queries keep the user's text. Where it names a table of a lake a frame is put, which ``spark.sql`` takes by a
name in braces, so that Spark's parser and analyser do all else.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import TimestampNTZType

from headgate.errors import InvalidRequest, VersionNotFound
from headgate.lake.table import Table
from headgate.protocol.schema import column_path
from headgate.sql.parse.tokens import tokenize_statement
from headgate.sql.run import spark_methods, sql_literals
from headgate.sql.run.name_scope import Found, NameScope, PathTable
from headgate.sql.statements.sql_text import (
    AsOf,
    ChangesRange,
    SqlParameter,
    SqlText,
    TableMention,
    TableRef,
)
from headgate.sql.statements.statement import Statement

_FRAME = "_headgate_"
_VERSIONED = re.compile(r"(.+)@[vV](\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SqlArguments = Mapping[str, Any] | Sequence[Any] | None


@dataclass(frozen=True, slots=True)
class StatementContext:
    """One statement, and what it was given."""

    scope: NameScope
    statement: Statement
    args: SqlArguments = None
    frames: Mapping[str, Any] = field(default_factory=dict)
    """Those of the user, by the names that the text has in braces."""
    reads: dict[TableMention, DataFrame] = field(default_factory=dict)
    """The frames of tables that were opened for it: a table that is named twice is read once."""

    @property
    def spark(self) -> SparkSession:
        """The session in which it runs."""
        return self.scope.spark

    def find_table(self, ref: TableRef) -> Found | None:
        """Whose a name in the statement is; None if it is Spark's."""
        if ref.path is not None:
            return PathTable(ref.path)
        return self.scope.find(self.name_parts(ref))

    def require(self, ref: TableRef) -> Found:
        """The same of a name that must be a lake's or a path."""
        return PathTable(ref.path) if ref.path is not None else self.scope.require(self.name_parts(ref))

    def table(self, ref: TableRef) -> Table:
        """The table of a name, in the transaction of the session if there is one."""
        return self.scope.table(self.require(ref))

    def name_parts(self, ref: TableRef) -> tuple[str, ...]:
        """The parts of a name, which may be a parameter: ``IDENTIFIER(:table)``."""
        if ref.parameter is None:
            return ref.parts
        return column_path.parse_path(str(self.argument(ref.parameter)))

    def argument(self, parameter: SqlParameter) -> Any:
        """What the user passed for a parameter."""
        if parameter.name is not None and isinstance(self.args, Mapping) and parameter.name in self.args:
            return self.args[parameter.name]
        at = parameter.position
        if at is not None and isinstance(self.args, Sequence) and at < len(self.args):
            return self.args[at]
        said = f":{parameter.name}" if parameter.name is not None else f"the ? number {(at or 0) + 1}"
        raise InvalidRequest(
            f"there is no value for {said}: pass args={{'name': value}}, or a list for each ?",
            code="UNBOUND_SQL_PARAMETER",
        )

    def run_on_spark(self) -> DataFrame:
        """The whole statement as Spark runs it, with frames for tables of lakes; else untouched."""
        whole = self.statement.whole
        if not any(map(self.is_ours, whole.mentions)):
            return spark_methods.spark_sql(self.spark, whole.text, self.args, self.frames)
        return self.query(whole)

    def query(self, *parts: SqlText | str) -> DataFrame:
        """The rows of a query, of which some parts may be words of our own."""
        texts = [part if isinstance(part, SqlText) else SqlText(part) for part in parts]
        names: dict[TableMention, str] = {}
        for mention in (mention for text in texts for mention in text.mentions if self.is_ours(mention)):
            if mention not in names:
                names[mention] = self._frame_name(len(names))
        shared = self._shared_names(names)
        if not shared:
            text = " ".join(part.text for part in texts)
            return spark_methods.spark_sql(self.spark, text, self._arguments(texts), self.frames)
        text = " ".join(self._template(part, shared) for part in texts)
        ours = {name: self.read(mention) for mention, name in shared.items()}
        return spark_methods.spark_sql(self.spark, text, self._arguments(texts), {**self.frames, **ours})

    def is_ours(self, mention: TableMention) -> bool:
        """Whether a text names a table of a lake there."""
        return mention in self.reads or self.find_table(mention.ref) is not None

    def read(self, mention: TableMention) -> DataFrame:
        """The rows of the table that is named there."""
        known = next((df for read, df in self.reads.items() if _is_same_read(read, mention)), None)
        if known is None:
            known = self.reads[mention] = self._read(mention)
        return known

    def expression(self, sql: SqlText) -> str:
        """An expression as text of its own, with values in place of parameters."""
        if sql.mentions or _has_subquery(sql.text):
            raise InvalidRequest(
                "a subquery cannot be here: put what it selects into the source of a MERGE, or into a column",
                code="DELTA_UNSUPPORTED_SUBQUERY",
            )
        edits = [
            (each.start, each.end, sql_literals.sql_literal(self.argument(each.parameter)))
            for each in sql.parameters
        ]
        edits += [(each.start, each.end, _quoted(each.ref.parts[-1])) for each in sql.qualifiers]
        pieces, position = [], 0
        for start, end, new in sorted(edits):
            pieces += [sql.text[position:start], new]
            position = end
        return "".join([*pieces, sql.text[position:]])

    def assigned_value(self, sql: SqlText) -> str:
        """What a column is set to: an expression, or a subquery that is about no row of the table."""
        if not sql.mentions and not _has_subquery(sql.text):
            return self.expression(sql)
        try:
            frame = self.query("SELECT", sql)
            value = frame.collect()[0][0]
        except AnalysisException:  # it names columns of the row
            return self.expression(sql)
        if value is not None and frame.schema[0].dataType == TimestampNTZType():
            return sql_literals.wall_clock_literal(value)
        return sql_literals.sql_literal(value)

    def optional_expression(self, sql: SqlText | None) -> str | None:
        """The same of what need not be there."""
        return None if sql is None else self.expression(sql)

    def value(self, sql: SqlText, as_type: str | None = None) -> Any:
        """What an expression is that is about no table, as Spark computes it."""
        shown = f"CAST(({sql.text}) AS {as_type})" if as_type else f"({sql.text})"
        args = self._arguments([sql])
        return spark_methods.spark_sql(self.spark, f"SELECT {shown}", args, {}).collect()[0][0]

    def moment(self, sql: SqlText) -> datetime:
        """The moment that an expression means."""
        shown = f"unix_millis(CAST(({sql.text}) AS TIMESTAMP))"
        try:
            millis = self.value(SqlText(shown, parameters=sql.parameters))
        except PySparkException as exc:
            raise _no_moment(sql.text) from exc
        if millis is None:
            raise _no_moment(sql.text)
        return _EPOCH + timedelta(milliseconds=millis)

    def version(self, as_of: AsOf) -> int | None:
        """The version that is meant, if one is."""
        said = as_of.version
        if said is None:
            return None
        return self._version_number(self.argument(said) if isinstance(said, SqlParameter) else said)

    def _version_number(self, value: object) -> int:
        if not str(value).strip().isdecimal():
            raise InvalidRequest(
                f"{value!r} is not a version: give a whole number from 0 on",
                code="DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE",
            )
        return int(str(value))

    def timestamp(self, as_of: AsOf) -> datetime | None:
        """The moment that is meant, if one is."""
        return None if as_of.timestamp is None else self.moment(as_of.timestamp)

    def _read(self, mention: TableMention) -> DataFrame:
        table, as_of = self._table_as_of(mention)
        if mention.is_stream:
            raise InvalidRequest(
                f"{table.name} cannot be a stream in SQL: use table.read_stream(…)",
                code="DELTA_OPERATION_NOT_ALLOWED",
            )
        if mention.changes is not None:
            return self._changes(table, *self._feed_bounds(mention.changes))
        if mention.options:
            raise InvalidRequest(
                f"a table of a lake takes no options in SQL: {table.name} has WITH (…), write VERSION AS OF "
                "or TIMESTAMP AS OF"
            )
        version, moment = self.version(as_of), self.timestamp(as_of)
        return table.read(version=version, timestamp=moment, spark=self.spark)

    def _table_as_of(self, mention: TableMention) -> tuple[Table, AsOf]:
        """The table that is named there, and which state of it: a path may say so, ``/x@v3``."""
        found = _VERSIONED.fullmatch(mention.ref.path or "")
        if found is not None and mention.as_of is None:
            return self.table(TableRef(path=found[1])), AsOf(version=found[2])
        return self.table(mention.ref), mention.as_of or AsOf()

    def _changes(self, table: Table, start: int | datetime, end: int | datetime | None) -> DataFrame:
        try:
            return table.changes(start, end, spark=self.spark)
        except VersionNotFound as error:
            if isinstance(start, int) and start > table.version():
                error.code = "DELTA_CDC_START_VERSION_AFTER_LATEST"
            raise

    def _feed_bounds(self, changes: ChangesRange) -> tuple[int | datetime, int | datetime | None]:
        start = self._feed_bound(
            changes.start, is_timestamp=changes.is_timestamp, step=int(changes.excludes_start)
        )
        if changes.end is None:
            return start, None
        return start, self._feed_bound(
            changes.end, is_timestamp=changes.is_timestamp, step=-int(changes.excludes_end)
        )

    def _feed_bound(self, sql: SqlText, *, is_timestamp: bool | None, step: int) -> int | datetime:
        """A version or a moment; with EXCLUSIVE the version, or the millisecond, beside it."""
        found = self.value(sql)
        if isinstance(found, bool) or not isinstance(found, int | datetime | str):
            raise InvalidRequest(
                f"{sql.text} is neither a version nor a moment: table_changes takes those",
                code="DELTA_INVALID_CDC_RANGE",
            )
        if is_timestamp is False:
            return self._version_number(found) + step
        if isinstance(found, int) and not is_timestamp:
            return found + step
        return self.moment(sql) + timedelta(milliseconds=step)

    def _frame_name(self, number: int) -> str:
        name = f"{_FRAME}{number}"
        while name in self.frames:
            name += "_"
        return name

    def _shared_names(self, names: Mapping[TableMention, str]) -> dict[TableMention, str]:
        """A name for each mention; those of the same read have the same."""
        shared: dict[TableMention, str] = {}
        for mention, name in names.items():
            same = next((known for known in shared if _is_same_read(known, mention)), None)
            shared[mention] = name if same is None else shared[same]
        return shared

    def _template(self, part: SqlText, names: Mapping[TableMention, str]) -> str:
        is_template = bool(self.frames)
        if any(mention in names for mention in part.mentions):
            return part.replaced(names.get, is_template=is_template)
        return part.text if is_template else part.text.replace("{", "{{").replace("}", "}}")

    def _arguments(self, parts: Sequence[SqlText]) -> SqlArguments:
        """What Spark is given for the parameters of these parts: of a list, the ones that are there."""
        if self.args is None or isinstance(self.args, Mapping):
            return self.args
        found = [each.parameter for part in parts for each in part.parameters]
        return [self.argument(each) for each in found]


def _is_same_read(one: TableMention, other: TableMention) -> bool:
    same = (one.ref, one.as_of, one.changes, one.options) == (
        other.ref,
        other.as_of,
        other.changes,
        other.options,
    )
    return same and one.is_stream == other.is_stream


def _no_moment(text: str) -> InvalidRequest:
    return InvalidRequest(
        f"{text} is no moment: write it like '2026-01-31 12:00:00'",
        code="INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT",
    )


def _has_subquery(text: str) -> bool:
    return "select" in text.lower() and any(
        token.word == "select" for token in tokenize_statement(text).tokens
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
