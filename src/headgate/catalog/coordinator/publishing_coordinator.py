"""A coordinator that writes every commit as a published file at once, so that nothing is left to publish.

A coordinator has two choices. ``LedgerCoordinator`` records which staged file is a version. This one makes
the other choice: where the previous version is published, it creates the next one in ``_delta_log`` itself,
and the moment at which that file is there is the moment of ratification, whoever hears of it. The ledger
follows the log, and says whose the table is and when it was released.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.catalog.coordinator import rules
from headgate.catalog.coordinator.ledger_coordinator import TABLE_ID, LedgerCoordinator
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import (
    CoordinatedActions,
    CoordinatedProposal,
    CoordinatedTable,
    GetCommitsResponse,
)
from headgate.catalog.ports.ledger import Registration
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
class PublishingCoordinator:
    """Coordinators over equal ledgers are equal; the store must create files only if there are none."""

    inner: LedgerCoordinator

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        return self.inner.register(location, current, told)

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        content = table.store.read(proposal.staged.path)
        return self.commit_actions(
            table,
            CoordinatedActions(
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
        self, table: CoordinatedTable, proposal: CoordinatedActions
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        record = self._follow(table)
        if found := self._ratified(table, proposal.txn_id):
            return found
        if not rules.is_next_version(record, proposal.version):
            return Lost(())
        self._require_previous(table, proposal.version)
        conditional_put_probe.require_conditional_puts(table.store, file_names.PROBE_FOLDER)
        try:
            table.store.put_if_absent(file_names.published_path(proposal.version), proposal.content)
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
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        del start, end  # there is never one that is not published
        return GetCommitsResponse((), self._follow(table).latest)

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        rules.check_ratified(self._follow(table), version)

    def _follow(self, table: CoordinatedTable) -> Registration:
        """The record, once the ledger has every version of the log: a crash may have left it behind."""
        record = self.inner.require_entry(table).record
        while record.accepting:
            commit = self._published(table, record.next)
            if commit is None:
                break
            ratified, releases = commit
            self.inner.ledger.write(record.table_id, ratified, accepting=not releases)
            self.inner.ledger.publish(record.table_id, ratified.version)
            record = self.inner.require_entry(table).record
        return record

    def _published(self, table: CoordinatedTable, version: Version) -> tuple[RatifiedCommit, bool] | None:
        """The version as the log has it, and whether it releases the table; None if it is not there."""
        path = file_names.published_path(version)
        try:
            commit = codec.decode(version, table.store.read(path))
        except ObjectNotFound:
            return None
        info = commit.info
        txn_id = info.txn_id if info is not None and info.txn_id is not None else TxnId(path)
        stamp = info.in_commit_timestamp if info is not None else None
        where = StagedCommit(path.removeprefix(file_names.LOG_FOLDER), file_names.LOG_FOLDER)
        releases = commit.metadata is not None and coordinated_commits.coordinator_of(commit.metadata) is None
        return RatifiedCommit(version, txn_id, stamp or EpochMillis(0), where), releases

    def _ratified(self, table: CoordinatedTable, txn_id: TxnId) -> RatifiedCommit | None:
        known = self.inner.ledger.find(table.conf.get(TABLE_ID, ""), txn_id)
        if known is None or known.ratified is None:
            return None
        found = known.ratified
        return RatifiedCommit(found.version, found.txn_id, found.in_commit_timestamp, None)

    def _require_previous(self, table: CoordinatedTable, version: Version) -> None:
        try:
            table.store.head(file_names.published_path(Version(version - 1)))
        except ObjectNotFound as exc:
            raise InvalidRequest(
                f"version {version} cannot be created: version {version - 1} is not published",
                asked=version, latest=version - 1,
            ) from exc  # fmt: skip
