"""Eight writers, a thousand tables: each commit opens a table that chance chose and appends one file to it.

Every commit is to a handle of its own, as of jobs that come and go. The files are only names, because
nobody reads them. The sides take turns, a round each; background publishing is waited for, and not counted.
"""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random
from typing import Protocol

import headgate
from benchmarks.report import Measure, Result, latencies
from benchmarks.sides import Deltalake
from headgate.catalog.ports.directory import TableName
from headgate.errors import ConflictError
from headgate.lake.lake import Lake
from tests.support import tables

PATIENCE_SECONDS = 600

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["benchmarks.many_tables"])


class _Side(Protocol):
    name: str

    def create(self, folder: Path, count: int) -> None:
        """Make this many tables."""
        ...

    def append(self, folder: Path, number: int, file: str) -> bool:
        """Open a table and append a file; whether it landed."""
        ...

    def settle(self, folder: Path) -> None:
        """Finish what goes on in the background."""
        ...


class _Headgate:
    name = "headgate"

    def create(self, folder: Path, count: int) -> None:
        with closing(headgate.connect(folder)) as lake:
            for number in range(count):
                tables.create_managed(lake._catalog, TableName("s", f"t{number}"))

    def append(self, folder: Path, number: int, file: str) -> bool:
        table = _lake(folder).table(f"s.t{number}").log
        try:
            table.commit(tables.append_change(tables.named_file(file)), base=table.newest_known())
        except ConflictError:
            return False
        return True

    def settle(self, folder: Path) -> None:
        _lake(folder).close()


class _Deltalake:
    name = "deltalake"

    def create(self, folder: Path, count: int) -> None:
        for number in range(count):
            Deltalake().create(folder / f"t{number}")

    def append(self, folder: Path, number: int, file: str) -> bool:
        return Deltalake().open(folder / f"t{number}").commit(tables.named_file(file))

    def settle(self, folder: Path) -> None:
        pass


@cache
def _lake(folder: Path) -> Lake:
    """One for a process, as a job has."""
    return headgate.connect(folder)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one writer does."""

    side: _Side
    folder: Path
    writer: int
    tables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Tally:
    """What became of it."""

    began: float
    ended: float
    seconds: tuple[float, ...]


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    count, writers, commits, rounds = (5, 2, 4, 1) if quick else (1_000, 8, 100, 2)
    sides: tuple[_Side, _Side] = (_Headgate(), _Deltalake())
    for side in sides:
        side.create(place / side.name, count)
    rates: dict[str, list[tuple[int, float]]] = {side.name: [] for side in sides}
    seconds: list[float] = []
    for turn in range(rounds):
        for side in sides:
            shares = [
                _Share(side, place / side.name, writer, _chosen(count, commits, seed=turn * writers + writer))
                for writer in range(writers)
            ]
            tallies = _in_processes(shares)
            elapsed = max(tally.ended for tally in tallies) - min(tally.began for tally in tallies)
            rates[side.name].append((sum(len(tally.seconds) for tally in tallies), elapsed))
            if side is sides[0]:
                seconds.extend(second for tally in tallies for second in tally.seconds)
    asked = rounds * writers * commits
    ours, peer = (_measure(rates[side.name], asked) for side in sides)
    yield Result(
        f"{count:,} tables by {writers}",
        ours,
        peer,
        (f"{asked} commits each, opening included; ours {latencies(seconds)}",),
    )


def _chosen(count: int, commits: int, *, seed: int) -> tuple[int, ...]:
    random = Random(seed)
    return tuple(random.randrange(count) for _ in range(commits))


def _measure(rounds: list[tuple[int, float]], asked: int) -> Measure:
    landed = sum(landed for landed, _ in rounds)
    return Measure(landed / sum(elapsed for _, elapsed in rounds), landed / asked)


def _in_processes(shares: list[_Share]) -> list[_Tally]:
    together, answers = _PROCESSES.Barrier(len(shares)), _PROCESSES.Queue()
    processes = [_PROCESSES.Process(target=_work, args=(share, together, answers)) for share in shares]
    for process in processes:
        process.start()
    tallies: list[_Tally] = [answers.get(timeout=PATIENCE_SECONDS) for _ in shares]
    for process in processes:
        process.join()
    return tallies


def _work(share: _Share, together: Barrier, answers: "Queue[_Tally]") -> None:
    side = share.side
    side.append(share.folder, share.tables[0], f"warm-{share.writer}-{time.time_ns()}")
    together.wait(PATIENCE_SECONDS)
    seconds, began = [], time.monotonic()
    for at, number in enumerate(share.tables):
        start = time.perf_counter()
        if side.append(share.folder, number, f"{share.writer}-{at}-{time.time_ns()}"):
            seconds.append(time.perf_counter() - start)
    answers.put(_Tally(began, time.monotonic(), tuple(seconds)))
    side.settle(share.folder)
