"""Streams into tables whose rows are written by the executors of a cluster, some of which die."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.spark.cluster import slow
from tests.spark.cluster.operations import check_numbers, content, expected, numbered_columns
from tests.support import cluster as clusters
from tests.support import streams
from tests.support.cluster import Cluster
from tests.support.waiting import until

pytestmark = pytest.mark.spark
BATCHES, ROWS = 3, 20


def test_executors_die_while_they_write_a_batch(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    """Each batch is one commit, and no row has the number of another."""
    clusters.settled(cluster, spark)
    batches = [streams.ids(start, start + ROWS) for start in range(0, BATCHES * ROWS, ROWS)]
    source = streams.feed(tmp_path / "source", *batches)
    rows = streams.of(spark, source).selectExpr(
        "id", "CAST(id % 3 AS INT) AS p", f"concat('v', id, {slow.pause(100)}) AS v"
    )
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", numbered_columns())

        query = lake.write_stream(rows, "s.t", checkpoint=tmp_path / "c", available_now=True)
        for number in (0, 1):
            until(lambda: bool(slow.half_written(table)) or not query.isActive)
            assert query.isActive
            cluster.kill_executors(number)
        query.awaitTermination()

        assert content(table.read(spark=spark)) == expected(slow.rows(0, BATCHES * ROWS))
        check_numbers(table, spark)
        told = [entry.info.operation_parameters or {} for entry in table.log.history()[:-1]]
        assert [each["epochId"] for each in told] == [str(number) for number in reversed(range(BATCHES))]
        slow.check_leftovers(lake, table)
