"""Mistakes of the filesystem route."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from unittest.mock import patch

from headgate.catalog.ports.commits import Lost, Outcome, Ratified, Unknown
from headgate.errors import ObjectExists, ObjectNotFound, StorageUnavailable
from headgate.protocol.actions import Commit
from headgate.protocol.log import file_names
from headgate.protocol.transaction.txn_ids import ProposedTxn
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.transaction import Transaction
from tests.simulation.faults import Fault
from tests.simulation.mutations.commit_loop import not_ours
from tests.simulation.mutations.mutant import Mutant


def _put_overwrites() -> AbstractContextManager[object]:
    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        try:
            self._store.put(file_names.published_path(txn.target), txn.content)
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        return Ratified(txn.target)

    return patch.object(FilesystemCommitter, "propose", propose)


@contextmanager
def _exists_is_lost() -> Iterator[None]:
    real = FilesystemCommitter.propose

    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        outcome_of = self.outcome_of

        def without_reading_back(asked: Transaction) -> Outcome[Commit]:
            found = outcome_of(asked)
            if not isinstance(found, Ratified):
                return found
            first = self._read(asked.target, dated=False)
            return Lost((first, *self._after(asked.target, dated=False)))

        self.outcome_of = without_reading_back  # type: ignore[method-assign, assignment] # a mutation
        try:
            return real(self, txn)
        finally:
            del self.outcome_of

    with (
        patch.object(FilesystemCommitter, "propose", propose),
        patch.object(ProposedTxn, "version", not_ours),
    ):
        yield


def _lock_file() -> AbstractContextManager[object]:
    real = FilesystemCommitter.propose

    def propose(self: FilesystemCommitter, txn: Transaction) -> Outcome[Commit]:
        try:
            self._store.put_if_absent("_lock", txn.txn_id.encode())
        except ObjectExists:
            try:
                if self._store.read("_lock") != txn.txn_id.encode():
                    return Unknown("somebody else holds the lock")
            except ObjectNotFound:
                return Unknown("somebody else held the lock")
        outcome = real(self, txn)
        for _ in range(5):
            with suppress(StorageUnavailable):
                self._store.delete("_lock")
                break
        return outcome

    return patch.object(FilesystemCommitter, "propose", propose)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("put-overwrites", "the filesystem route uses put instead of put_if_absent", _put_overwrites),
    Mutant("exists-is-lost", "the filesystem route does not look whether the existing version is its own",
           _exists_is_lost, Fault.RESENT),
    Mutant("lock-file", "the filesystem route locks the table with a file", _lock_file, Fault.CRASH),
)  # fmt: skip
