"""Mistakes around coordinators: theirs, and those of who asks them, or forgets to."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from functools import partial
from typing import Any
from unittest.mock import patch

from headgate.catalog import published_files
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.commits import Outcome, RatifiedCommit, StagedCommit
from headgate.catalog.ports.coordinator import CoordinatedTable
from headgate.catalog.ports.ledger import LedgerEntry, Registration
from headgate.errors import CatalogUnavailable, StorageUnavailable
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import file_names
from headgate.storage.store import ObjectMeta, Store
from headgate.table.commit import filesystem
from headgate.table.commit.by_path import PathCommitter
from headgate.table.commit.coordinated import CoordinatedCommitter
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.committer import Frontier
from headgate.table.transaction import Transaction
from tests.simulation.mutations.conflicts import without
from tests.simulation.mutations.mutant import Mutant


@contextmanager
def _route_of_the_base() -> Iterator[None]:
    def propose(self: PathCommitter, txn: Transaction) -> Outcome[Commit]:
        named = coordinated_commits.coordinator_of(txn.attempt.read.metadata)
        return (self._files if named is None else self._owned(named)).propose(txn)

    with (
        patch.object(PathCommitter, "propose", propose),
        patch.object(filesystem, "_check_route", lambda _: None),
    ):
        yield


def _owner_is_never_found_out() -> AbstractContextManager[object]:
    real = PathCommitter.follow

    def follow(self: PathCommitter, *args: Any) -> bool:
        real(self, *args)
        return False

    return patch.object(PathCommitter, "follow", follow)


def _leftovers_are_forgotten() -> AbstractContextManager[object]:
    return patch.object(PathCommitter, "_publish_leftovers", lambda _: None)


@contextmanager
def _released_before_all_is_published() -> Iterator[None]:
    with (
        patch.object(LedgerCoordinator, "_publish", lambda *_: None),
        patch.object(PathCommitter, "_publish_leftovers", lambda _: None),
    ):
        yield


def _owner_accepts_after_the_release() -> AbstractContextManager[object]:
    real = MemoryLedger.write

    def write(self: MemoryLedger, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        return real(self, table_id, commit, accepting=True)

    return patch.object(MemoryLedger, "write", write)


def _owner_forgets_ids() -> AbstractContextManager[object]:
    real = MemoryLedger.find

    def find(self: MemoryLedger, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        return real(self, table_id)

    return patch.object(MemoryLedger, "find", find)


def _owner_takes_no_for_proof() -> AbstractContextManager[object]:
    """As the owner did until the simulation came along."""
    real = LedgerCoordinator.require_entry

    def require_entry(
        self: LedgerCoordinator, table: CoordinatedTable, txn_id: TxnId | None = None
    ) -> LedgerEntry:
        try:
            return real(self, table, txn_id)
        except CatalogUnavailable as exc:
            raise StorageUnavailable(exc.message, path="", operation="find") from exc

    return patch.object(LedgerCoordinator, "require_entry", require_entry)


def _copy(table: CoordinatedTable, commit: RatifiedCommit) -> None:
    if isinstance(commit.where, StagedCommit):
        published_files.publish_version(table.store, commit.version, table.store.read(commit.where.path))


def _newest_first() -> AbstractContextManager[object]:
    def publish(
        self: LedgerCoordinator, table: CoordinatedTable, record: Registration, version: Version
    ) -> None:
        for commit in reversed(self.ledger.commits(record.table_id, Version(record.published + 1))):
            if commit.version <= version:
                _copy(table, commit)
        if version > record.published:
            self.ledger.publish(record.table_id, version)

    return patch.object(LedgerCoordinator, "_publish", publish)


def _failed_version_is_skipped() -> AbstractContextManager[object]:
    def publish(
        self: LedgerCoordinator, table: CoordinatedTable, record: Registration, version: Version
    ) -> None:
        for commit in self.ledger.commits(record.table_id, Version(record.published + 1)):
            if commit.version <= version:
                with suppress(StorageUnavailable):
                    _copy(table, commit)
        if version > record.published:
            self.ledger.publish(record.table_id, version)

    return patch.object(LedgerCoordinator, "_publish", publish)


class _ListedBefore:
    """A store that lists what it had before."""

    def __init__(self, store: Store) -> None:
        self.read = store.read
        self._listing = list(store.list_from(file_names.LOG_FOLDER))

    def list_from(self, _: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        return iter([meta for meta in self._listing if after is None or meta.path > after])


def _listed_before_asking() -> AbstractContextManager[object]:
    def frontier(self: CoordinatedCommitter, *, known: Version | None = None) -> Frontier:
        late = copy(self)
        listed: Any = _ListedBefore(self._store)
        late._store = listed
        found = late._joined(self._coordinator.get_commits(self._table), known)
        return found or FilesystemCommitter(listed).frontier(known=known)

    return patch.object(CoordinatedCommitter, "frontier", frontier)


def _listing_decides() -> AbstractContextManager[object]:
    def frontier(self: CoordinatedCommitter, *, known: Version | None = None) -> Frontier:
        return FilesystemCommitter(self._store).frontier(known=known)

    return patch.object(CoordinatedCommitter, "frontier", frontier)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("route-of-the-base", "a rebased transaction takes the route of the version it read",
           _route_of_the_base),
    Mutant("owner-not-found-out", "a reader that learns of an owner does not ask it",
           _owner_is_never_found_out),
    Mutant("take-over-rebased", "a table is given to its owner as of another version than agreed",
           partial(without, "take-over")),
    Mutant("leftovers-forgotten", "who follows a release does not publish what a crash left behind",
           _leftovers_are_forgotten),
    Mutant("released-unpublished", "an owner lets go of a table before all of it is published",
           _released_before_all_is_published),
    Mutant("owner-accepts-after-release", "an owner goes on ratifying after it let go",
           _owner_accepts_after_the_release),
    Mutant("owner-forgets-ids", "an owner does not know a transaction again that it ratified",
           _owner_forgets_ids),
    Mutant("owner-takes-no-for-proof", "an owner takes the no to a repeated write for a proof",
           _owner_takes_no_for_proof),
    Mutant("owner-publishes-newest-first", "an owner publishes the newest version first", _newest_first),
    Mutant("owner-skips-a-version", "an owner goes on publishing after a version that failed",
           _failed_version_is_skipped),
    Mutant("listed-before-asking", "who reads an owned table lists the log first and asks its owner then",
           _listed_before_asking),
    Mutant("listing-decides-owned", "who reads an owned table does not ask its owner", _listing_decides),
)  # fmt: skip
