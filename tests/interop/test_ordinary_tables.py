"""They read ours, we read theirs: ordinary Delta tables with delta-rs and DuckDB."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from tests.support import duck, rows
from tests.support.rows import Rows

pytestmark = [pytest.mark.spark, pytest.mark.interop]

SOME = """
    SELECT id, CAST(id AS INT) AS n, 'text ü ' || id AS text, CAST(id AS DECIMAL(20,3)) / 8 AS price,
           DATE'1960-02-29' AS day, TIMESTAMP'1969-12-31 23:59:59.123456' AS moment, X'00FF' AS raw,
           IF(id % 2 = 0, NULL, id * 0.5D) AS half, id > 3 AS flag, array(id, NULL) AS list,
           named_struct('x', id, 'y', '') AS nested
    FROM range({low}, {high})
"""


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Ten rows of several types, in two files."""
    df = spark.sql(SOME.format(low=0, high=10))
    made = headgate.at_path(tmp_path_factory.mktemp("ordinary"), columns=df)
    made.append(df)
    return made


def by_delta_rs(path: Path, *, where: str = "true") -> Rows:
    table = deltalake.DeltaTable(path)
    reader = deltalake.QueryBuilder().register("t", table).execute(f"SELECT * FROM t WHERE {where}")
    return rows.of_arrow(pa.table(reader.read_all()))


def by_duckdb(path: Path, *, where: str = "true") -> Rows:
    with duck.connect() as connection:
        found = connection.sql(f"SELECT * FROM delta_scan('{path}') WHERE {where}")
        return rows.of_arrow(found.to_arrow_table())


def test_others_read_what_headgate_wrote(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a table"
    table = headgate.at_path(path, columns=spark.sql(SOME.format(low=0, high=1)))
    table.append(spark.sql(SOME.format(low=0, high=10)))
    table.overwrite(spark.sql(SOME.format(low=2, high=6)))
    table.append(spark.sql(SOME.format(low=6, high=9)))

    ours = rows.of_frame(table.read())

    assert [row["id"] for row in ours] == list(range(2, 9))
    assert by_delta_rs(path) == ours
    assert by_duckdb(path) == ours
    assert deltalake.DeltaTable(path).version() == 3


@pytest.mark.parametrize(
    "where",
    [
        "id = 7",
        "text = 'text ü 3'",
        "price > 1.0",
        "moment <= TIMESTAMPTZ '1969-12-31 23:59:59.123456Z'",
        "moment >= TIMESTAMPTZ '1969-12-31 23:59:59.123456Z'",
        "day = DATE '1960-02-29' AND half IS NULL",
    ],
)
def test_others_skip_no_row_by_headgates_statistics(table: Table, where: str) -> None:
    for_spark = where.replace("TIMESTAMPTZ", "TIMESTAMP")
    expected = rows.of_frame(table.read().where(for_spark))

    assert by_duckdb(Path(table.location), where=where) == expected != []
    assert by_delta_rs(Path(table.location), where=for_spark) == expected


def test_headgate_reads_and_continues_what_delta_rs_wrote(spark: SparkSession, tmp_path: Path) -> None:
    theirs = pa.table(
        {
            "id": [1, 2],
            "at": pa.array([datetime(1960, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
            "local": pa.array([datetime(2024, 1, 1, 0, 0, 0, 1), None], pa.timestamp("us")),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        }
    )
    deltalake.write_deltalake(tmp_path, theirs)
    deltalake.write_deltalake(tmp_path, theirs, mode="overwrite")
    table = headgate.at_path(tmp_path)

    assert rows.of_frame(table.read()) == theirs.to_pylist()
    assert table.append(spark.sql("SELECT 3L AS id")) == 2

    assert rows.of_frame(table.read()) == by_delta_rs(tmp_path)
    assert len(by_delta_rs(tmp_path)) == 3


def test_headgate_reads_a_partitioned_table(spark: SparkSession, tmp_path: Path) -> None:
    theirs = pa.table(
        {
            "text": ["a b/c=%é", "10%25", None, "plain"],
            "id": [1, 2, 3, 4],
            "n": pa.array([1, -2, None, 1], pa.int32()),
            "day": [date(2020, 1, 1), None, date(1960, 2, 29), date(2020, 1, 1)],
            "at": pa.array([datetime(1969, 12, 31, 23, 59, 59, 5, UTC), None] * 2, pa.timestamp("us", "UTC")),
            "price": pa.array([Decimal("1.50"), Decimal(0), None, Decimal(7)], pa.decimal128(10, 2)),
            "flag": [True, False, None, True],
        }
    )
    partitions = ["text", "n", "day", "at", "price", "flag"]
    deltalake.write_deltalake(tmp_path / "t t", theirs, partition_by=partitions)
    table = headgate.at_path(tmp_path / "t t")

    df = table.read()

    assert df.columns == theirs.column_names
    assert rows.of_frame(df) == theirs.to_pylist()
    assert [row["id"] for row in rows.of_frame(df.where("n = 1 AND day = DATE'2020-01-01'"))] == [1, 4]
    assert df.groupBy("n").count().where("n IS NULL").collect()[0]["count"] == 1


def test_files_are_pruned_by_partition_and_no_python_runs(spark: SparkSession, tmp_path: Path) -> None:
    theirs = pa.table({"id": list(range(8)), "n": [number % 4 for number in range(8)]})
    deltalake.write_deltalake(tmp_path, theirs, partition_by=["n"])

    df = headgate.at_path(tmp_path).read().where("n = 2 AND id > 0")

    assert [row.id for row in df.select("id").orderBy("id").collect()] == [2, 6]
    plan = df._jdf.queryExecution().executedPlan()
    assert df.count() == 2
    assert "PushedFilters: [IsNotNull(id), GreaterThan(id,0)]" in plan.toString()
    assert "Python" not in plan.toString()
    plan.executeCollect()
    (scan,) = [leaf for leaf in _leaves(plan) if "FileScan" in leaf.nodeName() or "Scan" in leaf.nodeName()]
    assert scan.metrics().apply("numFiles").value() == 1


def test_partitions_that_others_made_get_more_rows(spark: SparkSession, tmp_path: Path) -> None:
    theirs = pa.table({"id": [1], "n": [1]})
    deltalake.write_deltalake(tmp_path, theirs, partition_by=["n"])

    headgate.at_path(tmp_path).append(spark.sql("SELECT id, id % 2 AS n FROM range(2, 4)"))

    assert by_delta_rs(tmp_path) == by_duckdb(tmp_path)
    assert deltalake.DeltaTable(tmp_path).version() == 1
    assert len(by_delta_rs(tmp_path, where="n = 1")) == 2


def _leaves(plan: object) -> list[object]:
    found = plan.collectLeaves()  # type: ignore[attr-defined]  # a Java object
    return [found.apply(number) for number in range(found.size())]
