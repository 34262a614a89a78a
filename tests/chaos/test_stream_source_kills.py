"""Whoever streams two tables into a third and is killed, at any step, again and again, copies each row once.

Between the kills others append to the sources, publish them, write checkpoints and compact their logs.
``make test`` plays a few rounds, and ``make chaos ROUNDS=200`` as many as it says: in one of ten the JVM dies
too; in the others it goes on with the next program, for nothing of Headgate is in it.
"""

import os
import random
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Protocol

import pytest

import headgate
from headgate import Lake, Publish, Settings, Table
from headgate.errors import TableNotFound
from tests.chaos.zygote import Zygote
from tests.support import stream_sources
from tests.support.shared_spark import SharedSpark

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
_WHOLE = 10
"""In one of how many rounds the JVM dies too."""
FEW = ((stream_sources.COMMITTED, 2), (stream_sources.ASKED, 1))
SOURCES = ("s.source", "s.more")
_RESTS = 20
"""After how many kills a run comes to its end."""

pytestmark = pytest.mark.spark


def test_killed_at_steps_of_its_batches_a_stream_copies_each_row_once(tmp_path: Path) -> None:
    rounds = _Rounds(tmp_path, random.Random(1))
    for point, number in FEW:
        rounds.play(point, number, stream_sources.run)

    rounds.finish(stream_sources.run)

    assert rounds.kills == {point: 1 for point, _ in FEW}


@pytest.mark.slow
@pytest.mark.skipif(not ROUNDS, reason="takes long: make chaos")
def test_killed_over_and_over_a_stream_copies_each_row_once(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("HEADGATE_CHAOS_SEED", "1")))
    points = stream_sources.POINTS
    with closing(_Programs()) as programs:
        rounds = _Rounds(tmp_path, chance)
        for number in range(ROUNDS):
            run = stream_sources.run if number % _WHOLE == _WHOLE - 1 else programs.run
            rounds.play(points[(number + number // _WHOLE) % len(points)], chance.choice([1, 1, 2, 3]), run)
            if number % _RESTS == _RESTS - 1:
                rounds.finish(programs.run)
            print(f"{number + 1} rounds, killed {rounds.kills.total()}: {dict(rounds.kills)}", flush=True)

        rounds.finish(stream_sources.run)

    assert set(rounds.kills) == set(points)


class _Run(Protocol):
    """Runs the program; whether it died where it should, or came to its end."""

    def __call__(
        self, lake: Path, checkpoint: Path, *, files: int, point: str = ..., number: int = ...
    ) -> bool: ...


class _Programs:
    """Runs the program in forked processes, one after the other, in one JVM that outlives them."""

    def __init__(self) -> None:
        self._zygote = Zygote()
        self._spark = SharedSpark()
        self._number = 0

    def run(
        self, lake: Path, checkpoint: Path, *, files: int, point: str = stream_sources.NEVER, number: int = 1
    ) -> bool:
        self._number += 1
        told = (str(lake), str(checkpoint), str(files), point, str(number))
        code = self._zygote.run(stream_sources.copy_on, self._spark.address, self._number, *told)
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def close(self) -> None:
        self._spark.close()
        self._zygote.close()


class _Rounds:
    """A lake with the tables, and how often the program died where."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._lake, self._checkpoint, self._chance = folder / "lake", folder / "checkpoint", chance
        self._rows = 0
        self.kills: Counter[str] = Counter()
        with self._open() as lake:
            lake.create_schema("s")
            for name in SOURCES:
                lake.create_table(name, "id BIGINT")
            self._grow(lake)

    def play(self, point: str, number: int, run: _Run) -> None:
        """One round: the source grows, the program dies at a point, and what it left is looked at."""
        with self._open() as lake:
            self._grow(lake)
        files = self._chance.choice([1, 2, 3])
        died = run(self._lake, self._checkpoint, files=files, point=point, number=number)
        self.kills[point] += died
        with self._open() as lake:
            found = self._copied(lake)
            assert len(found) == len(set(found)), "a row was copied twice"
            assert set(found) <= set(range(self._rows))

    def finish(self, run: _Run) -> None:
        """A run that nobody kills: then every row is there, once."""
        assert not run(self._lake, self._checkpoint, files=1_000)
        with self._open() as lake:
            assert sorted(self._copied(lake)) == list(range(self._rows))
            assert all(report.is_clean for report in lake.check())

    def _open(self) -> Lake:
        return headgate.connect(self._lake, settings=Settings(publish=Publish.ON_DEMAND))

    def _grow(self, lake: Lake) -> None:
        for name in SOURCES:
            self._grow_one(lake.table(name))

    def _grow_one(self, table: Table) -> None:
        for _ in range(4):
            more = self._chance.randint(1, 5)
            table.append([{"id": number} for number in range(self._rows, self._rows + more)])
            self._rows += more
        match self._chance.choice(["nothing", "publish", "checkpoint", "compact"]):
            case "publish":
                table.publish()
            case "checkpoint":
                table.checkpoint()
            case "compact":
                newest = table.version()
                table.publish()
                table.compact_log(newest - 2, newest)
            case _:
                pass

    def _copied(self, lake: Lake) -> list[int]:
        try:
            found: list[int] = lake.table("s.target").to_arrow()["id"].to_pylist()
        except TableNotFound:
            return []
        return found
