"""A table changes hands while every call in turn fails: no gap, no double, nothing acknowledged is lost."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pytest
from typing_extensions import Buffer, override

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.errors import CommitUnknown, HeadgateError, InvalidRequest
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from headgate.table.opened_table import OpenedTable
from tests.support import owned
from tests.support.delegating_store import DelegatingStore
from tests.support.faulty_store import FaultyStore
from tests.support.owned import CONF, NAME, Place, WatchedOwner, append
from tests.support.tables import SCHEMA, create_filesystem
from tests.support.versions import paths

Answer = TypeVar("Answer")


class Died(BaseException):
    """The process is gone; nothing catches this."""


class FailingWire:
    """Carries calls until the n-th, which meets its fate; of what comes after, nothing if it died."""

    def __init__(self, fails_at: int, fate: str) -> None:
        self.calls = 0
        self._fails_at = fails_at
        self._fate = fate

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        self.calls += 1
        if self.calls < self._fails_at or (self.calls > self._fails_at and not self._fate.startswith("die")):
            return perform()
        match self._fate if self.calls == self._fails_at else "dead":
            case "dead" | "die before":
                raise Died
            case "die after":
                perform()
                raise Died
            case "lost reply":
                perform()
                return unanswered(False)
            case _:
                return unanswered(True)


FATES = ("die before", "die after", "lost reply", "lost request")
Operation = Callable[[OpenedTable, Place], object]


def take_over(table: OpenedTable, place: Place) -> int:
    return coordination.coordinate(table, place.find, NAME, CONF)


def release(table: OpenedTable, place: Place) -> int:
    return coordination.uncoordinate(table)


def one_append(table: OpenedTable, place: Place) -> int:
    return append(table, ["mine"])[0]


def place_of(kind: str, folder: Path, *, batch: int, taken: bool) -> Place:
    """A table of two appends, and an owner of that kind who has it or not."""
    place = Place()
    folder.mkdir(parents=True, exist_ok=True)
    place.owners[NAME] = owned.owner(kind, folder, batch=batch, world=place.world)
    create_filesystem(place.store, world=place.world)
    table = place.opened()
    if taken:
        take_over(table, place)
    append(table, ["a", "b"])
    return place


def check(place: Place, acknowledged: set[str], possible: set[str]) -> None:
    """Everything is there once, in the log of a fresh client that has the owner, and reads without it too."""
    fresh = place.opened()
    live = paths(fresh)
    assert len(live) == len(set(live))
    assert acknowledged <= set(live) <= acknowledged | possible
    latest = fresh.snapshot().version
    assert [entry.version for entry in fresh.history()] == list(range(latest, -1, -1))
    published = place.published()
    assert published == list(range(len(published)))
    stranger = place.opened(owners={})
    assert stranger.snapshot().version == len(published) - 1


def go_on(place: Place, acknowledged: set[str]) -> None:
    """A fresh client works with the table, gives it away and takes it back; all of it is published then."""
    table = place.opened()
    append(table, ["after"])
    acknowledged |= {"after"}
    if coordinated_commits.coordinator_of(place.opened().snapshot().state.metadata) is None:
        take_over(place.opened(), place)
        append(place.opened(), ["owned"])
        acknowledged |= {"owned"}
    release(place.opened(), place)
    append(place.opened(owners={}), ["free"])
    acknowledged |= {"free"}
    check(place, acknowledged, {"mine"})
    assert not coordinated_commits.leftover_features(place.opened().snapshot().state.protocol)
    txns = [
        codec.decode(Version(version), place.store.read(file_names.published_path(Version(version)))).info
        for version in place.published()
    ]
    ids = [info.txn_id for info in txns if info is not None]
    assert len(set(ids)) == len(ids) == len(place.published())


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize(
    ("operation", "taken"), [(take_over, False), (release, True), (one_append, True), (one_append, False)]
)
@pytest.mark.parametrize(("kind", "batch"), [("memory", 1), ("memory", 3), ("database", 2)])
def test_whichever_call_fails_a_fresh_client_goes_on(
    operation: Operation, taken: bool, fate: str, kind: str, batch: int, tmp_path: Path
) -> None:
    """S130: take-over, release and commits, with every call to store and owner failing in turn."""
    fails_at, finished = 1, False
    while not finished:
        place = place_of(kind, tmp_path / str(fails_at), batch=batch, taken=taken)
        wire = FailingWire(fails_at, fate)
        client = place.opened(
            store=FaultyStore(place.store, wire), owners={NAME: WatchedOwner(place.owners[NAME], wire)}
        )
        acknowledged, possible = {"a", "b"}, {"mine"}
        try:
            operation(client, _seen_by(place, wire))
            if operation is one_append:
                acknowledged |= {"mine"}
        except Died:
            pass
        except CommitUnknown:
            assert fate.startswith("lost")
        except HeadgateError:
            possible = set()  # which proves that nothing was committed
            assert fate.startswith("lost")
        finished = wire.calls < fails_at
        check(place, acknowledged, possible)
        go_on(place, acknowledged)
        fails_at += 1
    assert fails_at > 4


def _seen_by(place: Place, wire: FailingWire) -> Place:
    """The same place, whose owners are at the far end of the wire."""
    return Place(place.store, place.world, {NAME: WatchedOwner(place.owners[NAME], wire)}, place.location)


@pytest.mark.parametrize("fate", ["die before", "die after"])
def test_a_table_is_created_for_an_owner_or_not_at_all(fate: str) -> None:
    """S125: version 0 is the one moment; before it there is no table."""
    for fails_at in range(1, 20):
        place = Place()
        place.owners[NAME] = LedgerCoordinator(MemoryLedger(), 1, place.world)
        wire = FailingWire(fails_at, fate)
        client = place.opened(store=FaultyStore(place.store, wire))
        with suppress(Died):
            coordination.create_coordinated(client, TableDefinition(SCHEMA), place.find, NAME, CONF)
        if not place.opened().exists():
            coordination.create_coordinated(place.opened(), TableDefinition(SCHEMA), place.find, NAME, CONF)
        assert append(place.opened(), "ab") == [1, 2]
        if wire.calls < fails_at:
            return
    raise AssertionError("the creation never ended")


class DeadlyStore(DelegatingStore):
    """Kills whoever would create one file."""

    def __init__(self, store: Store, path: str) -> None:
        super().__init__(store)
        self._path = path

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        if path == self._path:
            raise Died
        super().put_if_absent(path, data)


@pytest.mark.parametrize("published", [False, True])
def test_who_comes_after_a_release_publishes_what_it_left(published: bool, tmp_path: Path) -> None:
    """S130: else the next version would leave a gap before it."""
    place = place_of("memory", tmp_path, batch=100, taken=True)
    dying = place.opened(store=DeadlyStore(place.store, file_names.published_path(Version(4))))
    with pytest.raises(Died):
        release(dying, place)
    assert place.published() == [0, 1, 2, 3]
    assert place.opened(owners={}).snapshot().version == 3
    if published:
        assert place.opened().publish() == 4

    late = place.opened()
    assert late.snapshot().version == 4
    assert append(late, ["next"]) == [5]

    assert place.published() == [0, 1, 2, 3, 4, 5]
    assert paths(place.opened(owners={})) == ["a", "b", "next"]
    with pytest.raises(InvalidRequest, match="none to leave"):
        release(place.opened(), place)
