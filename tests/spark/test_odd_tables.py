"""Tables as other writers leave them, read by Spark: through both binders, and replayed by it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import UnsupportedFeature
from headgate.protocol import file_key
from headgate.spark.predicates import path_key_column
from headgate.spark.scan import binders, cluster_replay
from tests.support.odd_tables import ODD_TABLES, OddTable

pytestmark = pytest.mark.spark

by_name = pytest.mark.parametrize("table", ODD_TABLES, ids=lambda table: table.name)


@pytest.fixture(params=["classic", "portable"])
def bound(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    spark.conf.set(binders.SETTING, request.param)
    yield request.param
    spark.conf.unset(binders.SETTING)


@by_name
def test_its_rows_are_what_its_commits_say(
    spark: SparkSession, tmp_path: Path, table: OddTable, bound: str
) -> None:
    table.make(tmp_path)

    if bound == "portable" and "file begins" in table.name:
        with pytest.raises(UnsupportedFeature, match=r"few\.parquet has a name that starts with"):
            headgate.at_path(str(tmp_path)).read(spark=spark)
        return
    rows = headgate.at_path(str(tmp_path)).read(spark=spark).select("id").collect()

    assert sorted(row.id for row in rows) == list(table.ids)


@by_name
@pytest.mark.parametrize("bound_bytes", [cluster_replay.SHIPPED_BYTES, -1], ids=["shipped", "read by Spark"])
def test_spark_replays_it_alike(
    spark: SparkSession, tmp_path: Path, table: OddTable, bound_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_replay, "SHIPPED_BYTES", bound_bytes)
    table.make(tmp_path)
    log = headgate.at_path(str(tmp_path)).log
    snapshot = log.snapshot()

    found = cluster_replay.live_files(spark, log, snapshot.version).toArrow()

    # Spark does not look whether a checkpoint names a file twice, which takes a shuffle of all of it.
    assert sorted(set(found["path"].to_pylist())) == sorted(snapshot.files.without_stats["path"].to_pylist())


PATHS = (
    "a", "a b", "a%20b", "%61", "./a", "a//b", "x/../a", "../x", "a/../../x", "/x", "//x", "file:/x",
    "file:///x", "file:////x", "FILE:/x", "file://localhost/x", "file://host/x", "file:x", "s3a://b/%78",
    "s3n://b//x", "s3:/x", "100%", "%zz", "%FF", "%C3%A9", "é", "a+b", "a%2Bb", "p=1%3A2/f", "p=1:2/f",
    "hdfs://h/../x", ".", "..", "/",
)  # fmt: skip


def test_spark_knows_paths_by_the_same_keys(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(path,) for path in PATHS], "path STRING")

    found = frame.select("path", path_key_column.path_key(F.col("path")).alias("key")).collect()

    assert {row.path: row.key for row in found} == {path: file_key.canonical_path(path) for path in PATHS}
