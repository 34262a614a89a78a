"""Rows laid out along curves: the same rows, and few files for a question about the columns that count."""

from bisect import bisect_right
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headgate import Lake, Table
from headgate.errors import InvalidRequest
from headgate.protocol.features import space_filling_curves
from headgate.spark.optimize import curve_sort, shuffle_keys
from headgate.spark.session import internal_names

pytestmark = pytest.mark.spark
POINTS = """
    SELECT id, (id * 7919) % 256 AS x, (id * 104729) % 251 AS y, CAST(id % 13 AS STRING) AS s FROM range(6000)
"""
SMALL = {"delta.targetFileSize": "3kb"}


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
    laid_out, version = live(table), table.version()
    assert table.optimize().version == version
    assert live(table) == laid_out


def test_columns_are_found_under_their_present_names(spark: SparkSession, lake: Lake) -> None:
    """S215"""
    table = made(spark, lake, cluster_by=["x"])
    table.set_properties({"delta.columnMapping.mode": "name"})
    payload = table.domain("delta.clustering")
    table.rename_column("x", "odd name")
    assert table.domain("delta.clustering") == payload

    table.optimize()

    assert opened(table, "`odd name` = 10") <= len(live(table)) / 2
    assert table.history(limit=1).collect()[0]["operationParameters"]["clusterBy"] == '["`odd name`"]'
    assert table.detail().collect()[0].clusteringColumns == ["`odd name`"]
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
        "nowhere": "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
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
    curve, bits = space_filling_curves.hilbert(dimensions), 3
    own = internal_names.free_names([])
    names = [f"{own.bucket}{number}" for number in range(dimensions)]
    grid = spark.range(8**dimensions).select(
        *(
            F.shiftright("id", 3 * at).bitwiseAND(F.lit(7)).cast("int").alias(name)
            for at, name in enumerate(names)
        )
    )

    grid = grid.select("*", *(F.col(name).alias(f"k{name}") for name in names))
    kept = [F.col(f"k{name}") for name in names]
    begins = [9, 100, 101]
    keys = shuffle_keys.keys_for_partitions(len(begins) + 1)

    for row in curve_sort._with_curve_index(grid, kept, curve, bits, own).collect():
        cell = tuple(row[f"k{name}"] for name in names)
        assert row[own.number] == curve.number(cell, bits)
    for find in (curve_sort._key_by_lookup, curve_sort._key_by_search):
        for row in find(grid, kept, curve, bits, begins, own).collect():
            cell = tuple(row[f"k{name}"] for name in names)
            assert row[own.key] == keys[bisect_right(begins, curve.number(cell, bits))]


@pytest.mark.parametrize("partitions", [1, 2, 7, 128, 300])
def test_every_partition_has_a_key_that_spark_sends_there(spark: SparkSession, partitions: int) -> None:
    keys = shuffle_keys.keys_for_partitions(partitions)

    rows = spark.createDataFrame([(key,) for key in keys], "key int").repartition(partitions, "key")

    found = {row.key: row.at for row in rows.select("key", F.spark_partition_id().alias("at")).collect()}
    assert found == {key: at for at, key in enumerate(keys)}


def test_files_get_about_as_many_rows_each_and_the_rows_are_sampled_alike_each_time(
    spark: SparkSession,
) -> None:
    rows = spark.range(60_000).select("id", (F.col("id") * 7919 % 60_000).alias("other"))

    def counts() -> list[int]:
        found = curve_sort.sort_by_curve(
            rows, [F.col("id"), F.col("other")], space_filling_curves.hilbert(2), files=16, total=60_000
        )
        parts = found.groupBy(F.spark_partition_id()).count().collect()
        return sorted(row["count"] for row in parts)

    assert len(counts()) == 16
    assert sum(counts()) == 60_000
    assert counts()[-1] < 1.5 * 60_000 / 16
    assert counts() == counts()


def test_spark_compiles_nothing_anew_for_other_values(spark: SparkSession) -> None:
    metrics: Any = spark.sparkContext._jvm.org.apache.spark.metrics.source  # type: ignore[union-attr]
    count = metrics.CodegenMetrics.METRIC_COMPILATION_TIME().getCount

    def compiled(first: int) -> int:
        before = count()
        rows = spark.createDataFrame([(first + 3 * number,) for number in range(2000)], "v long")
        found = curve_sort.sort_by_curve(
            rows, [F.col("v")], space_filling_curves.hilbert(1), files=4, total=2000
        )
        found.write.format("noop").mode("overwrite").save()
        return int(count() - before)

    compiled(0)
    assert compiled(1_000_000) == 0


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
    bounds = curve_sort._bounds(data, [F.col("v")], buckets=8)[0]

    own = internal_names.free_names(["v"])
    found = curve_sort._with_buckets(data, [F.col("v")], [F.col("v")], [bounds], own).orderBy("v").collect()

    buckets = [row[1] for row in found]
    assert max(buckets) == len(bounds)
    assert buckets == sorted(buckets)
    assert len(bounds) < 8
