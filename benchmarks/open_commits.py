"""Opening a table of many small commits and listing its files, from nothing; the same table for both."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from benchmarks import fresh
from benchmarks.fresh import Call
from benchmarks.report import Measure, Result
from headgate.protocol.actions import CommitInfo, EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.read import snapshot
from tests.support import tables

Side = Callable[[str], Any]


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    commits, rounds = (20, 1) if quick else (10_000, 5)
    location = str(place / "table")
    _write(location, commits)
    sides = (_open, _peer_open, _update, _peer_update)
    calls: dict[Side, list[Call]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            calls[side].append(fresh.call(side, location))
    ours, peer = fresh.middle(calls[_open]), fresh.middle(calls[_peer_open])
    assert ours.answer == peer.answer == commits
    updates = (1000 * min(call.answer for call in calls[side]) for side in (_update, _peer_update))
    yield Result(
        f"open {commits:,} commits",
        Measure(1 / ours.seconds),
        Measure(1 / peer.seconds),
        (fresh.described(ours, peer), "one commit later: ours {:.1f} ms, theirs {:.1f} ms".format(*updates)),
    )


def _write(location: str, commits: int) -> None:
    tables.create_filesystem(locate(location))
    for number in range(1, commits + 1):
        info = CommitInfo(
            timestamp=EpochMillis(number),
            operation="WRITE",
            operation_parameters={"mode": "Append", "partitionBy": "[]"},
            operation_metrics={"numFiles": "1", "numOutputRows": "1", "numOutputBytes": "1"},
            is_blind_append=True,
        )
        content = codec.encode((info, tables.named_file(f"part-{number:05d}-c000.snappy.parquet")))
        # Not through the store: to sync each of them takes minutes, and says nothing about reading.
        Path(location, file_names.published_path(Version(number))).write_bytes(content)


def _open(location: str) -> int:
    return int(tables.open_filesystem(location).snapshot().files.columns.num_rows)


def _peer_open(location: str) -> int:
    return len(DeltaTable(location).file_uris())


def _update(location: str) -> float:
    """As with a catalog, which says how far the table reaches: nothing is listed."""
    store = locate(location)
    frontier = FilesystemCommitter(store).frontier()
    known = snapshot.load_snapshot(store, frontier, target=Version(frontier.latest - 1))
    assert known.files.columns.num_rows
    began = time.perf_counter()
    assert snapshot.load_snapshot(store, frontier, known=known).files.columns.num_rows
    return time.perf_counter() - began


def _peer_update(location: str) -> float:
    table = DeltaTable(location, version=DeltaTable(location).version() - 1)
    began = time.perf_counter()
    table.update_incremental()
    return time.perf_counter() - began
