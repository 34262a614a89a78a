"""Many writers append to one table at the same moment, blindly, one prepared file a commit.

Each writer has its own handle and commits once before the clock starts. The faster side has more to
commit, so that a round of it is not over in a moment. The sides take turns, each round with a new
table; the next side starts when the last writer of the other is gone, background publishing included.
"""

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path

from benchmarks.report import Measure, Result, latencies
from benchmarks.sides import Deltalake, Headgate, Side, data_files

PATIENCE_SECONDS = 300

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["benchmarks.sides"])


@dataclass(frozen=True, slots=True)
class Task:
    """One writer's share of a round."""

    side: Side
    folder: Path
    location: str
    number: int
    commits: int


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of one writer's commits: when it began and ended, how long each landed one took."""

    began: float
    ended: float
    asked: int
    seconds: tuple[float, ...]


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    writers, commits, rounds = (2, (3, 3), 1) if quick else (16, (60, 12), 4)
    for kind, start in (("processes", _in_processes), ("threads", _in_threads)):
        sides: tuple[Side, Side] = (Headgate(), Deltalake())
        tallies: dict[str, list[list[Tally]]] = {side.name: [] for side in sides}
        for number in range(rounds):
            for side, count in zip(sides, commits, strict=True):
                folder = place / f"{kind}-{number}-{side.name}"
                location = side.create(folder)
                tasks = [Task(side, folder, location, writer, count) for writer in range(writers)]
                tallies[side.name].append(start(tasks))
        ours, peer = (tallies[side.name] for side in sides)
        seconds = [second for tallied in ours for tally in tallied for second in tally.seconds]
        yield Result(
            f"{writers} {kind}",
            _measure(ours),
            _measure(peer),
            (f"{rounds} × {writers} × {commits} commits; ours {latencies(seconds)}",),
        )


def _measure(rounds: list[list[Tally]]) -> Measure:
    elapsed = sum(
        max(tally.ended for tally in tallies) - min(tally.began for tally in tallies) for tallies in rounds
    )
    everyone = [tally for tallies in rounds for tally in tallies]
    landed = sum(len(tally.seconds) for tally in everyone)
    return Measure(landed / elapsed, landed / sum(tally.asked for tally in everyone))


def _in_processes(tasks: list[Task]) -> list[Tally]:
    together, answers = _PROCESSES.Barrier(len(tasks)), _PROCESSES.Queue()
    processes = [_PROCESSES.Process(target=_work, args=(task, together, answers.put)) for task in tasks]
    for process in processes:
        process.start()
    tallies: list[Tally] = [answers.get(timeout=PATIENCE_SECONDS) for _ in tasks]
    for process in processes:
        process.join()
    return tallies


def _in_threads(tasks: list[Task]) -> list[Tally]:
    together, tallies = threading.Barrier(len(tasks)), list[Tally]()
    threads = [threading.Thread(target=_work, args=(task, together, tallies.append)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


def _work(task: Task, together: Barrier | threading.Barrier, answer: Callable[[Tally], None]) -> None:
    files = data_files(task.location, f"writer-{task.number}", task.commits + 1)
    writer = task.side.open(task.folder)
    while not writer.commit(files[task.commits]):
        continue
    together.wait(PATIENCE_SECONDS)
    began = time.monotonic()
    seconds = []
    for file in files[: task.commits]:
        start = time.perf_counter()
        if writer.commit(file):
            seconds.append(time.perf_counter() - start)
    answer(Tally(began, time.monotonic(), task.commits, tuple(seconds)))
    writer.settle()
