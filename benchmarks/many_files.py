"""A query that is repeated over a table of very many files, each time on a DataFrame made anew.

It looks for one id, so of all files one is read: what is measured is how long it takes to find that out.
The peers are Delta Spark, if its jars are there, and Headgate itself when it opens the table for each query.
Everything runs in a process of its own, because a session takes jars only when it starts.
"""

import json
import os
import sys
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import headgate
from benchmarks import fresh, pairs
from benchmarks import scan as scans
from benchmarks.pairs import Action, Paired, millis
from benchmarks.report import Result
from headgate.protocol.actions import AddFile, EpochMillis
from tests.support import handmade

JARS = "HEADGATE_DELTA_JARS"
"""Of the environment: a folder with the jars of Delta Spark, if not the one that tests fetch them to."""
_FETCHED = "delta-spark-*"
_NEEDED = ("delta-*.jar", "jts-core-*.jar", "unitycatalog-*.jar")
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Fifty unless told, which two cores take long for.
    "spark.databricks.delta.snapshotPartitions": "2",
}
_ROWS = 10


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    files, rounds = (50, 1) if quick else (200_000, 7)
    location = place / "t"
    _write(location, files)
    asked = {"location": str(location), "files": files, "rounds": rounds}
    answer = fresh.call(measure, json.dumps(asked)).answer
    name = f"one id of {files:,} files, again"
    if answer["delta"]:
        yield Paired(**answer["delta"]).result(name, peer_name="delta spark")
    opened = Paired(**answer["opened"])
    note = f"the first of all took {millis(answer['first'])}, the DataFrame alone {millis(answer['defined'])}"
    yield opened.result(name, note, peer_name="opened each time")


def measure(text: str) -> dict[str, Any]:
    """The seconds of all sides, in one session."""
    asked = json.loads(text)
    location, files, rounds = asked["location"], asked["files"], asked["rounds"]
    jars = _jars()
    spark = _session(jars)
    table = headgate.at_path(location)
    wanted = f"id = {_existing(files)[-1] * _ROWS}"

    def ours() -> object:
        return _found(table.read(spark=spark).where(wanted))

    def opened() -> object:
        return _found(headgate.at_path(location).read(spark=spark).where(wanted))

    def delta() -> object:
        return _found(spark.read.format("delta").load(location).where(wanted))

    first = pairs.timed(ours)
    return {
        "first": first,
        "opened": _seconds(ours, opened, rounds),
        "delta": _seconds(ours, delta, rounds) if jars else None,
        "defined": median(pairs.timed(lambda: table.read(spark=spark)) for _ in range(rounds)),
    }


def _seconds(ours: Action, peer: Action, rounds: int) -> dict[str, Any]:
    found = pairs.compare(ours, peer, rounds, warm_up=2, control=False)
    return {"ours": list(found.ours), "peer": list(found.peer)}


def _found(df: DataFrame) -> object:
    rows = df.collect()
    if len(rows) != 1:
        raise AssertionError(f"one row has this id, not {len(rows)}")
    return rows


def _jars() -> list[str]:
    fetched = sorted(glob(str(Path(sys.prefix) / _FETCHED / "")))
    folder = os.environ.get(JARS) or (fetched[-1] if fetched else None)
    return [] if folder is None else [jar for name in _NEEDED for jar in glob(str(Path(folder) / name))]


def _session(jars: list[str]) -> SparkSession:
    return scans.session({**_DELTA, "spark.jars": ",".join(jars)} if jars else {})


def _existing(files: int) -> tuple[int, ...]:
    """Which files are there: those that the queries read."""
    return (files // 2,)


def _write(location: Path, files: int) -> None:
    location.mkdir()
    adds = [_add(location, number, exists=number in _existing(files)) for number in range(files)]
    handmade.write_log(location, [handmade.column("id", "long")], adds)
    headgate.at_path(location).checkpoint()


def _add(location: Path, number: int, *, exists: bool) -> AddFile:
    name, first = f"part-{number:06d}-5f3c0b2e-8d1a-4f0e-9a77-c000.snappy.parquet", number * _ROWS
    last = first + _ROWS - 1
    if exists:
        pq.write_table(pa.table({"id": pa.array(range(first, last + 1), pa.int64())}), location / name)
    bounds = {"minValues": {"id": first}, "maxValues": {"id": last}}
    told = {"numRecords": _ROWS, **bounds, "nullCount": {"id": 0}}
    return AddFile(
        path=name,
        partition_values={},
        size=(location / name).stat().st_size if exists else 1_000,
        modification_time=EpochMillis(1_700_000_000_000 + number),
        data_change=True,
        stats=msgspec.json.encode(told).decode(),
    )
