"""Rows laid out along curves: the same rows, and few files for a question about the columns that count."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Lake, Table
from headgate.errors import InvalidRequest
from headgate.protocol import curves
from headgate.spark import curve_order

pytestmark = pytest.mark.spark
POINTS = """
    SELECT id, (id * 7919) % 256 AS x, (id * 104729) % 251 AS y, CAST(id % 13 AS STRING) AS s FROM range(6000)
"""
SMALL = {"delta.targetFileSize": "3kb"}


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("s")
        yield opened


def made(spark: SparkSession, lake: Lake, **asked: Any) -> Table:
    rows = spark.sql(POINTS)
    table = lake.create_table("s.t", rows, properties=SMALL, **asked)
    table.append(rows.repartition(4))
    lake.permit("s.t", "data reorganisation")
    return table


def live(table: Table) -> list[str]:
    return sorted(table.log.snapshot().files.columns["path"].to_pylist())


def opened(table: Table, where: str) -> int:
    """How many files a question opens."""
    return len(table.read(where=where).inputFiles())


def rows(table: Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in table.read().collect())


def test_a_clustered_table_answers_from_few_files(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, cluster_by=["x", "y"])
    before = rows(table)
    assert opened(table, "x = 10") == len(live(table)) == 4

    done = table.optimize()

    assert rows(table) == before
    files = len(live(table))
    assert files >= 16
    assert opened(table, "x = 10") <= files / 2
    assert opened(table, "y = 10") <= files / 2
    assert opened(table, "x = 10 AND y = 10") <= max(2, files / 10)
    assert done.metrics["numAddedFiles"] == files
    assert table.history(limit=1).collect()[0]["operationParameters"]["clusterBy"] == '["x","y"]'


def test_what_is_laid_out_stays(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, cluster_by=["x"])
    first = table.optimize()
    assert table.optimize().version == first.version

    table.append(spark.sql(POINTS).limit(100).coalesce(1))
    again = table.optimize()

    assert again.version == first.version + 2
    assert table.optimize(full=True).version == again.version + 1
    assert table.read().count() == 6_100


def test_other_columns_are_another_layout(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, cluster_by=["x"])
    table.optimize()
    assert opened(table, "y = 10") >= len(live(table)) * 0.8

    table.cluster_by("y", "s")
    assert table.cluster_by("y", "s") == table.version()
    table.optimize()

    assert opened(table, "y = 10") <= len(live(table)) / 2
    table.cluster_by()
    assert table.domain("delta.clustering") == '{"clusteringColumns":[],"domainName":"delta.clustering"}'
    assert table.optimize().version >= table.version() - 1


def test_columns_are_found_under_their_present_names(spark: SparkSession, lake: Lake) -> None:
    """S215"""
    table = made(spark, lake, cluster_by=["x"])
    table.set_properties({"delta.columnMapping.mode": "name"})
    payload = table.domain("delta.clustering")
    table.rename_column("x", "odd name")
    assert table.domain("delta.clustering") == payload

    table.optimize()

    assert opened(table, "`odd name` = 10") <= len(live(table)) / 2
    with pytest.raises(InvalidRequest, match="clustered by it"):
        table.drop_columns("odd name")


def test_a_z_order_is_asked_for_each_time(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake)
    before = rows(table)

    done = table.optimize(z_order_by=["x", "y"])

    files = len(live(table))
    assert rows(table) == before
    assert opened(table, "x = 10") <= files / 2
    assert opened(table, "x = 10 AND y = 10") <= max(2, files / 8)
    assert table.optimize(z_order_by=["x", "y"]).version == done.version + 1


def test_a_z_order_stays_within_partitions(spark: SparkSession, lake: Lake) -> None:
    data = spark.sql(POINTS).withColumn("p", F.col("id") % 2)
    table = lake.create_table("s.p", data, partition_by=["p"], properties=SMALL)
    table.append(data.repartition(4))
    lake.permit("s.p", "data reorganisation")

    table.optimize("p = 1", z_order_by=["x"])

    assert opened(table, "x = 10 AND p = 1") < opened(table, "p = 1") / 2
    assert opened(table, "x = 10 AND p = 0") == opened(table, "p = 0")
    assert table.read().count() == 6_000


def test_what_cannot_be_ordered_by_is_refused(spark: SparkSession, lake: Lake) -> None:
    data = spark.sql("SELECT 1L AS id, 2 AS p, array(1) AS list")
    table = lake.create_table("s.q", data, partition_by=["p"])
    table.append(data)
    lake.permit("s.q", "data reorganisation")

    for column, code in {
        "p": "DELTA_ZORDERING_ON_PARTITION_COLUMN",
        "nowhere": "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
    }.items():
        with pytest.raises(InvalidRequest) as refused:
            table.optimize(z_order_by=[column])
        assert refused.value.code == code
    with pytest.raises(InvalidRequest, match="not clustered"):
        table.optimize(full=True)
    with pytest.raises(InvalidRequest, match="either partitioned or clustered"):
        table.cluster_by("id")


def test_a_clustered_table_takes_no_condition(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, cluster_by=["x"])

    with pytest.raises(InvalidRequest, match="laid out as a whole"):
        table.optimize(z_order_by=["y"])


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_spark_numbers_cells_as_the_curve_does(spark: SparkSession, dimensions: int) -> None:
    curve, bits = curves.hilbert(dimensions), 3
    names = [f"{curve_order._BUCKET}{number}" for number in range(dimensions)]
    grid = spark.range(8**dimensions).select(
        *(
            F.shiftright("id", 3 * at).bitwiseAND(F.lit(7)).cast("int").alias(name)
            for at, name in enumerate(names)
        )
    )

    for find in (curve_order._numbered, curve_order._looked_up):
        found = find(grid, [F.col(name).alias(f"k{name}") for name in names], curve, bits)

        for row in found.collect():
            cell = tuple(row[f"k{name}"] for name in names)
            assert row[curve_order._NUMBER] == curve.number(cell, bits)


@pytest.mark.parametrize(
    "values",
    [
        "id",
        "CAST(id % 3 AS STRING)",
        "IF(id % 2 = 0, NULL, id)",
        "IF(id > 90, double('NaN'), id / 3D)",
        "id = 5",
    ],
)
def test_buckets_are_in_the_order_of_values(spark: SparkSession, values: str) -> None:
    data = spark.sql(f"SELECT {values} AS v FROM range(100)")
    bounds = curve_order._bounds(data, [F.col("v")], total=100, buckets=8)[0]

    found = curve_order._bucketed(data, [F.col("v")], [F.col("v")], [bounds]).orderBy("v").collect()

    buckets = [row[1] for row in found]
    assert max(buckets) == len(bounds)
    assert buckets == sorted(buckets)
    assert len(bounds) < 8
