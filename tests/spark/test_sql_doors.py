"""A session that knows a lake takes its names in Spark's own methods, and leaves all others to Spark."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import InvalidRequest, TableExists, TableNotFound
from headgate.lake.lake import Lake

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path: Path, spark: SparkSession) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("sales")
        opened.register(spark)
        yield opened
        opened.unregister(spark)


def rows_of(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in df.collect())


def numbers(spark: SparkSession, *ids: int) -> DataFrame:
    return spark.createDataFrame([(each, f"n{each}") for each in ids], "id INT, name STRING")


def test_rows_are_read_by_name_and_as_of_a_version(lake: Lake, spark: SparkSession) -> None:
    lake.write(numbers(spark, 1), "sales.orders", properties={"delta.enableChangeDataFeed": "true"})
    lake.table("sales.orders").append(numbers(spark, 2))

    assert rows_of(spark.table("sales.orders")) == [(1, "n1"), (2, "n2")]
    assert rows_of(spark.table("main.sales.ORDERS")) == [(1, "n1"), (2, "n2")]
    assert rows_of(spark.read.option("versionAsOf", 0).table("sales.orders")) == [(1, "n1")]
    assert rows_of(spark.read.table("sales.orders")) == rows_of(spark.table("sales.orders"))
    feed = spark.read.option("readChangeFeed", True).option("startingVersion", 1).table("sales.orders")
    assert [(row.id, row._change_type) for row in feed.collect()] == [(2, "insert")]
    assert spark.catalog.tableExists("sales.orders")
    assert not spark.catalog.tableExists("sales.nothing")
    with pytest.raises(TableNotFound, match=r"no table or view sales\.nothing") as caught:
        spark.table("sales.nothing")
    assert caught.value.code == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_path_is_a_table_too(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    numbers(spark, 1).write.saveAsTable(f"delta.`{tmp_path}/t`")
    numbers(spark, 2).writeTo(f"delta.`{tmp_path}/t`").append()

    assert rows_of(spark.table(f"delta.`{tmp_path}/t`")) == [(1, "n1"), (2, "n2")]


def test_save_as_table_makes_adds_to_and_replaces(lake: Lake, spark: SparkSession) -> None:
    numbers(spark, 1, 2).write.format("delta").partitionBy("id").saveAsTable("sales.orders")
    numbers(spark, 3).select("name", F.col("id").cast("bigint")).write.mode("append").saveAsTable(
        "sales.orders"
    )
    numbers(spark, 9).write.saveAsTable("sales.orders", mode="ignore")

    assert rows_of(spark.table("sales.orders")) == [(1, "n1"), (2, "n2"), (3, "n3")]
    assert lake.table("sales.orders").detail(spark=spark).first().partitionColumns == ["id"]
    with pytest.raises(TableExists, match="already"):
        numbers(spark, 4).write.saveAsTable("sales.orders")
    numbers(spark, 2, 7).withColumn("name", F.lit("new")).write.option(
        "replaceWhere", "id IN (2, 7)"
    ).saveAsTable("sales.orders", mode="overwrite")
    assert rows_of(spark.table("sales.orders")) == [(1, "n1"), (2, "new"), (3, "n3"), (7, "new")]
    wider = numbers(spark, 5).withColumn("note", F.lit("x"))
    wider.write.mode("overwrite").option("overwriteSchema", True).saveAsTable("sales.orders", format="delta")
    assert rows_of(spark.table("sales.orders")) == [(5, "n5", "x")]
    with pytest.raises(InvalidRequest, match="not parquet"):
        wider.write.format("parquet").mode("append").saveAsTable("sales.orders")
    with pytest.raises(InvalidRequest, match="no option 'mergeSchemas'"):
        wider.write.option("mergeSchemas", True).mode("append").saveAsTable("sales.orders")


def test_insert_into_goes_by_position(lake: Lake, spark: SparkSession) -> None:
    lake.create_table("sales.orders", "id BIGINT, name STRING", partition_by=["name"])
    numbers(spark, 1).toDF("name", "id").write.insertInto("sales.orders")

    assert rows_of(spark.table("sales.orders")) == [(1, "n1")]
    numbers(spark, 2).write.insertInto("sales.orders")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        spark.createDataFrame([(5, "n2")], "a INT, b STRING").write.insertInto("sales.orders", overwrite=True)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows_of(spark.table("sales.orders")) == [(1, "n1"), (5, "n2")]
    numbers(spark, 8).write.mode("overwrite").insertInto("sales.orders")
    assert rows_of(spark.table("sales.orders")) == [(8, "n8")]
    with pytest.raises(InvalidRequest, match="2 \\(id, name\\)") as caught:
        numbers(spark, 1).select("id").write.insertInto("sales.orders")
    assert caught.value.code == "DELTA_INSERT_COLUMN_ARITY_MISMATCH"


def test_write_to_creates_replaces_and_overwrites(lake: Lake, spark: SparkSession) -> None:
    writer = numbers(spark, 1, 2).writeTo("sales.orders").using("delta").partitionedBy(F.col("id"))
    writer.tableProperty("delta.appendOnly", "false").create()
    assert lake.table("sales.orders").properties()["delta.appendOnly"] == "false"
    with pytest.raises(TableExists):
        numbers(spark, 1).writeTo("sales.orders").create()
    numbers(spark, 3).writeTo("sales.orders").append()
    numbers(spark, 2).withColumn("name", F.lit("two")).writeTo("sales.orders").overwritePartitions()
    numbers(spark, 3).withColumn("name", F.lit("three")).writeTo("sales.orders").overwrite(F.col("id") == 3)

    assert rows_of(spark.table("sales.orders")) == [(1, "n1"), (2, "two"), (3, "three")]
    numbers(spark, 4).withColumn("more", F.lit(True)).writeTo("sales.orders").replace()
    assert rows_of(spark.table("sales.orders")) == [(4, "n4", True)]
    numbers(spark, 5).writeTo("sales.made").createOrReplace()
    assert rows_of(spark.table("sales.made")) == [(5, "n5")]
    with pytest.raises(TableNotFound):
        numbers(spark, 5).writeTo("sales.nothing").replace()
    with pytest.raises(InvalidRequest, match="partitioned by columns"):
        numbers(spark, 5).writeTo("sales.x").partitionedBy(F.years("day"))


def test_all_else_is_sparks_own(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    numbers(spark, 1).createOrReplaceTempView("orders_view")
    numbers(spark, 2).write.mode("overwrite").saveAsTable("default.spark_table", path=str(tmp_path / "p"))
    try:
        assert rows_of(spark.table("orders_view")) == [(1, "n1")]
        assert rows_of(spark.read.table("default.spark_table")) == [(2, "n2")]
        assert spark.catalog.tableExists("default.spark_table")
        assert spark.catalog.tableExists("spark_table", "default")
        numbers(spark, 3).write.insertInto("default.spark_table")
        assert spark.table("spark_table").count() == 2
        with pytest.raises(AnalysisException) as caught:
            spark.table("default.nothing")
        assert caught.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
        with pytest.raises(AnalysisException):
            spark.table("a b c")
    finally:
        spark.catalog.dropTempView("orders_view")
        spark.sql("DROP TABLE default.spark_table")


def test_a_delta_table_in_a_schema_of_sparks_is_told_where_it_belongs(
    lake: Lake, spark: SparkSession
) -> None:
    with pytest.raises(InvalidRequest, match=r"USE main.*CREATE SCHEMA main\.s") as by_statement:
        spark.sql("CREATE TABLE default.orders (id INT) USING delta")
    with pytest.raises(InvalidRequest, match=r"CREATE SCHEMA main\.s"):
        numbers(spark, 1).write.format("delta").saveAsTable("default.orders")
    assert by_statement.value.code == "DATA_SOURCE_NOT_FOUND"
    with pytest.raises((AnalysisException, Py4JJavaError)):
        spark.sql("CREATE TABLE default.orders (id INT) USING paper")

    spark.sql("CREATE SCHEMA main.fresh")
    spark.sql("CREATE TABLE fresh.orders (id INT) USING delta")
    assert lake.table_exists("fresh.orders")


def test_schemas_are_the_lakes_while_it_is_in_use(lake: Lake, spark: SparkSession) -> None:
    spark.sql("USE main")
    try:
        spark.sql("CREATE SCHEMA IF NOT EXISTS used")
        numbers(spark, 2).write.format("delta").saveAsTable("used.orders")
        assert lake.table("used.orders").read().count() == 1
    finally:
        spark.sql("USE default")

    spark.sql("CREATE SCHEMA IF NOT EXISTS sparks")
    try:
        assert "sparks" not in lake.schemas()
    finally:
        spark.sql("DROP SCHEMA sparks")


def test_without_a_lake_nothing_is_different(lake: Lake, spark: SparkSession) -> None:
    lake.write(numbers(spark, 1), "sales.orders")
    lake.unregister(spark)

    with pytest.raises(AnalysisException):
        spark.table("sales.orders")
    with pytest.raises(AnalysisException):
        numbers(spark, 1).writeTo("sales.orders").append()
    assert not spark.catalog.tableExists("sales.orders")
    assert spark.newSession().range(3).count() == 3


def test_doors_are_opened_once_however_many_register(lake: Lake, spark: SparkSession) -> None:
    methods = (SparkSession.sql, SparkSession.table)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: lake.register(spark), range(8)))

    assert (SparkSession.sql, SparkSession.table) == methods
    assert not hasattr(SparkSession.sql.__wrapped__, "__wrapped__")


def test_each_batch_of_a_stream_knows_the_lake(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    lake.create_table("sales.orders", "id BIGINT")
    spark.range(5).write.parquet(str(tmp_path / "in"))

    def write(batch: DataFrame, _: int) -> None:
        batch.write.mode("append").saveAsTable("sales.orders")
        batch.sparkSession.table("sales.orders").count()

    stream = spark.readStream.schema("id BIGINT").parquet(str(tmp_path / "in")).writeStream
    query = stream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "c"))
    query.trigger(availableNow=True).start().awaitTermination()

    assert spark.table("sales.orders").count() == 5
