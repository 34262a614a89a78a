"""A snapshot that is read again is not told to the JVM again, and its rows are right all the same."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Table
from headgate.spark.jvm.arrays import JvmArrays
from headgate.spark.scan import binders, scan
from tests.support.waiting import until

pytestmark = pytest.mark.spark


@pytest.fixture
def told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many files the JVM was told of, each time it was."""
    counts: list[int] = []
    texts = JvmArrays.texts

    def counting(arrays: JvmArrays, values: Any) -> Any:
        counts.append(len(values))
        return texts(arrays, values)

    monkeypatch.setattr(JvmArrays, "texts", counting)
    spark.conf.set(binders.SETTING, "classic")
    yield counts
    spark.conf.unset(binders.SETTING)


def made(spark: SparkSession, place: Path, *, vectors: bool = False, partitioned: bool = False) -> Table:
    properties = {"delta.enableDeletionVectors": str(vectors).lower(), "delta.enableRowTracking": "true"}
    by = ["p"] if partitioned else []
    table = headgate.at_path(place, columns="id BIGINT, p INT", properties=properties, partition_by=by)
    table.append(spark.sql("SELECT id, CAST(id % 2 AS INT) AS p FROM range(0, 30, 1, 3)"))
    return table


def ids(df: DataFrame) -> list[int]:
    return sorted(row.id for row in df.collect())


def test_the_files_of_a_snapshot_are_told_once(spark: SparkSession, tmp_path: Path, told: list[int]) -> None:
    table = made(spark, tmp_path)
    del told[:]

    assert ids(table.read()) == list(range(30))
    assert ids(table.read().where("id > 25")) == [26, 27, 28, 29]
    assert ids(table.read(where="id >= 0")) == list(range(30))
    assert ids(table.read(spark=spark.newSession())) == list(range(30))
    assert told == [3]
    assert ids(table.read(where="id < 2")) == [0, 1]
    assert told == [3, 1]


def test_most_files_are_not_told_again_and_the_others_are_skipped_all_the_same(
    spark: SparkSession, tmp_path: Path, told: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "MANY_FILES", 2)
    table = made(spark, tmp_path)
    ids(table.read())
    del told[:]

    df = table.read(where="id >= 12")

    for file in tmp_path.rglob("*.parquet"):
        if 0 in pq.read_table(file)["id"].to_pylist():
            file.unlink()  # whoever opened it would fail
    assert ids(df) == list(range(12, 30))
    assert told == []


@pytest.mark.parametrize("partitioned", [False, True], ids=["plain", "partitioned"])
@pytest.mark.parametrize("vectors", [False, True], ids=["copied", "vectors"])
def test_every_version_has_its_own_rows(
    spark: SparkSession, tmp_path: Path, told: list[int], vectors: bool, partitioned: bool
) -> None:
    table = made(spark, tmp_path, vectors=vectors, partitioned=partitioned)
    expected = {1: list(range(30))}
    steps: list[Callable[[], object]] = [
        lambda: table.delete("id IN (3, 17)"),
        lambda: table.append(spark.sql("SELECT 100L AS id, 7 AS p")),
        lambda: table.delete("id = 4"),
        lambda: table.restore(version=2),
    ]
    for step, gone, more in zip(steps, ({3, 17}, {3, 17}, {3, 17, 4}, {3, 17}), (0, 1, 1, 0), strict=True):
        step()
        expected[table.version()] = sorted({*range(30)} - gone | ({100} if more else set()))
        assert ids(table.read()) == ids(table.read()) == expected[table.version()]

    for version, rows in expected.items():
        assert ids(table.read(version=version)) == ids(table.read(version=version)) == rows
    assert ids(table.read().where("p = 1")) == [n for n in expected[table.version()] if n % 2]
    assert told


def test_what_is_asked_of_rows_does_not_mix(spark: SparkSession, tmp_path: Path, told: list[int]) -> None:
    table = made(spark, tmp_path)
    with_ids = [(row.id, row["_row_id"]) for row in table.read(row_ids=True).orderBy("id").collect()]

    for _ in range(2):
        assert ids(table.read()) == list(range(30))
        again = table.read(row_ids=True).orderBy("id").collect()
        assert [(row.id, row["_row_id"]) for row in again] == with_ids
        spark.conf.set(binders.SETTING, "portable")
        assert ids(table.read()) == list(range(30))
        spark.conf.set(binders.SETTING, "classic")
    assert table.read().columns == ["id", "p"]
    assert told


def test_nothing_is_kept_of_a_snapshot_that_nobody_holds(
    spark: SparkSession, tmp_path: Path, told: list[int]
) -> None:
    table = made(spark, tmp_path)
    assert ids(table.read()) == ids(table.read())
    files = weakref.ref(table._opened.snapshot().files)
    jvm: Any = spark.sparkContext._gateway.jvm

    def is_gone() -> bool:
        jvm.System.gc()
        gc.collect()
        return files() is None

    assert not is_gone()
    del table
    until(is_gone)
    assert told
