"""Lists of files for a Spark Connect server: where they are, how long they stay, what if they cannot be."""

import gc
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from headgate.errors import InvalidRequest
from headgate.spark.scan import connect_scratch
from tests.support import rows

pytestmark = pytest.mark.spark
# The server remembers the last few plans, with the files they read.
_CACHE = "spark.connect.session.planCache.enabled"
ROWS = [{"id": 0}, {"id": 1}]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, during one test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path, temporary: Path) -> Table:
    made = headgate.at_path(tmp_path / "odd [a]{b}* #?:%25 ü" / "t", columns="id BIGINT")
    made.append(spark.range(2).coalesce(1))
    return made


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def lists_in(folder: Path) -> list[Path]:
    gc.collect()
    return sorted(folder.rglob("_spark_metadata/0"))


def test_a_list_stays_as_long_as_any_frame_made_from_the_scan(
    spark: SparkSession, table: Table, temporary: Path
) -> None:
    kept = table.read().where("id > 0").select("id")
    assert table.read().count() == 2

    assert len(lists_in(temporary)) == 1
    with setting(spark, _CACHE, "false"):
        assert rows.of_frame(kept) == ROWS[1:]
        assert rows.of_frame(kept.union(kept)) == ROWS[1:] * 2
    kept.createOrReplaceTempView("kept")
    del kept
    assert not list(temporary.iterdir()) and not lists_in(temporary)
    assert rows.of_frame(spark.table("kept")) == ROWS[1:]


def test_beside_the_table_where_there_is_no_other_place(
    spark: SparkSession, table: Table, temporary: Path
) -> None:
    temporary.rmdir()
    temporary.touch()
    before = set(Path(table.location).iterdir())

    df = table.read()

    (manifest,) = lists_in(Path(table.location))
    assert manifest.relative_to(table.location).parts[:2] == ("_headgate", "scans")
    assert rows.of_frame(df) == ROWS
    del df
    gc.collect()
    assert set(Path(table.location).iterdir()) == before


def test_where_the_setting_says(spark: SparkSession, table: Table, tmp_path: Path, temporary: Path) -> None:
    with setting(spark, connect_scratch.SETTING, f"file://{tmp_path}/elsewhere"):
        df = table.read()

        assert len(lists_in(tmp_path / "elsewhere")) == 1 and not lists_in(temporary)
        assert rows.of_frame(df) == ROWS


def test_a_reader_who_may_not_write_is_told_what_to_do(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with (
        setting(spark, connect_scratch.SETTING, str(tmp_path / "file")),
        pytest.raises(InvalidRequest, match=rf"cannot be put .*set {connect_scratch.SETTING}"),
    ):
        table.read()


def test_a_server_that_sees_other_folders_is_an_error_and_not_an_empty_table(
    spark: SparkSession, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        connect_scratch.ScratchFolder, "path", property(lambda _: f"file:{tmp_path}/on/another/machine")
    )

    with pytest.raises(InvalidRequest, match=r"the server does not find it.*the server does not find it"):
        table.read()


def test_a_setting_made_later_does_not_empty_the_table(spark: SparkSession, table: Table) -> None:
    df = table.read()

    with (
        setting(spark, _CACHE, "false"),
        setting(spark, "spark.sql.streaming.fileStreamSink.ignoreMetadata", "true"),
        setting(spark, "spark.sql.files.ignoreCorruptFiles", "true"),
        pytest.raises(PySparkException, match="the-manifest-was-ignored"),
    ):
        df.count()


def test_what_a_killed_process_left_is_swept_after_a_week(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect_scratch, "_swept", set())
    left = [connect_scratch.put(table.location, {"_spark_metadata/0": b"v1", "d": b""}) for _ in range(2)]
    monkeypatch.setattr(connect_scratch, "_swept", set())
    for name in left[0].names:
        week_ago = time.time() - 8 * 24 * 3600
        os.utime(Path(table.location) / left[0].folder / name, (week_ago, week_ago))

    connect_scratch.put(table.location, {"_spark_metadata/0": b"v1"}).remove()

    remaining = {path.name for path in (Path(table.location) / "_headgate" / "scans").iterdir()}
    assert remaining == {left[1].folder.rpartition("/")[2]}
