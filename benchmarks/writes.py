"""Writing with Spark: append, OPTIMIZE and clustering beside Spark writing the same rows, and lookups after.

The peer is Spark's own ``df.write.parquet`` in the same session, with the same codec, the same type of
timestamps and as many files; it has no log to write, no statistics to gather, and does not sync
what it wrote. ``HEADGATE_BENCH_ROWS`` scales the rows: all are appended, and half of them rewritten.
"""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import headgate
from benchmarks import pairs
from benchmarks.dml import COLUMNS, asked_rows, made_rows
from benchmarks.pairs import Paired, millis
from benchmarks.report import Result
from benchmarks.scan import session
from headgate import Table

_FILES = 20
_SMALL_FILES = 200
_OPTIMIZED_FILES = 8
_CLUSTERED_FILES = 128
_CLUSTERED_BY = ("customer", "quantity")
_OPTIONS = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
_LOADED = 1


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, rounds = (40_000, 1) if quick else (asked_rows() // 2, 7)
    spark = session()
    try:
        yield _appends(spark, place / "append", 2 * rows, rounds)
        yield _optimizes(spark, place / "optimize", rows, rounds)
        yield from _clusters(spark, place / "cluster", rows, rounds)
    finally:
        spark.stop()


def _appends(spark: SparkSession, place: Path, rows: int, rounds: int) -> Result:
    """The rows are computed while they are written, which is the same for both."""
    table = headgate.at_path(place / "ours", columns=COLUMNS)
    data = made_rows(spark, rows, _FILES)
    folders = _Folders(place / "theirs")
    found = pairs.compare(
        lambda: table.append(data), lambda: folders.write(data), rounds, warm_up=2, control=rounds > 1
    )
    synced = pairs.timed(folders.sync)
    folders.clear()
    note = f"{rows:,} rows in {_FILES} files; to sync one such folder, which only ours does: {millis(synced)}"
    return found.result("append", note)


def _optimizes(spark: SparkSession, place: Path, rows: int, rounds: int) -> Result:
    """The peer reads the same files, shuffles the rows into as many parts, and writes them."""
    table = headgate.at_path(place / "ours", columns=COLUMNS, properties=_target(spark, place, rows))
    table.append(made_rows(spark, rows, _SMALL_FILES))
    found, files = _rewrites(
        spark, table, place, rounds, lambda df, count: df.repartition(count), partial(table.optimize)
    )
    return found.result("optimize", f"{rows:,} rows, {_SMALL_FILES} files into {files}")


def _clusters(spark: SparkSession, place: Path, rows: int, rounds: int) -> Iterator[Result]:
    """The peer samples the rows, cuts them into as many ranges of the same columns, and writes them."""
    wanted = 8 if rounds == 1 else _CLUSTERED_FILES
    properties = _target(spark, place, rows, wanted)
    table = headgate.at_path(place / "ours", columns=COLUMNS, properties=properties, cluster_by=_CLUSTERED_BY)
    table.append(made_rows(spark, rows))
    found, files = _rewrites(
        spark,
        table,
        place,
        rounds,
        lambda df, count: df.repartitionByRange(count, *_CLUSTERED_BY),
        partial(table.optimize, full=True),
    )
    by = " and ".join(_CLUSTERED_BY)
    yield found.result("cluster", f"{rows:,} rows, {_FILES} files into {files} along Hilbert's curve of {by}")
    yield _lookups(spark, table, rounds)


def _lookups(spark: SparkSession, table: Table, rounds: int) -> Result:
    """A row by both columns; the peer is told of all files, and has parquet's own statistics to skip by."""
    where = "customer = 4711 and quantity = 7"
    paths = _paths(table)
    peer = spark.read.schema(COLUMNS).parquet(*paths)
    ours = table.read(spark=spark)
    assert ours.where(where).count() == peer.where(where).count()
    found = pairs.compare(
        lambda: ours.where(where).collect(), lambda: peer.where(where).collect(), 3 * rounds, warm_up=rounds
    )
    questions = (where, "customer = 4711", "quantity = 7")
    read = {asked: _files_read(ours.where(asked)) for asked in questions}
    shares = [
        f"{asked}: {count} of {len(paths)} files ({count / len(paths):.1%})" for asked, count in read.items()
    ]
    return found.result("clustered lookup", "; ".join(shares))


def _rewrites(
    spark: SparkSession, table: Table, place: Path, rounds: int, parted: Any, rewrite: Any
) -> tuple[Paired, int]:
    """The table's rows in other files, by us and by the peer, each time from the version that was loaded."""
    folders, before = _Folders(place / "theirs"), _paths(table)
    rewrite(spark=spark)
    files = len(_paths(table))
    ours: list[float] = []
    theirs: list[float] = []
    for number in range(-1 if rounds > 1 else 0, rounds):
        table.restore(version=_LOADED)
        source = parted(spark.read.schema(COLUMNS).parquet(*before), files)
        took = {}
        for side in sorted(("ours", "theirs"), reverse=bool(number % 2)):
            act = partial(rewrite, spark=spark) if side == "ours" else partial(folders.write, source)
            took[side] = pairs.timed(act)
        folders.clear()
        if number >= 0:
            ours.append(took["ours"])
            theirs.append(took["theirs"])
    return Paired(ours, theirs), files


def _target(spark: SparkSession, place: Path, rows: int, files: int = _OPTIMIZED_FILES) -> dict[str, str]:
    """The size of files with which there will be about so many."""
    folders = _Folders(place / "measured")
    share = made_rows(spark, max(1, rows // 10), 1)
    folders.write(share)
    size = 10 * sum(file.stat().st_size for file in (place / "measured").rglob("*.parquet"))
    folders.clear()
    return {"delta.targetFileSize": str(max(1, size // files))}


class _Folders:
    """What the peer writes, a folder each time."""

    def __init__(self, root: Path) -> None:
        self._root, self._count = root, 0

    def write(self, df: DataFrame) -> None:
        self._count += 1
        df.write.options(**_OPTIONS).parquet(str(self._root / str(self._count)))

    def sync(self) -> None:
        """Make the last one durable."""
        for file in (self._root / str(self._count)).glob("*.parquet"):
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)

    def clear(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)


def _paths(table: Table) -> list[str]:
    files = table.log.snapshot().files.without_stats
    return [f"{table.location}/{path}" for path in files["path"].to_pylist()]


def _files_read(df: DataFrame) -> int:
    """How many files the scan of a query read, by Spark's own count."""
    df.collect()
    plan: Any = df._jdf.queryExecution().executedPlan()
    leaves = plan.collectLeaves()
    return sum(int(leaves.apply(i).metrics().apply("numFiles").value()) for i in range(leaves.size()))
