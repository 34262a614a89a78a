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
        query = lake.write_stream(stream, "s.copy", checkpoint=tmp_path / "c", available_now=True)
        query.awaitTermination()
        copied.append(sorted(lake.table("s.copy").to_arrow()["id"].to_pylist()))

    assert copied == [[0, 1, 2, 3], list(range(8))]
