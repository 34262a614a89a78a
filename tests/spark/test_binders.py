"""Both binders give the same rows, whatever a table has."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.jvm import bitmap_literal
from headgate.spark.jvm.arrays import native_endian
from headgate.spark.scan import apply_deletion_vectors, binders, classic_file_index
from tests.support import rows
from tests.support.handmade import column, data_file, write_log
from tests.support.scanned_tables import TABLES, plain, with_vectors

pytestmark = pytest.mark.spark


@pytest.fixture
def using(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    """Sets the binder."""
    yield lambda name: spark.conf.set(binders.SETTING, name)
    spark.conf.unset(binders.SETTING)


@pytest.mark.parametrize("name", TABLES)
def test_both_binders_give_the_same_rows(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], name: str
) -> None:
    make, count = TABLES[name]
    table = make(tmp_path / "a [t]able")

    def read(binder: str) -> tuple[Any, Any, Any]:
        using(binder)
        df = table.read(spark=spark, row_ids=name == "row tracking")
        return rows.of_frame(df), rows.of_frame(df.where("id % 3 = 1 AND id > 2")), df.schema.jsonValue()

    classic, portable = read("classic"), read("portable")

    assert classic == portable
    assert len(classic[0]) == count


@pytest.mark.parametrize("name", [name for name, (_, count) in TABLES.items() if count])
def test_the_metadata_of_files_is_there_for_those_who_name_it(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], name: str
) -> None:
    make, count = TABLES[name]
    using("classic")
    df = make(tmp_path).read(spark=spark)

    found = df.select("id", "_metadata.file_name", "_metadata.row_index", "_metadata.file_modification_time")

    assert df.columns == [part for part in df.columns if not part.startswith("_")]
    collected = found.collect()
    assert len(collected) == count
    assert all(row.file_name.endswith(".parquet") for row in collected)
    assert all(row.file_modification_time.timestamp() == 0.001 for row in collected)
    if name == "deletion vectors":
        assert all(
            (row.file_name, row.row_index) == (f"{row.id // 10}.parquet", row.id % 10) for row in collected
        )


@pytest.mark.parametrize("name", ["plain", "partitioned by several types"])
def test_both_binders_say_the_same_of_files(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], name: str
) -> None:
    make, count = TABLES[name]
    table = make(tmp_path / "Zürich a+b")
    parts = [f"_metadata.{part}" for part in ("file_path", "file_name", "file_size", "row_index")]

    def said(binder: str) -> rows.Rows:
        using(binder)
        return rows.of_frame(table.read(spark=spark).select("id", *parts))

    classic, portable = said("classic"), said("portable")

    assert classic == portable and len(classic) == count
    assert classic[0]["file_path"].startswith(f"file:{tmp_path}/Zürich%20a+b/")


def test_a_path_is_spelled_as_spark_does_where_rows_are_deleted_too(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None]
) -> None:
    using("classic")
    df = with_vectors(tmp_path / "Zürich a+b").read(spark=spark).select("_metadata.file_path")

    assert all(row.file_path.startswith(f"file:{tmp_path}/Zürich%20a+b/") for row in df.collect())


@pytest.mark.parametrize("binder", ["classic", "portable"])
def test_when_files_were_modified_tells_them_apart_and_stays_true(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], binder: str
) -> None:
    using(binder)
    times = [1_700_000_000_123, 1_700_000_000_123, 1_600_000_000_999, 0, 2**62, -5]
    adds = [
        data_file(
            tmp_path, f"{n}.parquet", pa.table({"id": [2 * n, 2 * n + 1]}), partition_values={"n": str(n)},
            modification_time=time, vector=deletion_vectors.encode_inline(DeletedRows.from_rows([1])),
        )
        for n, time in enumerate(times)
    ]  # fmt: skip
    columns = [column("id", "long"), column("n", "long")]
    write_log(tmp_path, columns, adds, partitioned_by=["n"], features=["deletionVectors"])

    df = headgate.at_path(tmp_path).read(spark=spark)

    assert [(row["id"], row["n"]) for row in rows.of_frame(df)] == [(2 * n, n) for n in range(6)]
    said = df.where("n < 4").selectExpr("n", "unix_millis(_metadata.file_modification_time) AS ms").collect()
    assert len(said) == 4 and all(abs(row.ms - times[row.n]) < len(times) for row in said)


@pytest.mark.parametrize("binder", ["auto", "classic", "portable"])
def test_a_column_that_spark_takes_for_the_number_of_a_row_is_refused(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], binder: str
) -> None:
    using(binder)
    name = classic_file_index.ROW_INDEX.name
    data = pa.table({"id": [0, 1], name: pa.array([7, 8], pa.int64())})
    columns = [column("id", "long"), column(name, "long")]
    for folder, vector in (("a", None), ("b", deletion_vectors.encode_inline(DeletedRows.from_rows([0])))):
        add = data_file(tmp_path / folder, "f.parquet", data, vector=vector)
        write_log(tmp_path / folder, columns, [add], features=["deletionVectors"])

    assert [row[name] for row in rows.of_frame(headgate.at_path(tmp_path / "a").read(spark=spark))] == [7, 8]
    with pytest.raises(UnsupportedFeature, match=name):
        headgate.at_path(tmp_path / "b").read(spark=spark)


@pytest.mark.parametrize("binder", ["classic", "portable"])
@pytest.mark.parametrize("conf", ["ignoreMissingFiles", "ignoreCorruptFiles"])
def test_a_lost_file_is_an_error_whatever_the_session_ignores(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], binder: str, conf: str
) -> None:
    using(binder)
    table = plain(tmp_path)
    lost = tmp_path / "3.parquet"
    lost.write_bytes(b"x" * lost.stat().st_size) if conf == "ignoreCorruptFiles" else lost.unlink()
    spark.conf.set(f"spark.sql.files.{conf}", "true")
    try:
        with pytest.raises((PySparkException, Py4JError)):
            table.read(spark=spark).count()
    finally:
        spark.conf.unset(f"spark.sql.files.{conf}")


def test_a_session_without_the_classic_binder_gets_the_portable_one(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, using: Callable[[str], None]
) -> None:
    table = with_vectors(tmp_path)
    broken = classic_file_index.FileIndexUnavailable("no callbacks, says the test")
    with (
        mock.patch.object(classic_file_index, "_driver", side_effect=broken),
        caplog.at_level(logging.WARNING),
    ):
        using("auto")
        assert table.read(spark=spark).count() == 38
        assert table.read(spark=spark).count() == 38
        assert sum("no callbacks" in line for line in caplog.messages) == 1
        using("classic")
        with pytest.raises(InvalidRequest, match="no callbacks"):
            table.read(spark=spark)
    using("fast")
    with pytest.raises(InvalidRequest, match="'portable'"):
        table.read(spark=spark)


def test_more_deleted_rows_than_fit_into_a_literal_are_joined(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None]
) -> None:
    using("classic")
    with mock.patch.object(binders, "_MOST_WORDS", 1):
        df = with_vectors(tmp_path).read(spark=spark)

    assert df.count() == 38
    assert df.where("_metadata.row_index = 0").count() == 3


@pytest.mark.parametrize("binder", ["classic", "portable"])
@pytest.mark.parametrize("vectorised", ["true", "false"])
def test_deleted_rows_are_found_in_every_part_of_a_file(
    spark: SparkSession, tmp_path: Path, using: Callable[[str], None], binder: str, vectorised: str
) -> None:
    using(binder)
    adds = []
    for n in range(2):
        data = pa.table({"id": pa.array(range(1000 * n, 1000 * n + 1000), pa.int64())})
        gone = deletion_vectors.encode_inline(DeletedRows.from_rows(range(n, 900, 3)))
        adds.append(data_file(tmp_path, f"{n}.parquet", data, group=90, vector=gone))
    write_log(tmp_path, [column("id", "long")], adds, features=["deletionVectors"])
    confs = {
        "spark.sql.files.maxPartitionBytes": "2000",
        "spark.sql.parquet.enableVectorizedReader": vectorised,
    }
    for name, value in confs.items():
        spark.conf.set(name, value)
    try:
        df = headgate.at_path(tmp_path).read(spark=spark)
        live = [n for n in range(2000) if n % 1000 >= 900 or n % 1000 % 3 != n // 1000]
        assert df.rdd.getNumPartitions() > 2
        assert [row["id"] for row in rows.of_frame(df)] == live
        assert df.where("id > 455 AND id < 1333").count() == sum(455 < n < 1333 for n in live)
    finally:
        for name in confs:
            spark.conf.unset(name)


def test_rows_without_deleted_ones_are_found_again_where_they_were_cached(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark knows a plan by its parts, of which the words of deleted rows are one."""
    df = with_vectors(tmp_path / "t").read(spark=spark)
    try:
        rows_of = df.cache().count()

        again = df.where("id >= 0")

        assert "InMemoryTableScan" in again._jdf.queryExecution().executedPlan().toString()
        assert again.count() == rows_of > 0
    finally:
        df.unpersist()


def test_rows_beyond_what_an_int_can_count_are_none_of_those_with_bits(spark: SparkSession) -> None:
    """No file here has so many; what finds the bit of a row is asked about rows of one that has."""
    far, gone = 2**33, DeletedRows.from_rows([5, 67])
    words = apply_deletion_vectors.concatenate_bitmaps([DeletedRows.from_rows(range(64)), gone], at_most=3)
    assert words is not None
    numbered = spark.range(70).union(spark.range(far, far + 70)).union(spark.range(2**31 - 70, 2**31))
    word_at, place = bitmap_literal.word_lookup(spark, words.packed), F.lit(words.places[1])

    live = numbered.where(apply_deletion_vectors.is_live(word_at, place, F.col("id"))).collect()

    assert {row.id for row in numbered.collect()} - {row.id for row in live} == {5, 67}


def test_rows_without_an_index_are_refused(spark: SparkSession) -> None:
    word_at = bitmap_literal.word_lookup(spark, native_endian("long", [1]))
    unnumbered = spark.sql("SELECT CAST(NULL AS BIGINT) AS id FROM range(1)")

    with pytest.raises(PySparkException, match="does not number its rows"):
        unnumbered.where(apply_deletion_vectors.is_live(word_at, F.lit(64), F.col("id"))).collect()
