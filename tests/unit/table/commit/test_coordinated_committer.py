"""The route of a coordinator, asked directly: what became of a commit, and whom it asks."""

import pytest

from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import Lost, Open, Ratified, StagedCommit, Unknown
from headgate.catalog.ports.coordinator import CoordinatedTable
from headgate.errors import CatalogUnavailable, CorruptLog, HeadgateError, StorageUnavailable, TableNotFound
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.alter import coordination
from headgate.table.commit.coordinated import CoordinatedCommitter
from headgate.table.read import log_reader, snapshot
from headgate.table.transaction import Transaction
from tests.support.faulty_store import DictStore
from tests.support.owned import CONF, LOCATION, NAME, Place, append, coordinated, ordinary
from tests.support.tables import append_change, named_file


def asked_table(place: Place) -> CoordinatedTable:
    named = coordinated_commits.coordinator_of(place.opened().snapshot().state.metadata)
    assert named is not None
    return CoordinatedTable(place.location, named.table_conf, place.store)


def committer(place: Place) -> CoordinatedCommitter:
    owner = place.find(NAME, CONF)
    assert owner is not None
    return CoordinatedCommitter(owner, asked_table(place), folder=file_names.STAGED_FOLDER, world=place.world)


def begun(place: Place, asked: CoordinatedCommitter) -> Transaction:
    newest = snapshot.load_snapshot(place.store, asked.frontier())
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

    def asking(owner: LedgerCoordinator, conf: str, store: Store = store) -> CoordinatedCommitter:
        table = CoordinatedTable(LOCATION, {"tableId": conf}, store)
        return CoordinatedCommitter(owner, table, folder=file_names.STAGED_FOLDER, world=Place().world)

    first = asking(LedgerCoordinator(ledger, 1), "one")

    assert first.has_same_coordinator(asking(LedgerCoordinator(ledger, 1), "one", DictStore()))
    assert not first.has_same_coordinator(asking(LedgerCoordinator(ledger, 1), "two"))
    assert not first.has_same_coordinator(asking(LedgerCoordinator(MemoryLedger(), 1), "one"))


def test_there_is_a_folder_for_staged_commits_as_soon_as_there_is_an_owner() -> None:
    """S124, F8: so that one that is missing later was deleted by somebody."""
    place, _ = ordinary(1)
    assert not list(place.store.list_from(file_names.STAGED_FOLDER))

    coordination.coordinate(place.opened(), place.find, NAME, CONF)

    assert list(place.store.list_from(file_names.STAGED_FOLDER))
    assert place.staged() == []


def test_a_folder_that_is_gone_is_told_by_its_code() -> None:
    """S152, F8"""
    place, _ = coordinated(1)
    asked = committer(place)
    ours = begun(place, asked)
    for meta in list(place.store.list_from(file_names.STAGED_FOLDER)):
        place.store.delete(meta.path)

    with pytest.raises(CorruptLog) as caught:
        asked.propose(ours)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


def test_where_nothing_is_published_there_is_no_table() -> None:
    place, _ = coordinated()
    asked = committer(place)
    for meta in list(place.store.list_from(file_names.LOG_FOLDER)):
        place.store.delete(meta.path)

    with pytest.raises(TableNotFound):
        asked.frontier()
    # Whoever has read a version needs no log to know that it is there.
    assert asked.frontier(known=Version(1)).latest == 1


def test_a_reader_from_before_the_last_checkpoint_misses_nothing() -> None:
    place, _ = coordinated(6)
    place.opened().checkpoint(version=5)
    asked = committer(place)

    assert log_reader.last_checkpoint_version(place.store) == 5
    assert asked.frontier(known=Version(2)).latest == asked.frontier().latest == 7


def test_a_pointer_beyond_the_log_is_only_a_hint() -> None:
    """U10"""
    place, _ = coordinated(2)
    place.store.put(file_names.LAST_CHECKPOINT, b'{"version": 100, "size": 1}')

    assert committer(place).frontier().latest == 3
    place.store.put(file_names.checksum_path(Version(100)), b"{}")
    assert committer(place).frontier().latest == 3


def test_only_commits_and_checkpoints_are_versions() -> None:
    """Checksums and compactions say nothing of what is ratified."""
    place, _ = coordinated(2)
    place.store.put(file_names.checksum_path(Version(9)), b"{}")
    place.store.put(file_names.compaction_path(Version(3), Version(8)), b"")

    assert committer(place).frontier().latest == 3


def test_a_log_may_begin_with_a_checkpoint_whose_commit_is_gone() -> None:
    place, _ = coordinated(3)
    place.opened().checkpoint(version=4)
    asked = committer(place)
    for version in range(5):
        place.store.delete(file_names.published_path(Version(version)))

    assert asked.frontier().latest == 4


def test_older_commits_that_are_left_are_no_gap() -> None:
    """Clean-up may stop anywhere, and the hint may be gone."""
    place, _ = coordinated(5)
    place.opened().checkpoint(version=4)
    asked = committer(place)
    place.store.delete(file_names.LAST_CHECKPOINT)
    for version in (1, 2, 3):
        place.store.delete(file_names.published_path(Version(version)))

    assert asked.frontier().latest == 6


def test_a_gap_after_what_is_known_is_an_error() -> None:
    """P1: what lies behind it is never served."""
    place, _ = coordinated(4)
    asked = committer(place)
    place.store.delete(file_names.published_path(Version(3)))

    with pytest.raises(CorruptLog, match="reach that far"):
        asked.frontier(known=Version(2))


def test_what_is_published_is_no_longer_the_owners_even_if_it_does_not_know() -> None:
    place, watched = coordinated(2, batch=100)
    asked = committer(place)
    held = asked.frontier().unpublished
    assert sorted(held) == [2, 3]

    where = held[Version(2)].where
    assert isinstance(where, StagedCommit)
    place.store.put(file_names.published_path(Version(2)), place.store.read(where.path))

    assert sorted(asked.frontier().unpublished) == [3]
    assert [commit.version for commit in watched.inner.get_commits(asked_table(place)).commits] == [2, 3]


def test_a_commit_without_an_author_is_not_ours() -> None:
    place, _ = coordinated(1)
    asked = committer(place)
    ours = begun(place, asked)
    place.store.put(file_names.published_path(ours.target), codec.encode((named_file("theirs"),)))

    assert isinstance(asked.outcome_of(ours), Lost)
