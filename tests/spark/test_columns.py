"""Columns added, renamed, dropped and moved under rows that are there, and what rows come out after."""

from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import InvalidRequest
from tests.support import duck, rows

pytestmark = [pytest.mark.spark, pytest.mark.interop]
MAPPED = {"delta.columnMapping.mode": "name"}
FIRST = """
    SELECT id, CAST(id AS STRING) AS name, named_struct('street', 'A', 'city', CAST(id AS STRING)) AS address,
           id % 2 AS p
    FROM range(4)
"""


@pytest.fixture(params=["managed", "ordinary"])
def table(request: pytest.FixtureRequest, spark: SparkSession, lake: Lake, tmp_path: Path) -> Table:
    df = spark.sql(FIRST)
    if request.param == "managed":
        made = lake.create_table("s.t", df)
    else:
        made = headgate.at_path(tmp_path / "t", columns=df)
    made.append(df)
    return made


def read(table: Table, *columns: str, **asked: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in table.read(**asked).select(*columns).collect()), key=str)


def by_others(table: Table) -> list[rows.Rows]:
    """The rows by delta-rs and by DuckDB, of an ordinary table."""
    place = deltalake.DeltaTable(table.location)
    found = deltalake.QueryBuilder().register("t", place).execute("SELECT * FROM t")
    with duck.connect() as connection:
        scanned = connection.sql(f"SELECT * FROM delta_scan('{table.location}')").to_arrow_table()
    return [rows.of_arrow(pa.table(found.read_all())), rows.of_arrow(scanned)]


def test_a_new_column_is_null_in_the_rows_that_are_there(spark: SparkSession, table: Table) -> None:
    table.add_columns("note STRING COMMENT 'why', n INT", after="id")
    table.add_columns("zip STRING", into="address", first=True)
    table.append(
        spark.sql(
            "SELECT 9L AS id, 'x' AS note, 7 AS n, 'y' AS name, 1L AS p, "
            "named_struct('zip', 'z', 'street', 's', 'city', 'c') AS address"
        )
    )

    assert table.read().columns == ["id", "note", "n", "name", "address", "p"]
    assert read(table, "id", "note", "n", "address.zip", "address.city")[-2:] == [
        (3, None, None, None, "3"),
        (9, "x", 7, "z", "c"),
    ]
    assert table.read().schema["note"].metadata["comment"] == "why"
    assert read(table, "id", where="note IS NULL AND n IS NULL") == [(0,), (1,), (2,), (3,)]


def test_a_column_has_a_new_name_over_the_same_files(spark: SparkSession, table: Table) -> None:
    """S215"""
    before = table.version()
    table.set_properties(MAPPED)
    table.rename_column("name", "title")
    table.rename_column("address.city", "town")
    table.append(
        spark.sql(
            "SELECT 9L AS id, 't' AS title, named_struct('street', 's', 'town', 'c') AS address, 1L AS p"
        )
    )

    assert read(table, "id", "title", "address.town")[-2:] == [(3, "3", "3"), (9, "t", "c")]
    assert read(table, "id", where="title = '2' OR address.town = 'c'") == [(2,), (9,)]
    assert table.read(version=before).columns == ["id", "name", "address", "p"]
    with pytest.raises(InvalidRequest, match="no column name"):
        table.drop_columns("name")


def test_a_dropped_column_does_not_come_back_under_its_name(spark: SparkSession, table: Table) -> None:
    table.set_properties(MAPPED)
    table.drop_columns("name", "address.city")
    table.add_columns("name BIGINT")
    table.append(spark.sql("SELECT 9L AS id, 5L AS name, named_struct('street', 's') AS address, 1L AS p"))

    assert read(table, "id", "name", "address")[-2:] == [(3, None, ("A",)), (9, 5, ("s",))]


def test_others_read_what_was_renamed_dropped_and_added(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns=spark.sql(FIRST))
    table.append(spark.sql(FIRST))
    table.set_properties(MAPPED)
    table.rename_column("name", "some title")
    table.drop_columns("p", "address.street")
    table.add_columns("price DECIMAL(10,2)", first=True)
    table.append(
        spark.sql(
            "SELECT CAST(1.5 AS DECIMAL(10,2)) AS price, 9L AS id, 't' AS `some title`, "
            "named_struct('city', 'c') AS address"
        )
    )

    ours = rows.of_arrow(table.read().toArrow())

    assert [found == ours for found in by_others(table)] == [True, True]


def test_columns_move_and_are_described(table: Table) -> None:
    table.move_column("p", first=True)
    table.move_column("address.city", first=True)
    table.set_column_comment("name", "as they are called")

    assert table.read().columns == ["p", "id", "name", "address"]
    assert read(table, "p", "id", "address")[-1] == (1, 3, ("3", "A"))
    assert table.read().schema["name"].metadata["comment"] == "as they are called"
    with pytest.raises(InvalidRequest, match="say where"):
        table.move_column("p")
    with pytest.raises(InvalidRequest, match="not both"):
        table.move_column("p", first=True, after="id")


def test_a_column_may_be_null_from_now_on(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.strict", "id BIGINT NOT NULL, x INT")
    table.drop_not_null("id")
    table.append(spark.sql("SELECT CAST(NULL AS BIGINT) AS id, 1 AS x"))

    assert read(table, "id", "x") == [(None, 1)]


def test_a_wider_column_has_old_and_new_values(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.wide", "id INT, x FLOAT", properties={"delta.enableTypeWidening": "true"})
    table.append(spark.sql("SELECT 1 AS id, CAST(0.5 AS FLOAT) AS x"))

    table.widen_column("id", "BIGINT")
    table.widen_column("x", "DOUBLE")
    table.append(spark.sql("SELECT 5000000000L AS id, 0.1D AS x"))

    assert read(table, "id", "x") == [(1, 0.5), (5_000_000_000, 0.1)]
    assert read(table, "id", where="id > 4000000000") == [(5_000_000_000,)]


@pytest.mark.parametrize("mode", ["none", "name"])
def test_what_is_in_arrays_and_maps_may_become_wider(spark: SparkSession, lake: Lake, mode: str) -> None:
    properties = {
        "delta.enableTypeWidening": "true",
        "delta.columnMapping.mode": mode,
        "delta.feature.timestampNtz": "supported",
    }
    columns = "id INT, a ARRAY<INT>, m MAP<INT, FLOAT>, s ARRAY<STRUCT<n: SMALLINT, d: ARRAY<DATE>>>"
    table = lake.create_table("s.nested", columns, properties=properties)
    row = "SELECT {} AS id, array({}) a, map({}, {}) m, array(named_struct('n', {}, 'd', array({}))) s"
    table.append(spark.sql(row.format(1, 1, 1, "0.5F", "7S", "DATE'2026-01-02'")))

    table.widen_column("a.element", "BIGINT")
    table.widen_column("m.key", "BIGINT")
    table.widen_column("m.value", "DOUBLE")
    table.widen_column("s.element.n", "INT")
    table.widen_column("s.element.d.element", "TIMESTAMP_NTZ")
    moment = "TIMESTAMP_NTZ'2026-01-02 03:04:05'"
    table.append(spark.sql(row.format(2, "5000000000L", "5000000000L", "0.5D", 7, moment)))

    found = table.read().orderBy("id").collect()
    assert [(one.a, one.m) for one in found] == [([1], {1: 0.5}), ([5_000_000_000], {5_000_000_000: 0.5})]
    assert [one.s[0].d[0].hour for one in found] == [0, 3]
    assert [one.s[0].n for one in found] == [7, 7]


def test_without_mapping_a_column_keeps_its_name(table: Table) -> None:
    version = table.version()

    with pytest.raises(InvalidRequest, match="columnMapping"):
        table.rename_column("name", "title")
    with pytest.raises(InvalidRequest, match="columnMapping"):
        table.drop_columns("name")

    assert table.version() == version


def test_history_tells_what_happened_to_columns(table: Table) -> None:
    table.set_properties(MAPPED)
    table.add_columns("x INT", after="id")
    table.rename_column("x", "y")
    table.drop_columns("y")

    told = [(row.operation, row.operationParameters) for row in table.history(limit=3).collect()]

    assert [operation for operation, _ in told] == ["DROP COLUMNS", "RENAME COLUMN", "ADD COLUMNS"]
    assert told[0][1] == {"columns": '["y"]'}
    assert told[1][1] == {"oldColumnPath": "x", "newColumnPath": "y"}
    assert '"position":"AFTER id"' in told[2][1]["columns"]


def test_a_vacuumed_and_a_restored_table(spark: SparkSession, table: Table) -> None:
    before = table.version()
    table.overwrite(spark.sql(FIRST).where("id > 1"))

    done = table.restore(version=before)

    assert read(table, "id") == [(0,), (1,), (2,), (3,)]
    assert done.version == before + 2
    assert table.history(limit=1).collect()[0]["operation"] == "RESTORE"
