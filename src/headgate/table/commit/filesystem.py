"""The route of ordinary Delta tables: whoever creates ``<v>.json`` first has version v."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from headgate.catalog.ports.commits import Lost, Open, Outcome, Ratified, Unknown
from headgate.errors import (
    ConcurrentWrite,
    CorruptLog,
    InvalidRequest,
    ObjectExists,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
    TableNotFound,
)
from headgate.protocol.actions import Commit, EpochMillis, Metadata, Protocol, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage import conditional_put_probe
from headgate.storage.store import Store
from headgate.table.authority import Decider
from headgate.table.commit.stamp_clock import TimestampGuard
from headgate.table.committer import Frontier
from headgate.table.read import log_reader
from headgate.table.transaction import Transaction


class FilesystemCommitter:
    """Commits by put-if-absent; ratified and published are one moment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._clock = TimestampGuard(store)

    def frontier(self, *, known: Version | None = None) -> Frontier:
        since = known if known is not None else log_reader.last_checkpoint_version(self._store)
        files, versions = log_reader.list_versions(self._store, since=since)
        if known is not None:
            return Frontier(max([known, *versions]), {}, managed=False)
        if not versions:
            raise TableNotFound("there is no Delta table: _delta_log has no commit", name="")
        return Frontier(max(versions), {}, managed=False, listing=files)

    def follow(self, version: Version, metadata: Metadata) -> bool:  # noqa: ARG002 — see RoutedCommitter
        return False

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:
        if protocol.is_catalog_managed:
            return Decider.MISSING_CATALOG
        return (
            Decider.FILE_SYSTEM
            if coordinated_commits.coordinator_of(metadata) is None
            else Decider.MISSING_COORDINATOR
        )

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        _check_route(txn)
        conditional_put_probe.require_conditional_puts(self._store, file_names.PROBE_FOLDER)
        self._clock.require(txn)
        self._require_predecessor(txn)
        try:
            self._store.put_if_absent(file_names.published_path(txn.target), txn.content)
        except ObjectExists:
            # A store says this to the winner too, if it asked twice (P13).
            return self.outcome_of(txn)
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        return Ratified(txn.target)

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        dated = txn.attempt.enables_in_commit_timestamps
        try:
            first = self._read(txn.target, dated=dated)
        except ObjectNotFound:
            return Open()
        except StorageError as exc:  # even if there is no right to read: it may be ours
            return Unknown(exc.message)
        winners = [first]
        if txn.proposed.version(winners) is None:
            winners.extend(self._after(txn.target, dated=dated))
        else:
            with suppress(StorageError, CorruptLog):  # what cannot be read after it does not undo it
                winners.extend(self._after(txn.target, dated=False))
        known = txn.proposed.version(winners)
        return Lost(tuple(winners)) if known is None else Ratified(known)

    def publish(self, told: Frontier | None = None) -> Version:  # noqa: ARG002
        return self.frontier().latest

    def _require_predecessor(self, txn: Transaction) -> None:
        """Refuse a version that has no file because others have gone on, and cleaned up the log since."""
        if txn.target == 0:
            return
        before = Version(txn.target - 1)
        try:
            self._store.head(file_names.published_path(before))
        except ObjectNotFound:
            latest = self.frontier().latest
            if latest != before:
                raise ConcurrentWrite(
                    f"version {before}, which was read, is no longer in the log: the table is at version "
                    f"{latest}, and its log was cleaned up; nothing was committed, run the operation again",
                    winner=latest,
                ) from None

    def _after(self, version: Version, *, dated: bool) -> Iterator[Commit]:
        while True:
            version = Version(version + 1)
            try:
                yield self._read(version, dated=dated)
            except ObjectNotFound:
                return

    def _read(self, version: Version, *, dated: bool) -> Commit:
        path = file_names.published_path(version)
        commit = codec.decode(version, self._store.read(path))
        if not dated:
            return commit
        # The commit that switches in-commit timestamps on must come after the file times before it (I8).
        return replace(commit, modified_ms=EpochMillis(self._store.head(path).modified_ms))


def _check_route(txn: Transaction) -> None:
    """Refuse a table that others decide about; asked at each attempt (W9)."""
    named = coordinated_commits.coordinator_of(txn.attempt.follows.metadata)
    if named is not None:
        raise coordinated_commits.unreachable_coordinator_error(
            named, f"version {txn.target} by creating a file"
        )
    if True in txn.is_catalog_managed:
        raise InvalidRequest(
            f"a catalog manages the table, so version {txn.target} is not to be had by creating a file: open "
            "the table by name, headgate.connect(…).table('schema.table'), and run the operation again",
            code="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
        )
