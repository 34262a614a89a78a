"""A client dies at every step of what it does with its coordinator, and the owner loses all that it knew.

A step is a write to the store or to the owner's ledger, before it is done and after. What was published is
there afterwards, and what was only acknowledged is named by the forced release.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import RatifiedCommit
from headgate.catalog.ports.coordinator import CommitCoordinator
from headgate.clock import World
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table.alter import coordination, forced_release
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable
from tests.support import tables
from tests.support.faulty_store import Answer, DictStore, FaultyStore
from tests.support.owned import LOCATION, NAME
from tests.support.routes import CountingWorld
from tests.support.versions import paths

BATCHES = (1, 10)
"""Every version is published with its commit, or none before somebody asks."""


class Died(BaseException):
    """The process is gone: nothing of it runs any more."""


@dataclass
class Steps:
    """A wire that counts what is written, and dies at a step."""

    fatal: int = 0
    count: int = 0

    def call(
        self, name: str, perform: Callable[[], Answer], *, unanswered: Callable[[bool], Answer], writes: bool
    ) -> Answer:
        return self.around(perform) if writes else perform()

    def around(self, perform: Callable[[], Answer]) -> Answer:
        self._step()
        answer = perform()
        self._step()
        return answer

    def _step(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            raise Died


@dataclass(frozen=True)
class SteppedLedger:
    """A ledger whose writes are steps."""

    inner: MemoryLedger
    steps: Steps

    def open(self, *given: Any, **named: Any) -> None:
        self.steps.around(lambda: self.inner.open(*given, **named))

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        return self.steps.around(lambda: self.inner.write(table_id, commit, accepting=accepting))

    def publish(self, table_id: str, version: Version) -> None:
        self.steps.around(lambda: self.inner.publish(table_id, version))

    def records(self, location: str) -> Any:
        return self.inner.records(location)

    def find(self, table_id: str, txn_id: TxnId | None = None) -> Any:
        return self.inner.find(table_id, txn_id)

    def commits(self, table_id: str, start: Version) -> Any:
        return self.inner.commits(table_id, start)


@dataclass
class Scene:
    """A table in memory, its owner, and what was acknowledged."""

    batch: int
    store: DictStore = field(default_factory=DictStore)
    ledger: MemoryLedger = field(default_factory=MemoryLedger)
    world: World = field(default_factory=CountingWorld)
    acknowledged: list[str] = field(default_factory=list)

    def opened(self, steps: Steps) -> tuple[OpenedTable, CommitCoordinator]:
        owner = LedgerCoordinator(SteppedLedger(self.ledger, steps), self.batch, self.world)
        return self.by(owner, FaultyStore(self.store, steps)), owner

    def by(self, owner: CommitCoordinator, store: Store) -> OpenedTable:
        """The table as somebody opens it who asks this owner."""

        def find(name: str, conf: Mapping[str, str]) -> CommitCoordinator | None:
            return owner if name == NAME else None

        return OpenedTable(
            LOCATION, store, PathCommitter(LOCATION, store, find, world=self.world),
            after_commit=PostCommitScheduler(tables.ON_DEMAND), settings=tables.ON_DEMAND, world=self.world,
        )  # fmt: skip

    def ordinary(self) -> OpenedTable:
        """The table as somebody opens it who asks no owner."""
        return tables.open_filesystem(LOCATION, store=self.store, world=self.world)

    def append(self, table: OpenedTable, name: str) -> None:
        table.commit(tables.append_change(tables.named_file(name)), base=table.snapshot())
        self.acknowledged.append(name)


@dataclass(frozen=True)
class Errand:
    """What is done, with a table of the owner or an ordinary one that has two versions with files."""

    name: str
    owned: bool
    run: Callable[[Scene, OpenedTable, CommitCoordinator], object]


def _take_over(scene: Scene, table: OpenedTable, owner: CommitCoordinator) -> None:
    coordination.coordinate(table, lambda *_: owner, NAME, {})


ERRANDS = (
    Errand("take-over", False, _take_over),
    Errand("commit", True, lambda scene, table, _: scene.append(table, "mine")),
    Errand("backfill", True, lambda scene, table, _: table.publish()),
    Errand("release", True, lambda scene, table, _: coordination.uncoordinate(table)),
)


def prepared(errand: Errand, batch: int) -> Scene:
    scene = Scene(batch)
    tables.create_filesystem(scene.store, world=scene.world)
    table, owner = scene.opened(Steps())
    if errand.owned:
        _take_over(scene, table, owner)
    for name in ("a", "b"):
        scene.append(table, name)
    return scene


def played(errand: Errand, batch: int, fatal: int) -> int | None:
    """The errand with a death at this step; how many commits were only named, None if it was done before."""
    scene = prepared(errand, batch)
    steps = Steps(fatal)
    table, owner = scene.opened(steps)
    try:
        errand.run(scene, table, owner)
    except Died:
        return judged(scene)
    assert steps.count < fatal
    judged(scene)
    return None


def judged(scene: Scene) -> int:
    """With an owner that knows nothing: all that was published is read, and the rest is named."""
    published = {add.path for commit in _commits(scene) for add in commit.adds}
    table = scene.by(LedgerCoordinator(MemoryLedger(), scene.batch, scene.world), scene.store)
    ordinary = scene.ordinary()
    named: set[str] = set()
    if coordinated_commits.coordinator_of(ordinary.snapshot().state.metadata) is not None:
        staged = forced_release.force_release(table, NAME).staged
        named = {add.path for path in staged for add in codec.decode(Version(0), scene.store.read(path)).adds}
    assert {*scene.acknowledged} <= published | named
    after = scene.ordinary()
    assert {*paths(after)} == published
    after.commit(tables.append_change(tables.named_file("after")), base=after.snapshot())
    assert {*paths(scene.ordinary())} == {*published, "after"}
    assert after.check("t", data=False).is_clean
    return len({*scene.acknowledged} - published)


def _commits(scene: Scene) -> Iterable[Commit]:
    for version in map(Version, range(scene.ordinary().snapshot().version + 1)):
        yield codec.decode(version, scene.store.read(file_names.published_path(version)))


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("errand", ERRANDS, ids=lambda errand: errand.name)
def test_what_was_published_outlives_client_and_owner(errand: Errand, batch: int) -> None:
    named, steps = 0, 0
    while (lost := played(errand, batch, steps + 1)) is not None:
        named, steps = named + lost, steps + 1

    assert steps >= 4 or (errand.name, batch) == ("backfill", 1)
    assert (named > 0) == (errand.owned and batch > 1)
