"""The route of a commit owner, asked directly: what became of a commit, and whom it asks."""

import pytest

from headgate.catalog.api import Lost, Open, Ratified, Unknown
from headgate.catalog.ledger import MemoryLedger
from headgate.catalog.ledger_owner import LedgerOwner
from headgate.catalog.owner import OwnedTable
from headgate.errors import CatalogUnavailable, HeadgateError, StorageUnavailable
from headgate.protocol import coordination, names
from headgate.storage.api import Store
from headgate.table import snapshot, transaction
from headgate.table.coordinated import CoordinatedCommitter
from headgate.table.transaction import Transaction
from tests.support.faulty_store import DictStore
from tests.support.owned import LOCATION, Place, append, coordinated
from tests.support.tables import append_change, named_file


def committer(place: Place) -> CoordinatedCommitter:
    named = coordination.of(place.opened().snapshot().state.metadata)
    assert named is not None
    owner = place.find(named.owner, named.conf)
    assert owner is not None
    table = OwnedTable(place.location, named.table_conf, place.store)
    return CoordinatedCommitter(owner, table, folder=names.STAGED, world=place.world)


def begun(place: Place, asked: CoordinatedCommitter) -> Transaction:
    newest = snapshot.load(place.store, asked.frontier())
    return transaction.begin(newest.state, append_change(named_file("ours")), world=place.world)


@pytest.mark.parametrize("batch", [1, 100])
def test_what_became_of_a_commit_is_told_by_its_version(batch: int) -> None:
    place, _ = coordinated(2, batch=batch)
    asked = committer(place)
    ours = begun(place, asked)
    assert asked.outcome_of(ours) == Open()

    asked.propose(ours)
    append(place.opened(), ["theirs"])

    assert asked.outcome_of(ours) == Ratified(ours.target)


def test_another_commit_of_its_version_proves_that_it_lost() -> None:
    place, _ = coordinated(2)
    asked = committer(place)
    ours = begun(place, asked)
    append(place.opened(), ["first", "second"])

    outcome = asked.outcome_of(ours)

    assert isinstance(outcome, Lost)
    assert [winner.version for winner in outcome.winners] == [ours.target, ours.target + 1]


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("owner", CatalogUnavailable("the owner is away")),
        ("store", StorageUnavailable("no answer", path="x", operation="list")),
    ],
)
def test_who_cannot_be_asked_leaves_it_unknown(
    where: str, error: HeadgateError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P13: not lost and not open, so nothing is deleted and nothing is proposed as another version."""
    place, watched = coordinated(2)
    asked = committer(place)
    ours = begun(place, asked)

    def fail(*_args: object, **_kwargs: object) -> None:
        raise error

    if where == "owner":
        monkeypatch.setattr(watched, "get_commits", fail)
    else:
        monkeypatch.setattr(place.store, "list_from", fail)

    assert asked.outcome_of(ours) == Unknown(error.message)


def test_two_ask_the_same_if_owner_and_registration_are() -> None:
    """S139"""
    ledger, store = MemoryLedger(), DictStore()

    def asking(owner: LedgerOwner, conf: str, store: Store = store) -> CoordinatedCommitter:
        table = OwnedTable(LOCATION, {"tableId": conf}, store)
        return CoordinatedCommitter(owner, table, folder=names.STAGED, world=Place().world)

    first = asking(LedgerOwner(ledger, 1), "one")

    assert first.asks_the_same(asking(LedgerOwner(ledger, 1), "one", DictStore()))
    assert not first.asks_the_same(asking(LedgerOwner(ledger, 1), "two"))
    assert not first.asks_the_same(asking(LedgerOwner(MemoryLedger(), 1), "one"))
