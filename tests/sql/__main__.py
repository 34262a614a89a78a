"""Run the bank and say what differs, or write down what statements give: ``python -m tests.sql --help``.

What Delta Spark has is written down from Delta Spark only, the rest from Headgate.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from tests.conftest import _SMALL as SMALL_SESSION
from tests.conftest import JAVA
from tests.sql.bank import PLACE, Group, Statement, file_lines, load_file, refill
from tests.sql.engines import OnDelta, OnHeadgate, play
from tests.support import delta_spark


def main() -> int:
    """Run what was asked for; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.sql", description=__doc__)
    parser.add_argument("engine", choices=["delta", "headgate", "connect"])
    parser.add_argument("files", nargs="*", help="names of files, such as merge.sql; all of them by default")
    parser.add_argument("--fill", action="store_true", help="write what is given into the files")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only groups whose names have one of these in them"
    )
    asked = parser.parse_args()
    files = [PLACE / name for name in asked.files] or sorted(PLACE.glob("*.sql"))
    different = 0
    with tempfile.TemporaryDirectory() as folder, _engine(asked.engine, Path(folder)) as engine:
        for file in files:
            groups = [group for group in load_file(file) if any(each in group.name for each in asked.only)]
            different += _run(file, groups, engine, fill=asked.fill)
    print(f"{different} statements differ")
    return int(different > 0)


@contextmanager
def _engine(name: str, folder: Path) -> Iterator[OnDelta | OnHeadgate]:
    if name == "delta":
        with delta_spark.started(folder) as peer:
            yield OnDelta(peer, folder / "group")
    else:
        with _session(folder, connect=name == "connect") as spark:
            yield OnHeadgate(spark, folder / "group")


def _run(file: Path, groups: Sequence[Group], engine: OnDelta | OnHeadgate, *, fill: bool) -> int:
    given: dict[int, list[str]] = {}
    different = 0
    for group in groups:
        statements = group.of_delta if isinstance(engine, OnDelta) else group.statements
        for statement, got in play(group, engine, statements):
            expected = statement.of_delta if isinstance(engine, OnDelta) else statement.expected
            if got != expected:
                different += 1
                _tell(statement, expected, got)
                given[statement.line] = _lines(statement, got, by_delta=isinstance(engine, OnDelta))
    if fill:
        refill(file, given)
    return different


def _lines(statement: Statement, got: Sequence[str], *, by_delta: bool) -> list[str]:
    if "differs" in statement.marks:
        return file_lines(statement.expected, got) if by_delta else file_lines(got, statement.theirs)
    return list(got if by_delta or statement.is_ours else statement.expected)


def _tell(statement: Statement, expected: Sequence[str], got: Sequence[str]) -> None:
    print(f"\n{statement.file}:{statement.line}\n{statement.text}")
    print("\n".join([*(f"  - {line}" for line in expected), *(f"  + {line}" for line in got)]), flush=True)


@contextmanager
def _session(folder: Path, *, connect: bool) -> Iterator[SparkSession]:
    if JAVA.exists():
        os.environ.setdefault("JAVA_HOME", JAVA.read_text().strip())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.remote("local[2]") if connect else SparkSession.builder.master("local[2]")
    for name, value in {**SMALL_SESSION, "spark.sql.warehouse.dir": str(folder / "warehouse")}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


if __name__ == "__main__":
    sys.exit(main())
