"""A coordinator that keeps a ledger: it ratifies by one conditional write, and publishes in batches."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headgate.catalog import published_files
from headgate.catalog.coordinator import rules
from headgate.catalog.coordinator.take_over_claims import TakeOverClaims
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import CoordinatedProposal, CoordinatedTable, GetCommitsResponse
from headgate.catalog.ports.ledger import Ledger, LedgerEntry, Registration
from headgate.clock import SystemWorld, World
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    HeadgateError,
    InvalidRequest,
)
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import file_names

TABLE_ID = "tableId"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LedgerCoordinator:
    """Coordinators of equal ledgers are equal."""

    ledger: Ledger
    batch: int = field(default=1, compare=False)
    """Every version that is a multiple of this is published with all before it, as part of its commit."""
    world: World = field(default_factory=SystemWorld, compare=False, repr=False)

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        place, first = rules.normalize_location(location), rules.first_coordinated_version(current)
        records = self.ledger.records(place)
        rules.check_registrable(records, told.metadata.id, first)
        # A new id each time: a registration that came to nothing must not be taken for this one.
        table_id = self.world.uuid()
        before = Version(first - 1)
        self.ledger.open(
            Registration(table_id, place, told.metadata.id, first, first, published=before, accepting=True),
            abandoned=rules.abandoned_registrations(records, told.metadata.id, first),
        )
        return {TABLE_ID: table_id}

    def settle(self, table: CoordinatedTable, version: Version, staged: StagedCommit) -> bool:
        self.require_entry(table)
        return TakeOverClaims(self.ledger).settle(table, version, staged)

    def commit(
        self, table: CoordinatedTable, proposal: CoordinatedProposal
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        if file_names.staged_version(proposal.staged.file_name) != proposal.version:
            raise InvalidRequest(
                f"{proposal.staged.file_name!r} is not the name of a staged version {proposal.version}"
            )
        known = self.require_entry(table, proposal.txn_id)
        releases = _releases(proposal)
        commit = RatifiedCommit(proposal.version, proposal.txn_id, proposal.timestamp, proposal.staged)
        while known.ratified is None and rules.is_next_version(known.record, proposal.version):
            if releases:
                self._publish(table, known.record, Version(proposal.version - 1))
            try:
                if self.ledger.write(known.record.table_id, commit, accepting=not releases):
                    return self._published_if_due(table, commit, releases=releases)
            except CommitUnknown as exc:
                return Unknown(exc.message)
            try:
                known = self.require_entry(table, proposal.txn_id)
            except CatalogUnavailable as exc:
                # Whoever asks twice hears no after a yes that got lost, so the no alone proves nothing.
                return Unknown(exc.message)
        if known.ratified is not None:
            return _without_published_content(known.ratified, known.record)
        winners = self.ledger.commits(known.record.table_id, proposal.version)
        return Lost(tuple(_without_published_content(winner, known.record) for winner in winners))

    def get_commits(
        self, table: CoordinatedTable, *, start: Version | None = None, end: Version | None = None
    ) -> GetCommitsResponse:
        record = self.require_entry(table).record
        since = Version(max(record.published + 1, start or 0))
        # In this order: what is ratified in between is left out, so nothing exceeds the latest.
        found = self.ledger.commits(record.table_id, since)
        last = record.next - 1 if end is None else min(end, record.next - 1)
        return GetCommitsResponse(tuple(commit for commit in found if commit.version <= last), record.latest)

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        record = self.require_entry(table).record
        rules.check_ratified(record, version)
        self._publish(table, record, version)

    def require_entry(self, table: CoordinatedTable, txn_id: TxnId | None = None) -> LedgerEntry:
        """The record of a table, and what the transaction became; refused if the table is not its."""
        table_id = table.conf.get(TABLE_ID, "")
        known = self.ledger.find(table_id, txn_id)
        record = None if known is None else known.record
        checked = rules.require_registration(record, table_id, rules.normalize_location(table.location))
        return known or LedgerEntry(checked)

    def _published_if_due(
        self, table: CoordinatedTable, commit: RatifiedCommit, *, releases: bool
    ) -> RatifiedCommit:
        if not releases and commit.version % self.batch:
            return commit
        try:
            self.backfill_to(table, commit.version)
        except HeadgateError as exc:
            _LOG.warning(
                "version %s is ratified, but could not be published yet; it is safe and will be tried "
                "again: %s", commit.version, exc,
            )  # fmt: skip
            return commit
        return replace(commit, where=None)

    def _publish(self, table: CoordinatedTable, record: Registration, version: Version) -> None:
        for commit in self.ledger.commits(record.table_id, Version(record.published + 1)):
            if commit.version <= version and isinstance(commit.where, StagedCommit):
                published_files.publish_version(
                    table.store, commit.version, table.store.read(commit.where.path)
                )
        if version > record.published:
            self.ledger.publish(record.table_id, version)


def _releases(proposal: CoordinatedProposal) -> bool:
    was, is_now = (
        coordinated_commits.coordinator_of(told.metadata) for told in (proposal.before, proposal.after)
    )
    return was is not None and is_now is None


def _without_published_content(commit: RatifiedCommit, record: Registration) -> RatifiedCommit:
    return replace(commit, where=None) if commit.version <= record.published else commit
