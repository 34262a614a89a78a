"""Opening a table whose log is a checkpoint of a million files, from nothing; the same table for both.

The peer loads every file when it opens the table. Headgate does when somebody asks for files, and
statistics when somebody asks for these; both are measured.
"""

import json
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from benchmarks import fresh
from benchmarks.fresh import Call
from benchmarks.report import Measure, Result
from headgate.protocol.actions import CommitInfo, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.predicates.tree import Column, Compare, Op
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from tests.support import tables

_VERSION = Version(10)
_SCHEMA = Struct(
    (
        Field("id", Primitive("long")),
        Field("customer", Primitive("long")),
        Field("day", Primitive("date")),
        Field("amount", Primitive("double")),
        Field("country", Primitive("string")),
        Field("product", Primitive("string")),
        Field("quantity", Primitive("integer")),
    )
)
_ID = Column(("id",), Primitive("long"))
_TEXTS = pa.map_(pa.string(), pa.string())
_FORMAT = pa.struct([("provider", pa.string()), ("options", _TEXTS)])
_CHECKPOINT = pa.schema(
    {
        "protocol": pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]),
        "metaData": pa.struct(
            [
                ("id", pa.string()),
                ("format", _FORMAT),
                ("schemaString", pa.string()),
                ("partitionColumns", pa.list_(pa.string())),
                ("configuration", _TEXTS),
                ("createdTime", pa.int64()),
            ]
        ),
        "add": pa.struct(
            [
                ("path", pa.string()),
                ("partitionValues", _TEXTS),
                ("size", pa.int64()),
                ("modificationTime", pa.int64()),
                ("dataChange", pa.bool_()),
                ("stats", pa.string()),
            ]
        ),
    }
)
_PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
_METADATA = {
    "id": "11111111-1111-1111-1111-111111111111",
    "format": {"provider": "parquet", "options": []},
    "schemaString": schema_json.render(_SCHEMA),
    "partitionColumns": [],
    "configuration": [],
    "createdTime": 1,
}
_BATCH = 50_000
_WANTED = (50_500, 150_500)


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    files, rounds = (200, 1) if quick else (1_000_000, 3)
    location = str(place / "table")
    write_checkpoint(location, files)
    sides = (_small_state, _live_files, _peer_open, _prune, _peer_prune)
    calls: dict[Any, list[Call]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            calls[side].append(fresh.call(side, location))
    state, ours, peer = (fresh.middle(calls[side]) for side in sides[:3])
    assert ours.answer == files
    yield _compared(f"open {files:,} files", ours, peer)
    yield _compared("open, schema only", state, peer)
    for turn, name in enumerate(("open, find a file", "find another file")):
        spent = [median(call.answer[turn] for call in calls[side]) for side in (_prune, _peer_prune)]
        note = f"ours {1000 * spent[0]:,.1f} ms, theirs {1000 * spent[1]:,.0f} ms"
        yield Result(name, Measure(1 / spent[0]), Measure(1 / spent[1]), (note,))


def _compared(name: str, ours: Call, peer: Call) -> Result:
    return Result(name, Measure(1 / ours.seconds), Measure(1 / peer.seconds), (fresh.described(ours, peer),))


def _small_state(location: str) -> int:
    return tables.open_filesystem(location).snapshot().version


def _live_files(location: str) -> int:
    return int(tables.open_filesystem(location).snapshot().files.without_stats.num_rows)


def _peer_open(location: str) -> int:
    return DeltaTable(location).version()


def _prune(location: str) -> tuple[float, ...]:
    """Open the table and find the file that can have an id, then that of another one: the time of each."""
    moments = [time.perf_counter()]
    bounds = tables.open_filesystem(location).snapshot().bounds
    for wanted in _WANTED:
        assert bounds.files.filter(data_skipping.keep_mask(bounds, Compare(_ID, Op.EQ, wanted))).num_rows == 1
        moments.append(time.perf_counter())
    return tuple(later - earlier for earlier, later in pairwise(moments))


def _peer_prune(location: str) -> tuple[float, ...]:
    moments = [time.perf_counter()]
    table = DeltaTable(location)
    for wanted in _WANTED:
        assert len(table.file_uris(file_pruning_predicate=f"id = {wanted}")) == 1
        moments.append(time.perf_counter())
    return tuple(later - earlier for earlier, later in pairwise(moments))


def write_checkpoint(location: str, files: int) -> None:
    """A table that consists of one checkpoint, statistics as JSON, and the commit of its version."""
    log = Path(location, file_names.LOG_FOLDER)
    log.mkdir(parents=True)
    parts = [pa.Table.from_pylist([{"protocol": _PROTOCOL}, {"metaData": _METADATA}], schema=_CHECKPOINT)]
    for start in range(0, files, _BATCH):
        adds = [_add(number) for number in range(start, min(files, start + _BATCH))]
        parts.append(pa.table({"add": pa.array(adds, _CHECKPOINT.field("add").type)}))
    whole = pa.concat_tables(parts, promote_options="default")
    pq.write_table(whole, log / f"{_VERSION:020d}.checkpoint.parquet")
    Path(location, file_names.LAST_CHECKPOINT).write_text(
        json.dumps({"version": _VERSION, "size": files + 2})
    )
    Path(location, file_names.published_path(_VERSION)).write_bytes(
        codec.encode([CommitInfo(operation="WRITE")])
    )


def _add(number: int) -> dict[str, Any]:
    """A file of a thousand rows; ids grow with the files, all else varies."""
    low, day = 1_000 * number, f"20{number % 30:02d}-{1 + number % 12:02d}-{1 + number % 28:02d}"
    mixed = number * 7_919 % 1_000_003
    least = {
        "id": low, "customer": mixed, "day": day, "amount": mixed / 100,
        "country": f"c{number % 200:03d}", "product": f"product-{mixed % 5_000:05d}", "quantity": number % 50,
    }  # fmt: skip
    most = {
        "id": low + 999, "customer": mixed + 5_000, "day": day, "amount": mixed / 100 + 1_000,
        "country": f"c{number % 200 + 40:03d}", "product": f"product-{mixed % 5_000 + 900:05d}",
        "quantity": number % 50 + 50,
    }  # fmt: skip
    stats = {"numRecords": 1_000, "minValues": least, "maxValues": most, "nullCount": dict.fromkeys(least, 0)}
    return {
        "path": f"part-{number % 1_000:05d}-{mixed:08x}-{number:08x}-c000.snappy.parquet",
        "partitionValues": [],
        "size": 100_000 + mixed,
        "modificationTime": 1_700_000_000_000 + number,
        "dataChange": True,
        "stats": msgspec.json.encode(stats).decode(),
    }
