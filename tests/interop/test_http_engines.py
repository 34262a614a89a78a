"""Four engines on one table of one served lake: our client on Spark, DuckDB, Sail and Delta's Java kernel."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.conftest import JAVA
from tests.support import delta_jars, foreign_process, served_tables
from tests.support.foreign_environments import DUCKDB, SAIL
from tests.support.foreign_process import ForeignEngine
from tests.support.served_tables import LAKE, NAME, ServedTable

pytestmark = [pytest.mark.interop, pytest.mark.spark]

CHILDREN = Path(__file__).parents[1] / "support"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedTable]:
    with served_tables.served_lake(tmp_path / "lake") as table:
        yield table


@pytest.fixture
def engines(served: ServedTable, tmp_path: Path) -> Iterator[dict[str, ForeignEngine]]:
    try:
        jars = delta_jars.fetch()
    except delta_jars.Unavailable as exc:
        pytest.skip(str(exc))
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    commands = {
        "duckdb": [DUCKDB.require(), CHILDREN / "duckdb_child.py", served.url, LAKE, NAME.schema, "token"],
        "sail": [SAIL.require(), CHILDREN / "sail_child.py", served.url, LAKE, "token"],
        "kernel": [sys.executable, CHILDREN / "java_kernel_child.py", jars, LAKE, "token"],
    }
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(foreign_process.started(command, tmp_path / f"{name}.log", java))
            for name, command in commands.items()
        }


def test_all_take_turns_on_one_table(
    spark: SparkSession, served: ServedTable, engines: dict[str, ForeignEngine], tmp_path: Path
) -> None:
    duckdb, sail, kernel = engines["duckdb"], engines["sail"], engines["kernel"]
    place = {"url": served.url, "schema": NAME.schema, "table": NAME.table}

    def seen() -> list[list[int]]:
        """The ids, as each of the four reads them."""
        return [
            sorted(row.id for row in lake.table(str(NAME)).read().collect()),
            [row[0] for row in duckdb.run(f"SELECT id FROM lake.{NAME} ORDER BY id")],
            sorted(row[0] for row in sail.run(f"SELECT id FROM {LAKE}.{NAME}")),
            kernel.ask({"do": "load", **place})[1],
        ]

    with headgate.connect(tmp_path / "lake") as lake:
        for turn in range(2):
            first = 4 * turn
            lake.table(str(NAME)).append(spark.sql(f"SELECT {first}L AS id, 'ours' AS writer"))
            duckdb.run(f"INSERT INTO lake.{NAME} VALUES ({first + 1}, 'duckdb')")
            sail.run(f"INSERT INTO {LAKE}.{NAME} VALUES ({first + 2}, 'sail')")
            kernel.ask({"do": "append", "ids": [first + 3], "publish": True, **place})
            assert seen() == [list(range(first + 4))] * 4

        lake.table(str(NAME)).delete("id = 0")
        sail.run(f"DELETE FROM {LAKE}.{NAME} WHERE id = 1")
        assert seen() == [list(range(2, 8))] * 4
        assert served.latest == 10
        writers = {row.writer for row in lake.table(str(NAME)).read(version=8).collect()}

    assert writers == {"ours", "duckdb", "sail", "kernel"}
