"""Opening a table of many small commits and listing its files, from nothing; the same table for both."""

import time
from collections.abc import Iterator
from pathlib import Path

from deltalake import DeltaTable

from benchmarks.report import Measure, Result
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from tests.support import tables

_QUIET = Settings(publish=Publish.ON_DEMAND)


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    commits, rounds = (20, 2) if quick else (1_000, 5)
    location = str(place / "table")
    tables.create_filesystem(locate(location))
    writer = tables.open_filesystem(location, settings=_QUIET)
    for number in range(commits):
        change = tables.append_change(tables.named_file(f"{number}.parquet"))
        writer.commit(change, base=writer.newest_known())

    spent = {_ours: 0.0, _peer: 0.0}
    for _ in range(rounds):
        for load in spent:
            began = time.perf_counter()
            assert load(location) == commits
            spent[load] += time.perf_counter() - began
    yield Result(
        f"load {commits:,} commits",
        Measure(rounds / spent[_ours]),
        Measure(rounds / spent[_peer]),
        (f"ours {1000 * spent[_ours] / rounds:.0f} ms, theirs {1000 * spent[_peer] / rounds:.0f} ms a load",),
    )


def _ours(location: str) -> int:
    return int(tables.open_filesystem(location).snapshot().files.columns.num_rows)


def _peer(location: str) -> int:
    return len(DeltaTable(location).file_uris())
