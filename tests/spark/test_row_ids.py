"""Rows of tables that track them get ids when they are appended, and keep them in the log when they go."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from tests.support.handmade import column, write_log

pytestmark = pytest.mark.spark


def test_rows_that_are_written_get_ids(spark: SparkSession, tmp_path: Path) -> None:
    """S263"""
    location = tmp_path / "t"
    write_log(
        location, [column("id", "long")], [], features=("rowTracking", "domainMetadata"),
        delta_enableRowTracking="true",
    )  # fmt: skip
    table = headgate.at_path(str(location))

    table.append(spark.range(3).coalesce(1))
    table.append(spark.range(3, 5).coalesce(1))

    found = table.read(row_ids=True).select("id", "_row_id", "_row_commit_version").orderBy("id").collect()
    assert [tuple(row) for row in found] == [(0, 0, 1), (1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 4, 2)]

    table.overwrite(spark.range(9, 10).coalesce(1))

    content = (location / file_names.published_path(Version(3))).read_bytes()
    commit = codec.decode(Version(3), content)
    assert [(remove.base_row_id, remove.default_row_commit_version) for remove in commit.removes] == [
        (0, 1), (3, 2),
    ]  # fmt: skip
    assert [(add.base_row_id, add.default_row_commit_version) for add in commit.adds] == [(5, 3)]
    assert [domain.configuration for domain in commit.domains] == ['{"rowIdHighWaterMark":5}']
