"""Writing a checkpoint of a table of a million files, from nothing; the same table for both.

The table has a checkpoint already, and a few commits after it. Both open it and write another.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

from deltalake import DeltaTable

from benchmarks import fresh
from benchmarks.fresh import Call
from benchmarks.open_checkpoint import write_checkpoint
from benchmarks.report import Measure, Result
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from tests.support import tables

_COMMITS = 5


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    files, rounds = (200, 1) if quick else (1_000_000, 2)
    location = place / "table"
    write_checkpoint(str(location), files)
    table = tables.open_filesystem(str(location))
    for number in range(_COMMITS):
        table.commit(tables.append_change(tables.named_file(f"more-{number}")), base=table.newest_known())
    calls: dict[str, list[Call]] = {"ours": [], "theirs": []}
    sizes: dict[str, int] = {}
    for _ in range(rounds):
        for side, write in (("ours", _checkpoint), ("theirs", _peer_checkpoint)):
            copy = place / side
            shutil.copytree(location, copy)
            call = fresh.call(write, str(copy))
            written = copy / file_names.classic_checkpoint_path(Version(call.answer))
            assert (
                tables.open_filesystem(str(copy)).snapshot().files.without_stats.num_rows == files + _COMMITS
            )
            calls[side].append(call)
            sizes[side] = written.stat().st_size
            shutil.rmtree(copy)
    ours, theirs = (fresh.middle(calls[side]) for side in ("ours", "theirs"))
    megabytes = " and ".join(f"{sizes[side] / 1e6:,.1f} MB" for side in ("ours", "theirs"))
    notes = (fresh.described(ours, theirs), f"the files written have {megabytes}")
    name = f"checkpoint {files:,} files"
    yield Result(name, Measure(1 / ours.seconds), Measure(1 / theirs.seconds), notes)


def _checkpoint(location: str) -> int:
    return tables.open_filesystem(location).checkpoint()


def _peer_checkpoint(location: str) -> int:
    table = DeltaTable(location)
    table.create_checkpoint()
    return table.version()
