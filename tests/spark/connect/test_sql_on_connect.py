"""SQL and the doors of a session, on Spark Connect: the same statements, the same answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import TableNotFound
from headgate.lake.lake import Lake
from headgate.spark.session import kind

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[Lake]:
    with headgate.connect(tmp_path_factory.mktemp("sql") / "lake") as opened:
        opened.create_schema("s")
        opened.register(spark)
        yield opened
        opened.unregister(spark)


def rows_of(df: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in df.collect())


def test_statements_run_through_the_session(lake: Lake, spark: SparkSession) -> None:
    assert kind.is_connect(spark)
    spark.sql("CREATE TABLE s.t (id INT, name STRING DEFAULT 'x') PARTITIONED BY (id)")
    spark.sql("INSERT INTO s.t VALUES (1, 'a'), (2, DEFAULT)")
    extra = spark.createDataFrame([(2, "y")], "id INT, name STRING")

    assert rows_of(spark.sql("UPDATE s.t SET name = :n WHERE id = 1", {"n": "b"})) == [(1,)]
    merged = spark.sql(
        "MERGE INTO s.t USING {extra} e ON t.id = e.id WHEN MATCHED THEN UPDATE SET *", extra=extra
    )
    assert rows_of(merged) == [(1, 1, 0, 0)]
    found = spark.sql(
        "WITH old AS (SELECT * FROM s.t VERSION AS OF 1) SELECT t.name, old.name, '{}' FROM s.t JOIN old "
        "USING (id) WHERE id IN (SELECT id FROM s.t WHERE id > ?)",
        [0],
    )
    assert rows_of(found) == [("b", "a", "{}"), ("y", "x", "{}")]
    assert rows_of(spark.sql("DELETE FROM s.t WHERE id = 2")) == [(1,)]
    assert [row.operation for row in spark.sql("DESCRIBE HISTORY s.t LIMIT 1").collect()] == ["DELETE"]
    assert rows_of(spark.sql("SHOW PARTITIONS s.t")) == [(1,)]
    with pytest.raises(AnalysisException):
        spark.sql("SELECT * FROM nowhere.t").collect()
    with pytest.raises(TableNotFound):
        spark.sql("SELECT * FROM s.nothing")


def test_readers_and_writers_know_the_lake(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "a")], "id INT, name STRING")
    rows.write.option("compression", "zstd").saveAsTable("s.w")
    rows.withColumn("id", F.lit(2)).write.mode("append").saveAsTable("s.w")
    rows.toDF("x", "y").write.insertInto("s.w")
    rows.withColumn("name", F.lit("new")).writeTo("s.w").overwrite(F.col("id") == 1)

    assert rows_of(spark.table("s.w")) == [(1, "new"), (2, "a")]
    assert spark.read.option("versionAsOf", 0).table("s.w").count() == 1
    assert spark.catalog.tableExists("s.w")
    rows.write.parquet(str(tmp_path / "p"))
    assert spark.read.parquet(str(tmp_path / "p")).count() == 1


def test_a_transaction_is_held_by_the_session(lake: Lake, spark: SparkSession) -> None:
    spark.sql("CREATE TABLE s.one (id INT)")
    spark.sql("BEGIN")
    spark.sql("INSERT INTO s.one VALUES (1)")
    spark.range(1).write.mode("append").saveAsTable("s.one")
    assert lake.table("s.one").read(spark=spark).count() == 0
    spark.sql("COMMIT")
    assert spark.table("s.one").count() == 2
    assert lake.table("s.one").version() == 1
