"""Older versions, as a user asks for them."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import UnsupportedFeature, VersionNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names

pytestmark = pytest.mark.spark
_LONG_AGO = "1999-12-31T23:59:59Z"


def test_a_moment_before_the_table_is_refused_unless_its_first_version_will_do(
    spark: SparkSession, tmp_path: Path
) -> None:
    """S036"""
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", "id BIGINT")
        table.append(spark.range(3))

        with pytest.raises(VersionNotFound, match="or_earliest=True"):
            table.read(timestamp=_LONG_AGO)

        assert table.read(timestamp=_LONG_AGO, or_earliest=True).count() == 0
        assert table.read().count() == 3


def test_a_path_opens_although_only_older_versions_can_be_read(spark: SparkSession, tmp_path: Path) -> None:
    """S328: until the newest is asked for."""
    headgate.at_path(tmp_path, columns="id BIGINT").append(spark.range(3))
    strange = '"readerFeatures":["quantumFiles"],"writerFeatures":["quantumFiles"]'
    newest = tmp_path / file_names.published_path(Version(2))
    newest.write_text(f'{{"protocol":{{"minReaderVersion":3,"minWriterVersion":7,{strange}}}}}\n')

    table = headgate.at_path(tmp_path)

    assert table.read(version=1).count() == 3
    with pytest.raises(UnsupportedFeature, match="quantumFiles"):
        table.read()
