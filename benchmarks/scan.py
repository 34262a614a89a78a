"""Reading a table with Spark: rows, plans of many files, and deleted rows.

The peer is Spark itself, given the same files by their paths in the same session. It has no log to
read, and it shows deleted rows.
"""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from benchmarks import deleted_rows, pairs
from benchmarks.pairs import Action, millis
from benchmarks.report import Measure, Result
from headgate import Table
from headgate.spark.scan.classic_file_index import ROW_INDEX
from tests.support import handmade

_JAVA = Path(sys.prefix) / "java-home"
_CONF = {
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}
_LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_COLUMNS = "id long, customer long, amount double, quantity int, country string"


def _sums(df: DataFrame) -> object:
    return df.agg(F.sum("id"), F.sum("customer"), F.sum("amount"), F.sum("quantity")).collect()


def _filter(df: DataFrame) -> object:
    return df.where("customer % 1000 = 7 and quantity > 10").agg(F.count("*"), F.sum("id")).collect()


def _groups(df: DataFrame) -> object:
    return df.groupBy("country").agg(F.count("*"), F.sum("quantity")).orderBy("country").collect()


_QUERIES = {"sum": _sums, "filter": _filter, "group by": _groups}
_OF_NUMBERS = {
    "numbered": f"{ROW_INDEX.name} >= 0",
    "numbered, 5 % dropped": f"({ROW_INDEX.name} * 7919 & 1023) >= 51",
}


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, files, many, rounds = (2_000, 2, 20, 1) if quick else (32_000_000, 80, 20_000, 9)
    queries = ["sum"] if quick else list(_QUERIES)
    spark = session()
    try:
        table = write_table(spark, place / "rows", rows, files)
        yield from _scans(spark, table, "scan", queries, rounds)
        deleted = deleted_rows.from_every_file(table, place / "deleted")
        yield from _scans(spark, deleted, "5 % deleted", queries, rounds)
        yield from _numbered(spark, deleted_rows.paths(deleted), queries, rounds)
        yield _plan(spark, place / "many", many, rounds=min(rounds, 3))
    finally:
        spark.stop()


def _scans(
    spark: SparkSession, table: Table, label: str, queries: Sequence[str], rounds: int
) -> Iterator[Result]:
    """The queries, each on a DataFrame that is defined once and beforehand."""
    paths = deleted_rows.paths(table)
    began = time.perf_counter()
    ours = table.read(spark=spark)
    defined = time.perf_counter()
    peer = spark.read.schema(_COLUMNS).parquet(*paths)
    spent = f"to define it: ours {millis(defined - began)}, theirs {millis(time.perf_counter() - defined)}"
    assert ours.count() == deleted_rows.live_rows(table)
    for name in queries:
        query = _QUERIES[name]
        found = pairs.compare(
            lambda q=query: q(ours), lambda q=query: q(peer), rounds, warm_up=-(-rounds // 3)
        )
        yield found.result(f"{label}, {name}", f"{len(paths)} files; {spent}")


def _numbered(
    spark: SparkSession, paths: Sequence[str], queries: Sequence[str], rounds: int
) -> Iterator[Result]:
    """Spark alone, which numbers rows, and drops some by a sum: what any reader of vectors pays for that."""
    peer = spark.read.schema(_COLUMNS).parquet(*paths)
    numbered = spark.read.schema(f"{_COLUMNS}, {ROW_INDEX.name} long").parquet(*paths)
    for (label, kept), name in product(_OF_NUMBERS.items(), queries):
        query, rows = _QUERIES[name], numbered.where(kept)
        found = pairs.compare(
            lambda q=query, df=rows: q(df),
            lambda q=query: q(peer),
            rounds,
            warm_up=-(-rounds // 3),
            control=False,
        )
        yield found.result(f"{label}, {name}", f"Spark alone, the same files: {kept}")


def _plan(spark: SparkSession, location: Path, files: int, *, rounds: int) -> Result:
    """From nothing, the log unread, to the tasks of a scan; no row is read."""
    _many_files(location, files)
    known = headgate.at_path(location)
    paths = deleted_rows.paths(known)

    def peer() -> object:
        return _tasks(spark.read.schema("id long").parquet(*paths))

    def tuned() -> object:
        spark.conf.set(_LISTING, "4")
        try:
            return peer()
        finally:
            spark.conf.unset(_LISTING)

    sides = [lambda: _tasks(headgate.at_path(location).read(spark=spark)), peer]
    defined = known.read(spark=spark)
    others = [
        lambda: _tasks(known.read(spark=spark)),
        lambda: _tasks(defined.where("id > 1000")),
        tuned,
    ]
    ours, theirs, opened, skipped, listed = _best([*sides, *others], rounds)
    note = (
        f"the log known {millis(opened)}; a later filter that leaves no file {millis(skipped)}; "
        f"theirs with {_LISTING}=4 {millis(listed)}"
    )
    return _compared(f"plan {files:,} files", (ours, theirs), note)


def _tasks(df: DataFrame) -> int:
    return int(df.rdd.getNumPartitions())


def _best(sides: Sequence[Action], rounds: int) -> tuple[float, ...]:
    """The best time of each side. They take turns, each round the other way round; a third is warm-up."""
    order = list(range(len(sides)))
    seconds: list[list[float]] = [[] for _ in sides]
    for turn in range(rounds):
        for side in order if turn % 2 else reversed(order):
            seconds[side].append(pairs.timed(sides[side]))
    return tuple(min(some[rounds // 3 :]) for some in seconds)


def _compared(name: str, seconds: Sequence[float], note: str) -> Result:
    ours, peer = seconds
    both = f"ours {millis(ours)}, theirs {millis(peer)}"
    return Result(name, Measure(1 / ours), Measure(1 / peer), (f"{both}; {note}",), peer_name="spark")


def write_table(spark: SparkSession, location: Path, rows: int, files: int) -> Table:
    """A table of so many rows in so many files."""
    mixed = F.col("id") * 7_919 % 1_000_003
    df = spark.range(0, rows, 1, files).select(
        "id",
        mixed.alias("customer"),
        (mixed / 100).alias("amount"),
        (F.col("id") % 50).cast("int").alias("quantity"),
        F.format_string("c%03d", mixed % 200).alias("country"),
    )
    table = headgate.at_path(location, columns=_COLUMNS)
    table.append(df)
    return table


def _many_files(location: Path, files: int) -> None:
    """A table of many files, which all are links to one."""
    location.mkdir()
    first = location / "first.parquet"
    pq.write_table(pa.table({"id": pa.array(range(10), pa.int64())}), first)
    stats = {"numRecords": 10, "minValues": {"id": 0}, "maxValues": {"id": 9}, "nullCount": {"id": 0}}
    text = msgspec.json.encode(stats).decode()
    adds = [
        deleted_rows.link(first, location, f"part-{number:05d}.parquet", stats=text)
        for number in range(files)
    ]
    handmade.write_log(location, [handmade.column("id", "long")], adds)


def session(more: Mapping[str, str] = MappingProxyType({})) -> SparkSession:
    """A session for benchmarks, the same for all of a process that need one."""
    if _JAVA.exists():
        os.environ.setdefault("JAVA_HOME", _JAVA.read_text().strip())
    builder = SparkSession.builder.master("local[2]").appName("headgate-benchmarks")
    for name, value in {**_CONF, **more}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
