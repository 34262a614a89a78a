"""``format("headgate")``: the same rows as ``table.read()``, through Spark's Python data source."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Lake, Table
from headgate.data_source import arrow_writer, table_finders
from headgate.errors import InvalidRequest, UnsupportedFeature

pytestmark = pytest.mark.spark
COLUMNS = "id BIGINT, day INT, name STRING, at TIMESTAMP, price DECIMAL(10,2), tags ARRAY<STRING>"


def rows(spark: SparkSession, start: int, stop: int) -> DataFrame:
    return spark.range(start, stop, numPartitions=2).selectExpr(
        "id",
        "CAST(id % 2 AS INT) AS day",
        "concat('n', id) AS name",
        "timestamp'2026-01-31 12:00:00' AS at",
        "CAST(id AS DECIMAL(10,2)) AS price",
        "array('a', CAST(id AS STRING)) AS tags",
    )


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    properties = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}
    made = lake.create_table("s.t", COLUMNS, partition_by=["day"], properties=properties)
    made.append(rows(spark, 0, 6))
    made.delete("id = 3")
    return made


def test_a_batch_has_the_rows_of_a_version_or_of_a_change_feed(
    spark: SparkSession, lake: Lake, table: Table
) -> None:
    lake.register(spark)
    source = spark.read.format("headgate")

    found = source.load("s.t")

    assert found.schema == table.read().schema
    assert sorted(found.collect()) == sorted(table.read().collect())
    assert spark.read.format("headgate").option("versionAsOf", 1).load("main.s.t").count() == 6
    feed = spark.read.format("headgate").option("readChangeFeed", "true").option("startingVersion", 2)
    assert [(row["id"], row["_change_type"]) for row in feed.load("s.t").collect()] == [(3, "delete")]
    with pytest.raises(PySparkException, match="versionAsOf"):
        spark.read.format("headgate").option("versionAsOff", 1).load("s.t").count()


def test_a_stream_goes_on_from_its_checkpoint(
    spark: SparkSession, lake: Lake, table: Table, tmp_path: Path
) -> None:
    lake.register(spark)

    def run() -> list[int]:
        stream = spark.readStream.format("headgate").option("maxFilesPerTrigger", 1).load("s.t")
        seen: list[int] = []
        query = stream.writeStream.foreachBatch(
            lambda batch, _: seen.extend(row.id for row in batch.collect())
        ).option("checkpointLocation", str(tmp_path / "c"))
        query.trigger(availableNow=True).start().awaitTermination()
        return sorted(seen)

    assert run() == [0, 1, 2, 4, 5]
    table.append(rows(spark, 6, 8))
    assert run() == [6, 7]
    assert run() == []


def test_rows_are_written_to_a_path_and_to_a_table_of_a_lake(
    spark: SparkSession, lake: Lake, table: Table, tmp_path: Path
) -> None:
    lake.register(spark)
    place = str(tmp_path / "by-path")
    rows(spark, 0, 4).write.format("headgate").mode("append").save(place)
    rows(spark, 4, 6).write.format("headgate").mode("append").option("userMetadata", "more").save(place)
    written = headgate.at_path(place)

    assert sorted(written.read().collect()) == sorted(rows(spark, 0, 6).collect())
    assert written.log.history(limit=1)[0].info.user_metadata == "more"
    rows(spark, 7, 8).write.format("headgate").mode("overwrite").save(place)
    assert [row.id for row in written.read().collect()] == [7]
    rows(spark, 20, 22).write.format("headgate").mode("append").option("table", "s.t").save()
    assert sorted(row.id for row in table.read().where("id >= 20").collect()) == [20, 21]
    rows(spark, 0, 2).write.format("headgate").mode("append").option("table", "s.new").save()
    assert lake.table("s.new").read().count() == 2
    assert all(report.is_clean for report in lake.check())


def test_what_the_source_cannot_do_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedFeature, match="replaceWhere"):
        arrow_writer.write_options_of({"replaceWhere": "id = 1", "path": "/x"})
    with pytest.raises(InvalidRequest, match=r"lake\.register"):
        table_finders.find_by_options({"path": "s.t"}, {})
    with pytest.raises(InvalidRequest, match="needs a table"):
        table_finders.find_by_options({}, {})
