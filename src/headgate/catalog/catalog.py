"""The catalog of a lake over one database: what its ports ask, answered by the parts it is made of.

Whoever proposes gets a decision of the ``Ratifier``; what tables there are the ``DatabaseDirectory`` knows.
Of tables that change hands, or whose log others write too, only the log can tell how things stand, so the
catalog has it looked at (``settle``, ``import_…``) before it answers.
"""

import copy
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from headgate.catalog import decision
from headgate.catalog.access import storage_privileges
from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.access.grant_service import GrantService
from headgate.catalog.access.token_service import TokenService
from headgate.catalog.activity.coordinator_ledger import DatabaseLedger
from headgate.catalog.activity.leases import Leases
from headgate.catalog.activity.maintenance_permissions import DatabaseMaintenancePermissions
from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.database.engine import Database
from headgate.catalog.database.gathered_writes import GatheredWrites
from headgate.catalog.decision import DEFAULT_LIMITS, Decision, UnpublishedLimits
from headgate.catalog.directory import table_search
from headgate.catalog.directory.directory import DatabaseDirectory
from headgate.catalog.directory.directory_copy import DirectoryCopyWriter
from headgate.catalog.directory.external_tables import DatabaseExternalTables
from headgate.catalog.directory.purge import Disposal
from headgate.catalog.handover.adoption import Adoptions
from headgate.catalog.handover.context import HandoverContext
from headgate.catalog.handover.recovery import RecoveryWriter
from headgate.catalog.handover.release import Releases
from headgate.catalog.handover.settled_tables import SettledTables
from headgate.catalog.integrity import CatalogAuditor
from headgate.catalog.ports.access import (
    LAKE,
    OWNER,
    AccessControl,
    AccessTokens,
    Privilege,
    Scope,
    Securable,
    acting_principal,
)
from headgate.catalog.ports.catalog import NO_POLICIES, Policies
from headgate.catalog.ports.commits import (
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.directory import ExternalTables, StagingTable, TableEntry, TableName
from headgate.catalog.ports.groups import (
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    PinnedTables,
    RatifiedGroup,
)
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.policies import CommitRehearsals
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import CommitRecord, LoadedTable, LogHints
from headgate.catalog.ratification import multi_table, refusals
from headgate.catalog.ratification.external_commits import ExternalCommitImporter
from headgate.catalog.ratification.group_records import GroupReader
from headgate.catalog.ratification.log_notes import LogHintRecorder
from headgate.catalog.ratification.proposal_reader import ProposalReader
from headgate.catalog.ratification.publication import PublishedWatermarks
from headgate.catalog.ratification.published_probe import PublishedProbe
from headgate.catalog.ratification.ratifier import Ratifier
from headgate.catalog.ratification.ratify import Candidate, RatificationTerms, UnknownVersionPublished
from headgate.catalog.ratification.rehearsals import Rehearsals
from headgate.catalog.store import commit_store, grant_store, loading, transfer_store
from headgate.clock import World
from headgate.errors import NotAllowed, TableFrozen, UserError
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.credentials import StorageOperation, VendedCredential
from headgate.storage.locate import Locate


class Catalog:
    """Every port of a catalog, ``LakeCatalog``, over one database."""

    def __init__(
        self,
        database: Database,
        *,
        warehouse: str,
        locate: Locate,
        world: World,
        limits: UnpublishedLimits = DEFAULT_LIMITS,
    ) -> None:
        self._database, self._world = database, world
        self._principal, self._policies = OWNER, NO_POLICIES
        self._directory = directory = DatabaseDirectory(database, warehouse, locate, world)
        self.events, self.leases = EventLog(database, world), Leases(database, world)
        self.permissions = DatabaseMaintenancePermissions(database, world)
        self._handover = HandoverContext(database, warehouse, locate, world)
        self.adoptions, self.releases = Adoptions(self._handover), Releases(self._handover)
        self.disposal = Disposal(database, directory.absolute, world)
        self.disposal.add_objection(self.leases.objection)
        self.disposal.add_objection(self.releases.objection)
        self._writes = GatheredWrites(database)
        self.publications = PublishedWatermarks(database, self.events, directory.files, self._writes)
        self._recoveries = RecoveryWriter(database, world)
        self.copies = DirectoryCopyWriter(database, lambda: locate(warehouse))
        self._terms = RatificationTerms(limits, now_ms=world.now_ms)
        self._external_commits = ExternalCommitImporter(
            database, world, PublishedProbe(directory.files), self._terms.partitionings
        )
        self._proposals = ProposalReader(database, directory.files)
        self._ratifier = Ratifier(database, self._terms, self._external_commits)

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> "Catalog":
        """The same catalog on behalf of a principal, under more policies; closing one closes all."""
        other, named = copy.copy(self), acting_principal(principal)
        other._principal, other._policies = named, policies or self._policies
        other._directory = replace(self._directory, principal=named)
        other.events = EventLog(self._database, self._world, named)
        other.permissions = DatabaseMaintenancePermissions(self._database, self._world, named)
        other.leases = replace(self.leases, principal=named)
        other.disposal = self.disposal.acting_as(named)
        other.publications = replace(self.publications, principal=named)
        other.copies = self.copies.acting_as(named)
        handover = replace(self._handover, principal=named)
        other.adoptions, other.releases = Adoptions(handover), Releases(handover)
        return other

    @property
    def warehouse(self) -> str:
        return self._directory.warehouse

    @property
    def principal(self) -> str:
        return str(self._principal)

    @property
    def granting(self) -> AccessControl:
        return GrantService(self._database, self._world, self._principal, self.resolve)

    @property
    def tokens(self) -> AccessTokens:
        return TokenService(self._database, self._world, self._principal)

    @property
    def ledger(self) -> Ledger:
        return DatabaseLedger(self.warehouse, self._database, self._principal)

    @property
    def externals(self) -> ExternalTables:
        return DatabaseExternalTables(self._database, self.warehouse, self._world, self._principal)

    @property
    def rehearsals(self) -> CommitRehearsals:
        return Rehearsals(self._proposals, self._terms, Proposer(self._principal, self._policies()))

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        try:
            candidate = self._proposals.read(proposal, Proposer(self._principal, self._policies()))
            return self._ratifier.propose(candidate)
        except TableFrozen:
            self.releases.settle(proposal.table_id)
            raise
        except UserError as exc:
            refusals.record_refusal(self.events, proposal, exc, self._principal)
            raise

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        try:
            return self._ratify_group(group)
        except TableFrozen:
            for proposal in group.proposals:
                self.releases.settle(proposal.table_id)
            raise
        except UserError as exc:
            for proposal in group.proposals:
                if proposal.table_id == exc.fields.get("table_id"):
                    refusals.record_refusal(self.events, proposal, exc, self._principal)
            raise

    def _ratify_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        new = {creation.staging.table_id for creation in group.creations}
        standing, directory = Proposer(self._principal, self._policies()), self._directory

        def read(proposal: Proposal) -> Candidate:
            location = proposal.table_id if proposal.table_id in new else None  # T3: not what a client says
            return self._proposals.read(proposal, standing, location=location)

        try:
            self._check_sees({*group.read_only, *group.drops})
            prepared = multi_table.prepare_group(
                group, read, directory.first_commit, self._ratifier.terms, self._principal
            )
        except UserError:
            if known := multi_table.find_ratified_group(self._database, group, self._principal):
                return known
            raise
        changes = multi_table.DirectoryChanges(directory.register_in, directory.drop_in)
        try:
            return multi_table.ratify_group(self._database, prepared, changes)
        except UnknownVersionPublished:
            self._external_commits.import_from_folders(
                [each.table_id for each in group.proposals], standing.policies
            )
            return multi_table.ratify_group(self._database, replace(prepared, terms=self._terms), changes)

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        self._check_sees({*group.participants, *group.read_only})
        return multi_table.group_outcome(self._database, group, self._principal)

    def groups_with(self, commits: Iterable[tuple[TableId, Version]]) -> tuple[RatifiedGroup, ...]:
        return GroupReader(self._database, self._principal).groups_with(commits)

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        return self._settled.pin((), table_ids).tails

    def pin(self, names: Iterable[TableName], table_ids: Iterable[TableId] = ()) -> PinnedTables:
        return self._settled.pin(tuple(names), table_ids)

    def create_schema(self, schema: str) -> bool:
        return self._directory.create_schema(schema)

    def schemas(self) -> tuple[str, ...]:
        return self._directory.schemas()

    def drop_schema(self, schema: str) -> bool:
        is_dropped = self._directory.drop_schema(schema)
        if is_dropped:
            self.copies.note_dropped_schema(schema)
        return is_dropped

    def stage(self, name: TableName) -> StagingTable:
        return self._directory.stage(name)

    def find_staging(self, table_id: TableId) -> StagingTable:
        return self._directory.find_staging(table_id)

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        return self._directory.register(staging, name)

    def resolve(self, name: TableName) -> TableEntry:
        return self._settled.resolve(name)

    def resolve_all(self, names: Iterable[TableName]) -> tuple[TableEntry, ...]:
        return self._settled.resolve_all(tuple(names))

    def search_tables(self, words: str, *, offset: int, limit: int) -> tuple[tuple[TableEntry, ...], int]:
        return table_search.search_tables(self._directory, words, offset, limit)

    def held_privileges(self, table_id: TableId | None = None) -> frozenset[Privilege]:
        on = LAKE if table_id is None else Securable(Scope.TABLE, table_id)
        with self._database.reading() as db:
            return grant_store.privileges_on(db, self._principal, on)

    def resolve_id(self, table_id: TableId) -> TableEntry:
        return self._directory.resolve_id(table_id)

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        return self._directory.tables(schema)

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        return self._directory.rename(self.resolve(name).name, to)

    def drop(self, name: TableName) -> TableEntry:
        self.releases.settle(self.resolve(name).table_id)  # one that has left is not this catalog's to drop
        return self._directory.drop(name)

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        return self._directory.dropped(schema)

    def undrop(
        self, name: TableName, *, table_id: TableId | None = None, to: TableName | None = None
    ) -> TableEntry:
        return self._directory.undrop(name, table_id=table_id, to=to)

    def check_may_purge(self, table_id: TableId) -> None:
        self.releases.settle(table_id)
        self._directory.check_may_purge(table_id)

    def share_log(self, name: TableName) -> TableEntry:
        return self._directory.share_log(self.resolve(name).name)

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        self._check_sees((table_id,))
        self._external_commits.import_from_shared_logs((table_id,), self._policies())
        with self._database.reading() as db:
            known = transfer_store.require_live_table(db, table_id, txn_id)
            head, first = known.head, known.first_ratified_as
            match decision.decide(head, target, first, any_version=any_version):
                case Decision.REPLAY:
                    return Ratified(Version(first or 0))
                case Decision.LOST:
                    return Lost(commit_store.commits_from(db, table_id, target, head.published))
                case _:
                    return Open()

    def tail(self, table_id: TableId) -> Tail:
        return self._settled.tail(table_id)

    @property
    def writes(self) -> int:
        return self._database.writes

    def load(self, name: TableName) -> LoadedTable:
        return self._settled.load(name)

    def note_log(self, table_id: TableId, known: LogHints) -> None:
        LogHintRecorder(self._database, self._writes, self._principal).note(table_id, known)

    def gathering(self) -> AbstractContextManager[None]:
        return self._writes.gathering()

    def version_at(self, table_id: TableId, moment: EpochMillis) -> Version | None:
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, table_id)
            head = transfer_store.require_live_table(db, table_id).head
            return loading.version_at(db, table_id, head, moment)

    def commits(
        self, table_id: TableId, *, before: Version | None = None, limit: int = 1_000
    ) -> tuple[CommitRecord, ...]:
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, table_id)
            return loading.load_commit_records(db, table_id, before=before, limit=limit)

    def credentials(self, table_id: TableId, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        with self._database.reading() as db:
            storage_privileges.require_storage_access(db, self._principal, table_id, operation)
        return ()  # whoever can open the database has credentials of its own

    def import_external_versions(self, table_id: TableId) -> Version:
        self._check_sees((table_id,))
        self._external_commits.import_versions(table_id, self._policies())
        with self._database.reading() as db:
            return transfer_store.require_live_table(db, table_id).head.latest

    @property
    def recoveries(self) -> CatalogRecovery:
        """Writes down what logs prove, whoever it belonged to: for the owner of the lake alone."""
        if self._principal != OWNER:
            raise NotAllowed(
                "recovering a lake makes tables of what is found, whoever owned them: only the owner of the "
                "lake may",
                operation="recover",
            )
        return self._recoveries

    def ahead(self) -> tuple[str, ...]:
        return self._external_commits.ahead() if self._principal == OWNER else ()

    def accept_version(self, name: TableName, version: Version) -> Version:
        table_id, standing = self.resolve(name).table_id, Proposer(self._principal, self._policies())
        return self._external_commits.accept(table_id, version, standing)

    def set_aside_version(self, name: TableName, version: Version) -> str:
        entry, by = self.resolve(name), self._principal
        store = self._directory.locate(entry.location)
        return self._external_commits.set_aside(entry.table_id, store, version, by)

    def mark_published(self, table_id: TableId, version: Version) -> None:
        self.publications.mark(table_id, version)

    def books(self, table_id: TableId) -> TableBooks:
        return CatalogAuditor(self._database, table_id, self.mark_published, self._principal)

    def connections_in_use(self) -> float:
        return self._database.connections_in_use()

    def close(self) -> None:
        self._database.close()

    @property
    def _settled(self) -> SettledTables:
        return SettledTables(
            self._directory, self.adoptions, self.releases, self._external_commits, self._policies
        )

    def _check_sees(self, table_ids: Iterable[TableId]) -> None:
        if self._principal == OWNER:
            return
        with self._database.reading() as db:
            for table_id in table_ids:
                grant_store.require_visible(db, self._principal, table_id)
