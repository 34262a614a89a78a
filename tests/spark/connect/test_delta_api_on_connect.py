"""``headgate.delta`` with a session of Spark Connect, whose Columns and frames are other classes."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.spark.jvm.frame_alias import frame_alias
from tests.delta.behaviours import BEHAVIOURS
from tests.delta.places import LakePlace

pytestmark = pytest.mark.spark

TRIED = (
    "merge_takes_conditions_and_columns",
    "merge_knows_a_source_behind_its_alias",
    "merge_refuses",
    "rows_are_deleted_and_updated",
    "restore_brings_a_version_back",
    "builders_make_tables",
    "tables_are_tended",
)
"""Those that have to do with expressions, sources and frames that come back."""


@pytest.fixture(scope="module")
def place(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakePlace]:
    folder = tmp_path_factory.mktemp("connect-place")
    with headgate.connect(folder / "lake") as lake:
        lake.create_schema("s")
        lake.register(spark)
        yield LakePlace(spark, lake, folder)
        lake.unregister(spark)


@pytest.mark.parametrize("name", TRIED)
def test_a_behaviour_holds_on_connect(name: str, place: LakePlace) -> None:
    assert BEHAVIOURS[name](place) is not None


def test_a_frame_tells_its_alias(spark: SparkSession) -> None:
    rows = spark.range(3)

    assert frame_alias(rows.alias("s")) == "s"
    assert frame_alias(rows.alias("s").where("s.id > 0").limit(2)) == "s"
    assert frame_alias(rows) is None
    assert frame_alias(rows.alias("s").withColumn("x", rows.id)) is None
