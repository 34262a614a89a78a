"""The route of ordinary tables: what it makes of a store that fails, and of what others left in the log."""

from typing import Any

import pytest
from typing_extensions import Buffer, override

from headgate.catalog.ports.commits import Lost, Open, Ratified, Unknown
from headgate.errors import (
    AccessDenied,
    CommitUnknown,
    ConcurrentWrite,
    StorageError,
    StorageUnavailable,
    TableNotFound,
    UnsafeStore,
    UnsupportedFeature,
)
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, file_names
from headgate.table import transaction
from headgate.table.authority import Decider
from headgate.table.commit import loop
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.transaction import Change, Operation, Transaction
from tests.support import commits
from tests.support.attempts import added
from tests.support.faulty_store import DictStore, FaultyStore, RecordingWire
from tests.support.owned import coordinated
from tests.support.routes import Place, create, open_table

WITHOUT = "DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR"


class Failing(DictStore):
    """Fails one operation on published commits, before or after it is performed."""

    def __init__(self, error: StorageError, *, operation: str, after: bool = False) -> None:
        super().__init__()
        self._error, self._operation, self._late = error, operation, after
        self.fails = False

    @override
    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        if self.fails and self._operation == "read":
            raise self._error
        return super().read(path, last=last, at=at)

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        fails = self.fails and self._operation == "put_if_absent"
        if fails and not self._late:
            raise self._error
        super().put_if_absent(path, data)
        if fails:
            raise self._error


def append(place: Place, name: str = "a") -> Transaction:
    state = open_table(place, "filesystem").snapshot().state
    return transaction.begin(state, Change(Operation("WRITE"), (added(name, {}),)), world=place.world)


def on(store: DictStore) -> Place:
    """A new table in that store."""
    store.put(
        file_names.published_path(Version(0)),
        create((), managed=False).store.read(file_names.published_path(Version(0))),
    )
    return Place(store=store)


@pytest.mark.parametrize(("after", "outcome"), [(False, Open()), (True, Ratified(Version(1)))])
def test_a_put_without_an_answer_is_unknown_until_the_log_tells(after: bool, outcome: object) -> None:
    """P13"""
    error = StorageUnavailable("no answer", path="x", operation="put_if_absent")
    store = Failing(error, operation="put_if_absent", after=after)
    txn, committer = append(on(store)), FilesystemCommitter(store)

    store.fails = True
    assert committer.propose(txn) == Unknown("no answer")
    assert committer.outcome_of(txn) == outcome


def test_a_put_that_is_refused_is_an_error_and_nothing_is_committed() -> None:
    store = Failing(AccessDenied("no", path="x", operation="put_if_absent"), operation="put_if_absent")
    txn, committer = append(on(store)), FilesystemCommitter(store)

    store.fails = True
    with pytest.raises(AccessDenied):
        committer.propose(txn)
    assert committer.outcome_of(txn) == Open()


@pytest.mark.parametrize("error", [AccessDenied, StorageUnavailable])
def test_a_version_that_cannot_be_read_may_be_ours(error: type[StorageError]) -> None:
    """P13"""
    store = Failing(error("cannot read", path="x", operation="read"), operation="read")
    txn, committer = append(on(store)), FilesystemCommitter(store)
    assert committer.propose(txn) == Ratified(Version(1))

    store.fails = True
    assert committer.propose(txn) == Unknown("cannot read")
    assert committer.outcome_of(txn) == Unknown("cannot read")


def test_a_winner_that_says_nothing_of_itself_is_not_ours() -> None:
    place = create((), managed=False)
    txn = append(place)
    place.store.put(file_names.published_path(Version(1)), codec.encode([added("other", {})]))

    answer = FilesystemCommitter(place.store).propose(txn)

    assert isinstance(answer, Lost)
    assert [(winner.version, winner.info, winner.modified_ms) for winner in answer.winners] == [
        (1, None, None)
    ]


def test_a_store_that_overwrites_is_found_out_before_anything_is_committed() -> None:
    """The version is taken by somebody else, whose commit must stay."""

    class Overwriting(DictStore):
        place = "memory:overwriting"

        @override
        def put_if_absent(self, path: str, data: Buffer) -> None:
            self.put(path, data)

    store = Overwriting()
    txn = append(on(store))
    other = codec.encode([added("other", {})])
    store.put(file_names.published_path(Version(1)), other)

    with pytest.raises(UnsafeStore):
        FilesystemCommitter(store).propose(txn)
    assert store.read(file_names.published_path(Version(1))) == other


def test_a_table_of_an_owner_is_not_committed_to_by_creating_a_file() -> None:
    """W9"""
    place, _ = coordinated(1)
    state = place.opened().snapshot().state
    txn = transaction.begin(state, Change(Operation("WRITE"), (added("a", {}),)), world=place.world)
    committer = FilesystemCommitter(place.store)

    with pytest.raises(UnsupportedFeature) as caught:
        committer.propose(txn)
    assert caught.value.code == WITHOUT
    assert committer.decider(state.protocol, state.metadata) is Decider.MISSING_COORDINATOR
    assert committer.decider(state.protocol, commits.metadata()) is Decider.FILE_SYSTEM
    assert committer.decider(commits.MANAGED, commits.metadata()) is Decider.MISSING_CATALOG
    assert not committer.follow(state.version, state.metadata)


def logged(*files: str) -> DictStore:
    store = DictStore()
    for name in files:
        store.put(file_names.LOG_FOLDER + name, b"")
    return store


COMMITS = [f"{version:020d}.json" for version in range(4)]
CHECKPOINT = f"{2:020d}.checkpoint.parquet"


@pytest.mark.parametrize(
    ("files", "pointed", "latest", "listed"),
    [
        (COMMITS, None, 3, [0, 1, 2, 3]),
        ([*COMMITS, CHECKPOINT], 2, 3, [2, 2, 3]),
        ([*COMMITS[:2], CHECKPOINT], 2, 2, [2]),
        (COMMITS, 9, 3, [0, 1, 2, 3]),
        ([*COMMITS, f"{7:020d}.crc"], None, 3, [0, 1, 2, 3, 7]),
        ([*COMMITS, f"{9:020d}.crc"], 9, 3, [0, 1, 2, 3, 9]),
    ],
    ids=[
        "no checkpoint",
        "a checkpoint",
        "only a checkpoint",
        "a pointer to nothing",
        "a stray checksum",
        "a pointer to a stray checksum",
    ],
)
def test_the_log_tells_how_far_it_reaches(
    files: list[str], pointed: int | None, latest: int, listed: list[int]
) -> None:
    """Listed from the checkpoint on where there is one."""
    store = logged(*files)
    if pointed is not None:
        store.put(file_names.LAST_CHECKPOINT, b'{"version":%d,"size":1}' % pointed)

    found = FilesystemCommitter(store).frontier()

    assert (found.latest, found.unpublished, found.managed) == (latest, {}, False)
    assert [file.version for file in found.listing or ()] == listed
    assert FilesystemCommitter(store).publish() == latest


@pytest.mark.parametrize(("known", "latest"), [(1, 3), (3, 3), (5, 5)])
def test_from_a_version_that_is_known_only_what_follows_is_listed(known: int, latest: int) -> None:
    """Also where the log has lost it since, and the pointer is not read again."""
    wire = RecordingWire()

    found = FilesystemCommitter(FaultyStore(logged(*COMMITS), wire)).frontier(known=Version(known))

    assert (found.latest, found.listing, found.managed) == (latest, None, False)
    assert set(wire.calls) == {f"list {file_names.LOG_FOLDER}"}


def clean_up(place: Place, *, below: int) -> None:
    """A checkpoint, and the log without what is older than a version, as every engine may leave it."""
    open_table(place, "filesystem").checkpoint()
    for version in range(below):
        place.store.delete(file_names.published_path(Version(version)))


def test_who_slept_longer_than_the_log_is_kept_loses_nothing() -> None:
    """The version it would write has no file any more, and nobody would ever read one of that name."""
    place = on(DictStore())
    late, committer = append(place, "late"), FilesystemCommitter(place.store)
    for name in "abc":
        committer.propose(append(place, name))
    clean_up(place, below=3)
    before = list(place.store.list_from(""))

    with pytest.raises(ConcurrentWrite, match=r"version 0, which was read, .* the table is at version 3"):
        committer.propose(late)

    assert list(place.store.list_from("")) == before
    assert committer.propose(append(place, "late")) == Ratified(Version(4))


def test_a_log_that_begins_with_a_checkpoint_goes_on() -> None:
    place = on(DictStore())
    committer = FilesystemCommitter(place.store)
    committer.propose(append(place, "a"))
    clean_up(place, below=2)

    assert committer.propose(append(place, "b")) == Ratified(Version(2))


def test_a_table_that_is_gone_is_not_begun_in_the_middle() -> None:
    place = on(DictStore())
    late = append(place)
    place.store.delete(file_names.published_path(Version(0)))

    with pytest.raises(TableNotFound):
        FilesystemCommitter(place.store).propose(late)
    assert list(place.store.list_from("_delta_log/")) == []


def test_an_unanswered_commit_stays_unknown_if_the_log_is_cleaned_up_meanwhile() -> None:
    error = StorageUnavailable("no answer", path="x", operation="put_if_absent")
    store = Failing(error, operation="put_if_absent")
    place = on(store)
    table = open_table(place, "filesystem")
    txn = append(place)
    store.fails = True

    class Cleaned(FilesystemCommitter):
        """Others commit and clean up between the first attempt and the second."""

        @override
        def outcome_of(self, txn: Transaction) -> Any:
            found = super().outcome_of(txn)
            store.fails = False
            for name in "ab":
                FilesystemCommitter(store).propose(append(place, name))
            clean_up(place, below=2)
            return found

    with pytest.raises(CommitUnknown):
        loop.commit(txn, Cleaned(store), table.settings, world=place.world)
