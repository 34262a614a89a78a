"""One writer, one handle, one prepared file a commit.

The sides take turns, a block of commits each, so that noise of the machine hits both; what
Headgate still has to publish at the end of a block is published before the other's turn.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Measure, Result, latencies
from benchmarks.sides import Deltalake, Headgate, Side, data_files

BLOCK = 50


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    commits = 20 if quick else 1_000
    turns = [_Turns(side, place / side.name, commits) for side in (Headgate(), Deltalake())]
    for start in range(0, commits, BLOCK):
        for turn in turns:
            turn.commit(slice(start, start + BLOCK))
    ours, peer = turns
    settled = commits / (ours.spent + ours.settling)
    yield Result(
        "serial commits",
        ours.measure(),
        peer.measure(),
        (f"{commits} commits each; ours {latencies(ours.seconds)}; with all published {settled:,.0f}/s",),
    )


class _Turns:
    def __init__(self, side: Side, folder: Path, commits: int) -> None:
        self._files = data_files(side.create(folder), "serial", commits + 1)
        self._writer = side.open(folder)
        self._writer.commit(self._files[commits])
        self.seconds: list[float] = []
        self.settling = 0.0

    @property
    def spent(self) -> float:
        return sum(self.seconds)

    def commit(self, block: slice) -> None:
        for file in self._files[:-1][block]:
            began = time.perf_counter()
            assert self._writer.commit(file)
            self.seconds.append(time.perf_counter() - began)
        began = time.perf_counter()
        self._writer.settle()
        self.settling += time.perf_counter() - began

    def measure(self) -> Measure:
        return Measure(len(self.seconds) / self.spent)
