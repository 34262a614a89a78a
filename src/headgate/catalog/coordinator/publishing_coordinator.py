"""A commit owner that writes every commit as a published file at once, so that nothing is left to publish.

An owner has two choices. ``LedgerOwner`` records which staged file is a version. This one makes the other
choice: where the previous version is published, it creates the next one in ``_delta_log`` itself, and the
moment at which that file is there is the moment of ratification, whoever hears of it. The ledger follows the
log, and says whose the table is and when it was released.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.catalog.coordinator import rules
from headgate.catalog.coordinator.ledger_coordinator import TABLE_ID, LedgerOwner
from headgate.catalog.coordinator.rules import Record
from headgate.catalog.ports.commits import Lost, RatifiedCommit, Staged, Told, Unknown
from headgate.catalog.ports.coordinator import OwnedActions, OwnedCommits, OwnedProposal, OwnedTable
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    InvalidRequest,
    ObjectExists,
    ObjectNotFound,
    StorageUnavailable,
)
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage import conditional_put_probe


@dataclass(frozen=True, slots=True)
class PublishingOwner:
    """Owners over equal ledgers are equal; the store must create files only if there are none."""

    inner: LedgerOwner

    def register(self, location: str, current: Version | None, told: Told) -> Mapping[str, str]:
        return self.inner.register(location, current, told)

    def commit(
        self, table: OwnedTable, proposal: OwnedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        content = table.store.read(proposal.staged.path)
        return self.commit_actions(
            table,
            OwnedActions(
                proposal.version,
                proposal.txn_id,
                proposal.timestamp,
                content,
                proposal.staged.folder,
                proposal.before,
                proposal.after,
            ),
        )

    def commit_actions(
        self, table: OwnedTable, proposal: OwnedActions
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        record = self._follow(table)
        if found := self._ratified(table, proposal.txn_id):
            return found
        if not rules.is_next(record, proposal.version):
            return Lost(())
        self._require_previous(table, proposal.version)
        conditional_put_probe.require_conditional_puts(table.store, file_names.PROBE)
        try:
            table.store.put_if_absent(file_names.published(proposal.version), proposal.content)
        except StorageUnavailable as exc:
            return Unknown(exc.message)
        except ObjectExists:
            # A store says this to the winner too, if it asked twice; the log tells who won.
            try:
                self._follow(table)
                return self._ratified(table, proposal.txn_id) or Lost(())
            except (CatalogUnavailable, CommitUnknown, StorageUnavailable) as exc:
                return Unknown(exc.message)
        return RatifiedCommit(proposal.version, proposal.txn_id, proposal.timestamp, None)

    def get_commits(
        self, table: OwnedTable, *, start: Version | None = None, end: Version | None = None
    ) -> OwnedCommits:
        del start, end  # there is never one that is not published
        return OwnedCommits((), self._follow(table).latest)

    def backfill_to(self, table: OwnedTable, version: Version) -> None:
        record = self._follow(table)
        if version >= record.next:
            raise InvalidRequest(
                f"version {version} cannot be published: the latest ratified version is {record.latest}",
                asked=version, latest=record.latest,
            )  # fmt: skip

    def _follow(self, table: OwnedTable) -> Record:
        """The record, once the ledger has every version of the log: a crash may have left it behind."""
        record = self.inner.known(table).record
        while record.accepting:
            commit = self._published(table, record.next)
            if commit is None:
                break
            ratified, releases = commit
            self.inner.ledger.write(record.table_id, ratified, accepting=not releases)
            self.inner.ledger.publish(record.table_id, ratified.version)
            record = self.inner.known(table).record
        return record

    def _published(self, table: OwnedTable, version: Version) -> tuple[RatifiedCommit, bool] | None:
        """The version as the log has it, and whether it releases the table; None if it is not there."""
        path = file_names.published(version)
        try:
            commit = codec.decode(version, table.store.read(path))
        except ObjectNotFound:
            return None
        info = commit.info
        txn_id = info.txn_id if info is not None and info.txn_id is not None else TxnId(path)
        stamp = info.in_commit_timestamp if info is not None else None
        where = Staged(path.removeprefix(file_names.LOG), file_names.LOG)
        releases = commit.metadata is not None and coordinated_commits.of(commit.metadata) is None
        return RatifiedCommit(version, txn_id, stamp or EpochMillis(0), where), releases

    def _ratified(self, table: OwnedTable, txn_id: TxnId) -> RatifiedCommit | None:
        known = self.inner.ledger.find(table.conf.get(TABLE_ID, ""), txn_id)
        if known is None or known.ratified is None:
            return None
        found = known.ratified
        return RatifiedCommit(found.version, found.txn_id, found.in_commit_timestamp, None)

    def _require_previous(self, table: OwnedTable, version: Version) -> None:
        try:
            table.store.head(file_names.published(Version(version - 1)))
        except ObjectNotFound as exc:
            raise InvalidRequest(
                f"version {version} cannot be created: version {version - 1} is not published",
                asked=version, latest=version - 1,
            ) from exc  # fmt: skip
