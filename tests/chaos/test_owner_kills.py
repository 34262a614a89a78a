"""Who makes a table for its coordinator, takes it over, commits or releases it may be killed at any moment.

Two ways in which an owner decides: it settles who takes a table over where the store ignores the condition of
a put, or it publishes every commit itself. ``make chaos`` plays many rounds of each.
"""

import multiprocessing
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from typing_extensions import Buffer, override

from headgate.catalog.coordinator.publishing_coordinator import PublishingCoordinator
from headgate.catalog.ports.coordinator import CommitCoordinator
from headgate.errors import ConcurrentWrite, HeadgateError
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from tests.chaos.counts import EVERYWHERE_ELSE as ROUNDS
from tests.chaos.counts import LONG
from tests.linear.owner_worker import OWNER, Owned
from tests.linear.worker import Place
from tests.support import postgresql, tables
from tests.support.delegating_store import DelegatingStore
from tests.support.versions import paths
from tests.support.waiting import PATIENCE_SECONDS, until

SEED = os.environ.get("HEADGATE_CHAOS_SEED", str(random.randrange(10**9)) if LONG else "0")
WRITERS = 2
SETTLED, PUBLISHED = "settled", "published"
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.chaos.writer"])


class Overwriting(DelegatingStore):
    """A store that ignores the condition of a put, as some servers do that speak S3."""

    def __init__(self, location: str) -> None:
        super().__init__(locate(location))
        self.place = f"overwriting {location}"

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        self.put(path, data)


@dataclass(frozen=True, slots=True)
class Ground:
    """A table and how its owner decides about it."""

    owned: Owned
    location: str
    way: str

    def owner(self) -> CommitCoordinator:
        ledger = self.owned.owner()
        return ledger if self.way == SETTLED else PublishingCoordinator(ledger)

    def opened(self, owner: CommitCoordinator) -> OpenedTable:
        store = Overwriting(self.location) if self.way == SETTLED else None
        return self.owned.opened(owner, self.location, store)


def has_owner(table: OpenedTable) -> bool:
    return coordinated_commits.coordinator_of(table.snapshot().state.metadata) is not None


def work(ground: Ground, name: str, told: str) -> None:
    """Make the table, append until killed, release it and take it over at times; write down what was told."""
    chance, owner = random.Random(name), ground.owner()
    table = ground.opened(owner)
    with suppress(HeadgateError):
        coordination.create_coordinated(table, TableDefinition(tables.SCHEMA), lambda *_: owner, OWNER, {})
    with Path(told).open("ab", buffering=0) as file:
        for number in count():
            with suppress(HeadgateError):
                if chance.random() < 0.2:
                    coordination.uncoordinate(table)
                if not has_owner(table):
                    coordination.coordinate(table, lambda *_: owner, OWNER, {})
            with suppress(HeadgateError):
                path = f"{name}-{number}"
                table.commit(tables.append_change(tables.named_file(path)), base=table.snapshot())
                file.write(path.encode() + b"\n")


def play(ground: Ground, folder: Path, chance: random.Random) -> int:
    """One round; how many commits were acknowledged."""
    told = [folder / f"told-{number}" for number in range(WRITERS)]
    writers = [
        _PROCESSES.Process(target=work, args=(ground, f"w{number}-{chance.random()}", str(path)))
        for number, path in enumerate(told)
    ]
    for writer in writers:
        writer.start()
    enough = chance.randrange(1, 12)
    until(lambda: sum(_lines(path) for path in told) >= enough)
    for writer in writers:
        writer.kill()
        writer.join(PATIENCE_SECONDS)
    acknowledged = [line for path in told if path.exists() for line in path.read_text().splitlines()]
    judge(ground, set(acknowledged))
    return len(acknowledged)


@contextmanager
def _place(database: str, folder: Path) -> Iterator[Place]:
    if database == "sqlite":
        yield Place(str(folder / "lake"))
        return
    server = postgresql.server()
    with server.database() as name:
        yield Place(str(folder / "lake"), server.url(name))


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def judge(ground: Ground, acknowledged: set[str]) -> None:
    """Survivors find every acknowledged commit once, can publish, and go on."""
    owner = ground.owner()
    table = ground.opened(owner)
    while not has_owner(table):
        with suppress(ConcurrentWrite):  # what a killed one had settled is published first
            coordination.coordinate(table, lambda *_: owner, OWNER, {})
    table.commit(tables.append_change(tables.named_file("after")), base=table.snapshot())
    latest = table.publish()
    log = [
        codec.decode(version, table.store.read(file_names.published_path(version)))
        for version in map(Version, range(latest + 1))
    ]
    added = Counter(add.path for commit in log for add in commit.adds)
    assert acknowledged | {"after"} <= set(added)
    assert set(added.values()) == {1}
    assert sorted(paths(ground.opened(ground.owner()))) == sorted(added)
    assert ground.opened(ground.owner()).check("t", data=False).is_clean


@pytest.mark.parametrize("way", [SETTLED, PUBLISHED])
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_nothing_acknowledged_is_lost_or_doubled(
    database: str, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance, landed = random.Random(f"{SEED}-{database}-{way}"), 0
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        with _place(database, folder) as place:
            landed += play(Ground(Owned(place), str(folder / "table"), way), folder, chance)
    if LONG:
        with capsys.disabled():
            print(f"\nowner that {way}, {database}: {ROUNDS} rounds, {landed} commits, 0 lost, seed {SEED}")
