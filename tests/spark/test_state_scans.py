"""Scans and totals of a table whose log Spark replays: the same as in process, at the same driver's cost."""

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Settings
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version
from headgate.spark.predicates import from_column
from headgate.spark.predicates.file_filter import FileFilter
from headgate.spark.scan import cluster_replay, scan
from headgate.table.opened_table import OpenedTable
from tests.support.logs import sales

pytestmark = pytest.mark.spark

BY_SPARK = Settings(spark_replay_bytes=-1)


CONDITIONS = [None, "id = 25", "id BETWEEN 18 AND 31", "day = '2026-01-02'", "day > '2026-01-02' AND id < 60",
              "id IN (5, 95, 200)", "id < 0", "id IS NULL", "length(day) > 3 OR id = 1"]  # fmt: skip


@pytest.mark.parametrize("parsed", [False, True], ids=["JSON statistics", "statistics as columns"])
@pytest.mark.parametrize("where", CONDITIONS)
def test_a_scan_reads_the_same_files_and_rows(
    spark: SparkSession, tmp_path: Path, where: str | None, parsed: bool
) -> None:
    sales(tmp_path, parsed=parsed)
    here, there = headgate.at_path(tmp_path), headgate.at_path(tmp_path, settings=BY_SPARK)

    expected, found = here.read(where=where, spark=spark), there.read(where=where, spark=spark)

    assert found.schema == expected.schema
    assert sorted(found.collect()) == sorted(expected.collect())
    assert sorted(found.inputFiles()) == sorted(expected.inputFiles())


def test_only_files_that_may_match_come_to_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    for parsed in (False, True):
        place = tmp_path / str(parsed)
        sales(place, parsed=parsed)
        log = headgate.at_path(place).log
        known = scan.scan_columns(log.snapshot().state.metadata)
        wanted = from_column.to_predicate("id BETWEEN 18 AND 31", known.schema, spark)

        found = cluster_replay.candidates(spark, log, Version(2), FileFilter(wanted, known))

        assert sorted(found.columns["path"].to_pylist()) == ["1.parquet", "2.parquet", "3.parquet"]


def test_the_size_of_the_checkpoint_decides_who_replays(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales(tmp_path)
    size = (tmp_path / "_delta_log" / f"{0:020d}.checkpoint.parquet").stat().st_size
    asked: list[Version] = []
    replay = cluster_replay.candidates

    def recording(session: SparkSession, table: OpenedTable, version: Version, *rest: Any) -> Any:
        asked.append(version)
        return replay(session, table, version, *rest)

    monkeypatch.setattr(cluster_replay, "candidates", recording)

    for limit in (size, size - 1):
        table = headgate.at_path(tmp_path, settings=Settings(spark_replay_bytes=limit))
        assert table.read(spark=spark).count() == 110
        assert table.read(version=1, spark=spark).count() == 120

    assert asked == [2, 1]


def test_too_many_files_are_refused_with_a_way_out(spark: SparkSession, tmp_path: Path) -> None:
    sales(tmp_path)
    table = headgate.at_path(tmp_path, settings=replace(BY_SPARK, scan_files_limit=3))

    assert table.read(where="id BETWEEN 18 AND 31", spark=spark).count() == 14
    with pytest.raises(InvalidRequest, match=r"more than 3 files.*where=.*scan_files_limit"):
        table.read(spark=spark)


def test_detail_counts_without_collecting(spark: SparkSession, tmp_path: Path) -> None:
    sales(tmp_path)

    (expected,) = headgate.at_path(tmp_path).detail(spark=spark).collect()
    limited = headgate.at_path(tmp_path, settings=replace(BY_SPARK, scan_files_limit=1))
    (found,) = limited.detail(spark=spark).collect()

    assert found == expected
    assert found["numFiles"] == 11


MANY = 100_000


def test_the_driver_does_not_hold_the_files_it_does_not_read(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "many"
    sales(place)
    many_files(place)
    pool, usual = pa.system_memory_pool(), pa.default_memory_pool()

    def peak(work: Callable[[], Any]) -> int:
        pa.set_memory_pool(pool)
        tracemalloc.start()
        before = pool.max_memory()
        try:
            work()
            return tracemalloc.get_traced_memory()[1] + pool.max_memory() - before
        finally:
            tracemalloc.stop()
            pa.set_memory_pool(usual)

    table = headgate.at_path(place, settings=BY_SPARK)
    by_spark = peak(lambda: table.read(where="id = 25", spark=spark).inputFiles())
    counted = peak(lambda: table.detail(spark=spark).collect())
    in_process = peak(lambda: headgate.at_path(place).read(where="id = 25", spark=spark).inputFiles())

    assert (by_spark, counted) < (16 << 20, 16 << 20) < (in_process, in_process)


def many_files(place: Path) -> None:
    """A checkpoint of version 2 with as many files as MANY, of which one has the id 25."""
    path = place / "_delta_log" / f"{0:020d}.checkpoint.parquet"
    known = pq.read_table(path)
    head = known.slice(0, 2)
    ids = range(MANY)
    fields = {
        "path": pa.array([f"part-{number:08d}-c000.snappy.parquet" for number in ids]),
        "partitionValues": pa.array([[("day", "2026-01-01")]] * MANY, pa.map_(pa.string(), pa.string())),
        "size": pa.array([1] * MANY, pa.int64()),
        "modificationTime": pa.array([1] * MANY, pa.int64()),
        "stats": pa.array(
            [
                f'{{"numRecords":1,"minValues":{{"id":{number}}},"maxValues":{{"id":{number}}}}}'
                for number in ids
            ]
        ),
    }
    adds = pa.StructArray.from_arrays(list(fields.values()), names=list(fields))
    rows = pa.table({"add": adds}).cast(pa.schema([known.schema.field("add")]))
    pq.write_table(
        pa.concat_tables([head, rows], promote_options="default"),
        place / "_delta_log" / f"{2:020d}.checkpoint.parquet",
    )
