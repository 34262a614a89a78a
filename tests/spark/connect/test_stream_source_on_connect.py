"""Streams out of tables on Spark Connect, through the Python stream reader: exactly once after a restart."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate import Lake

pytestmark = pytest.mark.spark


def test_a_stream_of_a_table_is_copied_once_over_restarts(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    table = lake.create_table(
        "s.t", "id BIGINT, day INT", partition_by=["day"], properties={"delta.enableDeletionVectors": "true"}
    )
    copied = []
    for start in (0, 4):
        table.append([{"id": number, "day": number % 2} for number in range(start, start + 4)])
        stream = table.read_stream(max_files_per_trigger=1)
        assert stream.isStreaming
        query = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "c"))
        query.trigger(availableNow=True).start(str(tmp_path / "copy")).awaitTermination()
        copied.append(sorted(row.id for row in spark.read.parquet(str(tmp_path / "copy")).collect()))

    assert copied == [[0, 1, 2, 3], list(range(8))]
