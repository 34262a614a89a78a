"""The catalog's use cases: each one a database transaction around one pure decision.

Proposals that wait at the same moment share theirs (``grouping``, ``ratify``).
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection
from typing_extensions import override

from headgate.catalog import decision
from headgate.catalog.access import commit_policies
from headgate.catalog.access.commit_policies import Proposer
from headgate.catalog.access.grant_service import GrantService
from headgate.catalog.activity.leases import Leases
from headgate.catalog.activity.maintenance_permissions import DatabaseMaintenancePermissions
from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.database.engine import Database
from headgate.catalog.decision import DEFAULT_LIMITS, Decision, TableHead, UnpublishedLimits
from headgate.catalog.directory.directory import Directory
from headgate.catalog.directory.directory_copy import DirectoryCopyWriter
from headgate.catalog.directory.purge import Disposal
from headgate.catalog.handover.adoption import Adoptions
from headgate.catalog.handover.context import HandoverContext
from headgate.catalog.handover.recovery import RecoveryWriter
from headgate.catalog.handover.release import Releases
from headgate.catalog.integrity import CatalogAuditor
from headgate.catalog.ports.access import OWNER, Privilege, acting_principal
from headgate.catalog.ports.commits import (
    InlineCommit,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.directory import TableEntry, TableName, normalize_name
from headgate.catalog.ports.groups import GroupLost, GroupOutcome, GroupProposal, GroupRatified
from headgate.catalog.ports.handover import ReleaseStatus
from headgate.catalog.ports.policies import CommitPolicy
from headgate.catalog.ports.serving import CommitRecord, LoadedTable, LogHints
from headgate.catalog.ratification import multi_table, refusals
from headgate.catalog.ratification.external_commits import ExternalCommitImporter
from headgate.catalog.ratification.external_review import ExternalReview
from headgate.catalog.ratification.group_commit import GroupCommit
from headgate.catalog.ratification.publication import PublishedWatermarks
from headgate.catalog.ratification.ratify import Answer, Candidate, RatificationTerms
from headgate.catalog.store import checksum_content, commit_store, grant_store, loading, transfer_store
from headgate.catalog.store.commit_store import KnownTable
from headgate.catalog.validation import staged_commits, validation
from headgate.clock import World
from headgate.errors import HeadgateError, NotAllowed, SharedLog, TableFrozen, TableNotFound, UserError
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.locate import Locate

_GROUP_LIMIT = 64
_INTERRUPTED = Unknown("the thread that carried the proposal to the database was interrupted")


class Catalog(Directory):
    """Both ports of a catalog, ``CommitCatalog`` and ``TableDirectory``, over one database."""

    def __init__(
        self,
        database: Database,
        *,
        warehouse: str,
        locate: Locate,
        world: World,
        limits: UnpublishedLimits = DEFAULT_LIMITS,
    ) -> None:
        super().__init__(database, warehouse=warehouse, locate=locate, world=world)
        self._policies: Callable[[], Mapping[str, CommitPolicy]] = dict
        self.events = EventLog(database, world)
        self.leases, self.permissions = (
            Leases(database, world),
            DatabaseMaintenancePermissions(database, world),
        )
        self.disposal = Disposal(database, self._absolute, world)
        self.disposal.object_with(self.leases.objection)
        handover = HandoverContext(database, warehouse, locate, world)
        self.adoptions, self.releases = Adoptions(handover), Releases(handover)
        self.disposal.object_with(self.releases.objection)
        self.publications = PublishedWatermarks(
            database, self.events, lambda location: locate(self._absolute(location))
        )
        self._recoveries = RecoveryWriter(database, world)
        self.copies = DirectoryCopyWriter(database, lambda: locate(warehouse))
        self._logs = ExternalCommitImporter(
            database, lambda location: locate(self._absolute(location)), limits, world
        )
        self._proposals = GroupCommit[Candidate, Answer](
            self._logs.ratify, limit=_GROUP_LIMIT, interrupted=_INTERRUPTED
        )

    def acting_as(
        self, principal: str, *, policies: Callable[[], Mapping[str, CommitPolicy]] | None = None
    ) -> "Catalog":
        """The same catalog on behalf of a principal, under more policies; closing one closes all."""
        other = copy.copy(self)
        other._principal = acting_principal(principal)
        other.events = EventLog(self._database, self._world, other._principal)
        other.permissions = DatabaseMaintenancePermissions(self._database, self._world, other._principal)
        other.leases = replace(self.leases, principal=other._principal)
        other.disposal = self.disposal.acting_as(other._principal)
        other.publications = replace(self.publications, principal=other._principal)
        other._policies = policies or self._policies
        return other

    @property
    def warehouse(self) -> str:
        """Where its tables are, unless they were adopted from elsewhere."""
        return self._warehouse

    @property
    def principal(self) -> str:
        """On whose behalf it acts."""
        return self._principal

    @property
    def granting(self) -> GrantService:
        """Deciding who may do what."""
        return GrantService(self._database, self._world, self._principal, self.resolve)

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        try:
            return self._proposed(self._candidate(proposal))
        except UserError as exc:
            refusals.record_refusal(self.events, proposal, exc, self._principal)
            raise

    def _proposed(self, candidate: Candidate) -> Ratified | Lost[RatifiedCommit] | Unknown:
        proposal = candidate.proposal
        # Only where all wait for all may tables share a transaction; elsewhere one would hold up the others.
        lane = None if self._database.has_one_writer else proposal.table_id
        answer = self._proposals.submit(lane, candidate)
        if isinstance(answer, SharedLog):
            return self._logs.propose(candidate)
        if isinstance(answer, TableFrozen):
            self.releases.settle(proposal.table_id)
        if isinstance(answer, HeadgateError):
            raise answer
        return answer

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        try:
            return self._proposed_group(group)
        except TableFrozen:
            for proposal in group.proposals:
                self.releases.settle(proposal.table_id)
            raise
        except UserError as exc:
            for proposal in group.proposals:
                if proposal.table_id == exc.fields.get("table_id"):
                    refusals.record_refusal(self.events, proposal, exc, self._principal)
            raise

    def _proposed_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        staged = (creation.staging.table_id for creation in group.creations)
        new = {table_id: self._absolute(table_id) for table_id in staged}  # T3: not what a client says
        try:
            prepared = multi_table.prepare_group(
                group,
                lambda proposal: self._candidate(proposal, new.get(proposal.table_id)),
                self.first_commit,
                RatificationTerms(
                    self._logs.limits, partitionings=self._logs.partitionings, now_ms=self._world.now_ms
                ),
            )
        except UserError:
            if known := multi_table.find_ratified_group(self._database, group):
                return known
            raise
        self._logs.look_in_folders([each.table_id for each in group.proposals], self._policies())
        return multi_table.ratify_group(
            self._database, prepared, multi_table.DirectoryChanges(self.register_in, self.drop_in)
        )

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        self._check_sees(
            {*group.participants, *group.read_only} - {each.staging.table_id for each in group.creations}
        )
        return multi_table.group_outcome(self._database, group)

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        wanted = tuple(table_ids)
        self._check_sees(wanted)
        self.releases.settle_those_leaving(wanted)
        self._logs.look_in_shared(wanted, self._policies())
        return multi_table.load_tails(self._database, wanted)

    def resolve_all(self, names: Iterable[TableName]) -> tuple[TableEntry, ...]:
        """The tables of these names, found in one transaction."""
        wanted = tuple(map(normalize_name, names))
        try:
            with self._database.reading() as db:
                return tuple(self._resolved(self._found(db, name)) for name in wanted)
        except TableNotFound:  # unless one is on its way into the catalog
            return tuple(self.resolve(name) for name in wanted)

    @override
    def resolve(self, name: TableName) -> TableEntry:
        self.adoptions.settle_name(name)
        return super().resolve(name)

    @override
    def drop(self, name: TableName) -> TableEntry:
        self.releases.settle(self.resolve(name).table_id)  # one that has left is not this catalog's to drop
        return super().drop(name)

    @override
    def check_may_purge(self, table_id: TableId) -> None:
        self.releases.settle(table_id)
        super().check_may_purge(table_id)

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        self._check_sees((table_id,))
        self._logs.look_in_shared((table_id,), self._policies())
        with self._database.reading() as db:
            known = _require_known_table(db, table_id, txn_id)
            head, first = known.head, known.first_ratified_as
            match decision.decide(head, target, first, any_version=any_version):
                case Decision.REPLAY:
                    return Ratified(Version(first or 0))
                case Decision.LOST:
                    return Lost(commit_store.commits_from(db, table_id, target, head.published))
                case _:
                    return Open()

    def tail(self, table_id: TableId) -> Tail:
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, table_id)
            head = _require_known_table(db, table_id).head
            found = loading.load_tail(db, table_id, head)
        if head.shares_log and self._logs.look(table_id, self._policies()):
            return self.tail(table_id)
        # Of a table that is leaving only the log can tell whether it has left.
        if head.frozen and self.releases.settle(table_id) is not ReleaseStatus.OPEN:
            return self.tail(table_id)
        return found

    @property
    def writes(self) -> int:
        return self._database.writes

    def load(self, name: TableName) -> LoadedTable:
        as_of = self.writes
        with self._database.reading() as db:
            found = (
                None
                if transfer_store.is_name_claimed(db, normalize_name(name))
                else self._loaded(db, name, as_of)
            )
        if found is None:
            self.adoptions.settle_name(name)
            with self._database.reading() as db:
                found = self._loaded(db, name, as_of)
        loaded, head = found
        if head.frozen or head.shares_log:  # only the log can tell what the latest version is
            return replace(loaded, tail=self.tail(loaded.entry.table_id))
        return loaded

    def _loaded(self, db: Connection, name: TableName, as_of: int) -> tuple[LoadedTable, TableHead]:
        entry = self._resolved(self._found(db, normalize_name(name)))
        head = _require_known_table(db, entry.table_id).head
        told, known = loading.load_tail(db, entry.table_id, head), loading.load_log_hints(db, entry.table_id)
        return LoadedTable(entry, told, known, as_of), head

    def note_log(self, table_id: TableId, known: LogHints) -> None:
        with self._database.writing() as db:
            commit_store.lock_table(db, table_id)
            grant_store.require_visible(db, self._principal, table_id)
            head, content = _require_known_table(db, table_id).head, known.content
            may_write = grant_store.table_privileges(db, self._principal, table_id) - {Privilege.READ}
            if content and not (
                may_write and checksum_content.agrees_with_catalog(db, table_id, head, content)
            ):
                known = replace(known, content=None)
            loading.save_log_hints(db, table_id, known)

    def version_at(self, table_id: TableId, moment: EpochMillis) -> Version | None:
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, table_id)
            return loading.version_at(db, table_id, _require_known_table(db, table_id).head, moment)

    def commits(
        self, table_id: TableId, *, before: Version | None = None, limit: int = 1_000
    ) -> tuple[CommitRecord, ...]:
        with self._database.reading() as db:
            grant_store.require_visible(db, self._principal, table_id)
            return loading.load_commit_records(db, table_id, before=before, limit=limit)

    def take_in(self, table_id: TableId) -> Version:
        self._check_sees((table_id,))
        self._logs.look(table_id, self._policies())
        with self._database.reading() as db:
            return _require_known_table(db, table_id).head.latest

    @property
    def recoveries(self) -> RecoveryWriter:
        """Writes down what logs prove, whoever it belonged to: for the owner of the lake alone."""
        if self._principal != OWNER:
            raise NotAllowed(
                "who recovers a lake makes tables of what is found, whoever they belonged to: only its owner "
                "may",
                operation="recover",
            )
        return self._recoveries

    def ahead(self) -> tuple[str, ...]:
        """The tables, of those that were committed to last, whose log goes on after the latest version.

        Told to the owner of the lake alone.
        """
        return self._logs.ahead() if self._principal == OWNER else ()

    def accept_version(self, name: TableName, version: Version) -> Version:
        """Take in what others published up to this version on one's own behalf; the latest version then."""
        standing = Proposer(self._principal, self._policies())
        return self._logs.accept(self.resolve(name).table_id, version, standing)

    def set_aside_version(self, name: TableName, version: Version) -> str:
        """Move a file away that is in the place of a version, and is none; its path from then on."""
        entry = self.resolve(name)
        externals = ExternalReview(self._database, self._world, self._logs.partitionings)
        return externals.set_aside(entry.table_id, self._locate(entry.location), version, self._principal)

    def mark_published(self, table_id: TableId, version: Version) -> None:
        self.publications.mark(table_id, version)

    def books(self, table_id: TableId) -> CatalogAuditor:
        """What is written down of one table, for whoever checks it."""
        return CatalogAuditor(self._database, table_id, self.mark_published, self._principal)

    def close(self) -> None:
        """Give the database's connections back."""
        self._database.close()

    def _check_sees(self, table_ids: Iterable[TableId]) -> None:
        if self._principal == OWNER:
            return
        with self._database.reading() as db:
            for table_id in table_ids:
                grant_store.require_visible(db, self._principal, table_id)

    def _candidate(self, proposal: Proposal, location: str | None = None) -> Candidate:
        """The proposal with its content, checked; ``location`` is where a table is that is not live yet."""
        validation.check_staged_name(proposal)
        if location is None:
            self._check_may_write(proposal)
        content = self._content(proposal, location)
        standing = Proposer(self._principal, self._policies())
        return Candidate(proposal, content, validation.check_content(proposal, content), standing)

    def _check_may_write(self, proposal: Proposal) -> None:
        """Refuse somebody who may not write to the table at all, before anything of theirs is read.

        Who repeats what was ratified is told so, whatever may be allowed since.
        """
        if self._principal == OWNER:
            return
        with self._database.reading() as db:
            if _require_known_table(db, proposal.table_id, proposal.txn_id).first_ratified_as is not None:
                return
            if not grant_store.table_privileges(db, self._principal, proposal.table_id) - {Privilege.READ}:
                raise commit_policies.cannot_write_error(self._principal)

    def _content(self, proposal: Proposal, location: str | None) -> bytes:
        match proposal.content:
            case InlineCommit(content):
                return content
            case StagedCommit(file_name):
                if location is None:
                    with self._database.reading() as db:
                        grant_store.require_visible(db, self._principal, proposal.table_id)
                        location = self._absolute(_require_known_table(db, proposal.table_id).location)
                return staged_commits.read_staged_commit(self._locate(location), file_name)


def _require_known_table(db: Connection, table_id: TableId, txn_id: TxnId | None = None) -> KnownTable:
    found = commit_store.find_head(db, table_id, txn_id)
    if found is None:
        raise transfer_store.not_live_error(db, table_id)
    return found
