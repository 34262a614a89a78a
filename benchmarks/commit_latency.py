"""Whether a commit takes as long after 10,000 commits as after 100: one writer, one handle, the defaults.

Checkpoints, checksums and publishing go on in the background. The files that are committed are
only names, because nobody reads them. Whether the table or the machine has become slower is told
apart in two ways: by the processor time of the committing thread, and by turns with a new table
at the end. The peer does fewer commits, since each takes it longer than the one before.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.report import Measure, Result, latencies
from benchmarks.sides import Deltalake, Headgate, Side, Writer
from tests.support import tables

BLOCK = 20


@dataclass(frozen=True, slots=True)
class Spent:
    """What one commit took: on the clock, and of the processor by the thread that committed."""

    seconds: float
    cpu: float


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    ours, theirs, window = (60, 40, 10) if quick else (10_000, 1_000, 100)
    aged, writer = _history(Headgate(), place / "aged", ours, warm_up=window)
    turns = _beside_a_new_table(writer, place / "new", window, start=ours)
    writer.close()
    peer, _ = _history(Deltalake(), place / "peer", theirs, warm_up=window)
    yield Result(
        f"commit no. {ours:,}",
        Measure(1 / _clock(aged[-window:])),
        Measure(1 / _clock(peer[-window:])),
        (
            f"ours, {ours:,} commits: {_first_and_last(aged, window)}",
            f"ours, in turns with a table {window} commits old: {turns:.2f} times its median",
            f"theirs, {theirs:,} commits: {_first_and_last(peer, window)}",
        ),
    )


def _history(side: Side, folder: Path, commits: int, *, warm_up: int) -> tuple[list[Spent], Writer]:
    side.create(folder)
    writer = side.open(folder)
    _commit(writer, range(-warm_up, 0))
    spent = _commit(writer, range(commits))
    writer.settle()
    return spent, writer


def _beside_a_new_table(old: Writer, folder: Path, commits: int, *, start: int) -> float:
    """How many times the median of a table that is new but for its warm-up the old one's is."""
    _, new = _history(Headgate(), folder, 0, warm_up=commits)
    of_old, of_new = list[Spent](), list[Spent]()
    for first in range(start, start + commits, BLOCK):
        block = range(first, min(first + BLOCK, start + commits))
        for writer, spent in ((new, of_new), (old, of_old)):
            spent.extend(_commit(writer, block))
            writer.settle()
    new.close()
    return _clock(of_old) / _clock(of_new)


def _commit(writer: Writer, numbers: range) -> list[Spent]:
    spent = []
    for number in numbers:
        add = tables.named_file(f"file-{number}.parquet")
        began, cpu = time.perf_counter(), time.thread_time()
        assert writer.commit(add)
        spent.append(Spent(time.perf_counter() - began, time.thread_time() - cpu))
    return spent


def _first_and_last(spent: Sequence[Spent], window: int) -> str:
    first, last = spent[:window], spent[-window:]
    shown = (latencies([one.seconds for one in some]) for some in (first, last))
    return (
        "first {0} {1}; last {0} {2}; ".format(window, *shown)
        + f"medians {_clock(last) / _clock(first):.2f}×, of the thread's CPU {_cpu(last) / _cpu(first):.2f}×"
    )


def _clock(spent: Sequence[Spent]) -> float:
    return median(one.seconds for one in spent)


def _cpu(spent: Sequence[Spent]) -> float:
    return median(one.cpu for one in spent)
