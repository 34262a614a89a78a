"""Whoever streams two tables into a third and is killed, at any step, again and again, copies each row once.

Between the kills others append to the sources, publish them, write checkpoints and compact their logs.
``make chaos ROUNDS=200`` plays as many rounds as it says, and ``make test`` a few.
"""

import os
import random
from collections import Counter
from pathlib import Path

import pytest

import headgate
from headgate import Lake, Publish, Settings, Table
from headgate.errors import TableNotFound
from tests.support import stream_sources

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
FEW = ((stream_sources.COMMITTED, 2), (stream_sources.ASKED, 1))
SOURCES = ("s.source", "s.more")
_RESTS = 20
"""After how many kills a run comes to its end."""

pytestmark = pytest.mark.spark


def test_killed_at_steps_of_its_batches_a_stream_copies_each_row_once(tmp_path: Path) -> None:
    rounds = _Rounds(tmp_path, random.Random(1))
    for point, number in FEW:
        rounds.play(point, number)

    rounds.finish()

    assert rounds.kills == {point: 1 for point, _ in FEW}


@pytest.mark.slow
@pytest.mark.skipif(not ROUNDS, reason="takes an hour: make chaos")
def test_killed_over_and_over_a_stream_copies_each_row_once(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("HEADGATE_CHAOS_SEED", "1")))
    rounds = _Rounds(tmp_path, chance)
    for number in range(ROUNDS):
        rounds.play(stream_sources.POINTS[number % len(stream_sources.POINTS)], chance.choice([1, 1, 2, 3]))
        if number % _RESTS == _RESTS - 1:
            rounds.finish()
        print(f"{number + 1} rounds, killed {sum(rounds.kills.values())}: {dict(rounds.kills)}", flush=True)

    rounds.finish()

    assert set(rounds.kills) == set(stream_sources.POINTS)


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

    def play(self, point: str, number: int) -> None:
        """One round: the source grows, the program dies at a point, and what it left is looked at."""
        with self._open() as lake:
            self._grow(lake)
        files = self._chance.choice([1, 2, 3])
        died = stream_sources.run(self._lake, self._checkpoint, files=files, point=point, number=number)
        self.kills[point] += died
        with self._open() as lake:
            found = self._copied(lake)
            assert len(found) == len(set(found)), "a row was copied twice"
            assert set(found) <= set(range(self._rows))

    def finish(self) -> None:
        """A run that nobody kills: then every row is there, once."""
        assert not stream_sources.run(self._lake, self._checkpoint, files=1_000)
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
