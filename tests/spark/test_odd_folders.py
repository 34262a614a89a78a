"""Tables in folders whose names have marks that URLs or Spark's patterns give a meaning."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Settings, Table
from headgate.spark.session import hadoop_paths

pytestmark = pytest.mark.spark

NAMES = ("a?b%20#c", "ä +;@:&=", "[x]*{y}'\"$", "%3F\\n")


def _ids(table: Table) -> list[int]:
    return sorted(row.id for row in table.read().collect())


def _use(spark: SparkSession, table: Table) -> None:
    """Version 0 is empty; two appends, a delete and a checkpoint follow."""
    table.append(spark.range(3))
    table.append(spark.range(3, 6))
    table.delete("id = 1")
    table.checkpoint()


@pytest.mark.parametrize("name", NAMES)
def test_rows_come_back_whoever_asks_and_however_the_table_is_opened(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    with headgate.connect(tmp_path / name / "lake") as lake:
        lake.create_schema("s")
        _use(spark, lake.create_table("s.t", "id BIGINT"))
    _use(spark, headgate.at_path(tmp_path / name / "t", columns="id BIGINT"))
    by_spark = Settings(spark_replay_bytes=0)

    for settings in (Settings(), by_spark):
        with headgate.connect(tmp_path / name / "lake", settings=settings) as again:
            assert _ids(again.table("s.t")) == [0, 2, 3, 4, 5]
            assert headgate.check_path(again.table("s.t").location).errors == ()
        assert _ids(headgate.at_path(tmp_path / name / "t", settings=settings)) == [0, 2, 3, 4, 5]
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_finds_the_files_of_such_a_folder(spark: SparkSession, tmp_path: Path, name: str) -> None:
    _use(spark, headgate.at_path(tmp_path / name / "t", columns="id BIGINT"))
    with headgate.connect(tmp_path / name / "lake") as lake:
        lake.create_schema("s")
        clone = lake.clone(tmp_path / name / "t", "s.c")
        clone.delete("id = 2")

        assert _ids(lake.table("s.c")) == [0, 3, 4, 5]


def test_a_reader_takes_a_folder_for_itself_alone(spark: SparkSession, tmp_path: Path) -> None:
    for count, name in enumerate(("a*", "ab", "[ab]b", "a?", "{ab,a*}"), start=1):
        spark.range(count).write.parquet(hadoop_paths.folder(str(tmp_path), name))

        assert (
            spark.read.parquet(hadoop_paths.escape_glob(hadoop_paths.folder(str(tmp_path), name))).count()
            == count
        )
