"""The owner is lost at every step of take-over, commit, backfill and release: what was published is there.

What was acknowledged and not published is named by the forced release, and the table goes on.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import TableState, Unknown
from headgate.catalog.ports.coordinator import (
    CommitCoordinator,
    CoordinatedProposal,
    CoordinatedTable,
    GetCommitsResponse,
)
from headgate.errors import CatalogUnavailable, HeadgateError, StaleRead
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.table.alter import coordination, forced_release
from headgate.table.opened_table import OpenedTable
from tests.support.faulty_store import FaultyStore
from tests.support.owned import CONF, NAME, Place, append
from tests.support.tables import ON_DEMAND, create_filesystem
from tests.support.versions import paths

Answer = TypeVar("Answer")
PUBLISHED = replace(ON_DEMAND, read_published=True)


class OwnerDied(Exception):
    """The owner's process is gone, in the middle of what it did."""


class LosingWire:
    """Carries every call to the store, until the n-th: before or after that one the owner is lost."""

    def __init__(self, lost_at: int, moment: str) -> None:
        self.calls = 0
        self.is_lost = self.is_armed = False
        self.inside = 0
        self._lost_at, self._moment = lost_at, moment

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        self.calls += self.is_armed
        if not self.is_armed or self.calls != self._lost_at:
            return perform()
        if self._moment == "before":
            self._lose()
            return perform()
        try:
            return perform()
        finally:
            self._lose()

    def _lose(self) -> None:
        self.is_lost = True
        if self.inside:
            raise OwnerDied


class LosableOwner:
    """An owner of another process, which after its loss is silent, or back without what it knew."""

    def __init__(self, owner: CommitCoordinator, wire: LosingWire, kind: str) -> None:
        self._owner, self._wire, self._kind = owner, wire, kind

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        return self._ask("register", lambda owner: owner.register(location, current, told))

    def commit(self, table: CoordinatedTable, proposal: CoordinatedProposal) -> Any:
        try:
            return self._ask("commit", lambda owner: owner.commit(table, proposal))
        except OwnerDied:
            return Unknown("no answer")

    def get_commits(self, table: CoordinatedTable, **bounds: Version | None) -> GetCommitsResponse:
        return self._ask("get_commits", lambda owner: owner.get_commits(table, **bounds))

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        self._ask("backfill_to", lambda owner: owner.backfill_to(table, version))

    def _ask(self, name: str, ask: Callable[[CommitCoordinator], Answer]) -> Answer:
        if self._wire.is_lost and self._kind == "down":
            raise CatalogUnavailable("the owner is away")
        owner = LedgerCoordinator(MemoryLedger()) if self._wire.is_lost else self._owner
        self._wire.inside += 1
        try:
            return self._wire.call(name, lambda: ask(owner), unanswered=_never, writes=True)
        except OwnerDied as exc:
            if name == "commit":
                raise
            raise CatalogUnavailable("no answer") from exc
        finally:
            self._wire.inside -= 1


def _never(untouched: bool) -> Any:
    raise AssertionError


def take_over(table: OpenedTable, place: Place) -> None:
    coordination.coordinate(table, place.find, NAME, CONF)


def one_append(table: OpenedTable, place: Place) -> None:
    append(table, ["mine"])


def publish(table: OpenedTable, place: Place) -> None:
    table.publish()


def release(table: OpenedTable, place: Place) -> None:
    coordination.uncoordinate(table)


def added(content: bytes) -> set[str]:
    return {add.path for add in codec.decode(Version(0), content).adds}


def round_of(operation: Callable[..., None], kind: str, wire: LosingWire, batch: int) -> None:
    """One operation of a client whose owner is lost on the way, and what becomes of the table after it."""
    place = Place()
    place.owners[NAME] = LosableOwner(LedgerCoordinator(MemoryLedger(), batch, place.world), wire, kind)
    create_filesystem(place.store, world=place.world)
    acknowledged = {"a", "b"}
    if operation is not take_over:
        take_over(place.opened(), place)
    append(place.opened(), ["a", "b"])
    wire.is_armed = True
    client = place.opened(store=FaultyStore(place.store, wire))
    try:
        operation(client, place)
        acknowledged |= {"mine"} if operation is one_append else set()
    except HeadgateError as exc:
        assert wire.is_lost, exc
    if wire.is_lost:
        check_after_the_loss(place, acknowledged)


def check_after_the_loss(place: Place, acknowledged: set[str]) -> None:
    published = place.published()
    assert published == list(range(len(published)))
    contents = {
        version: place.store.read(file_names.published_path(Version(version))) for version in published
    }
    there = set().union(*(added(content) for content in contents.values()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleRead)
        assert set(paths(place.opened(settings=PUBLISHED))) == there
    named: set[str] = set()
    stranger = place.opened(owners={})
    if coordinated_commits.coordinator_of(stranger.snapshot().state.metadata) is not None:
        done = forced_release.force_release(place.opened(), NAME)
        named = set().union(*(added(place.store.read(path)) for path in done.staged))
    assert acknowledged <= there | named
    ordinary = place.opened(owners={})
    assert set(paths(ordinary)) == there
    append(ordinary, ["after"])
    assert set(paths(place.opened(owners={}))) == there | {"after"}
    assert all(
        place.store.read(file_names.published_path(Version(v))) == kept for v, kept in contents.items()
    )
    assert place.opened(owners={}).check("t", data=False).is_clean


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("kind", ["down", "state lost"])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("operation", [take_over, one_append, publish, release])
def test_whenever_the_owner_is_lost_nothing_published_is_and_the_rest_is_named(
    operation: Callable[..., None], batch: int, kind: str, moment: str
) -> None:
    lost_at, wire = 0, LosingWire(0, moment)
    while lost_at == 0 or wire.is_lost:  # until the operation has fewer steps than that
        lost_at += 1
        wire = LosingWire(lost_at, moment)
        round_of(operation, kind, wire, batch)
    assert lost_at > 3
