"""A lake's catalog on a Unity Catalog server: every port, as far as such a server goes.

Commits are staged, proposed, published and reported by this client. What the server answers to a commit that
got no answer before is not trusted: ``proposals`` finds out. What it has no word for is in ``not_offered``.
"""

import threading
from collections.abc import Iterable, Mapping
from functools import partial
from typing import cast

from headgate.catalog.ports.access import OWNER, AccessControl, AccessTokens
from headgate.catalog.ports.catalog import Policies
from headgate.catalog.ports.commits import (
    Lost,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.directory import (
    ExternalTables,
    StagingTable,
    TableDisposal,
    TableEntry,
    TableName,
    normalize_name,
)
from headgate.catalog.ports.events import EventFeed
from headgate.catalog.ports.external_versions import StagedFiles
from headgate.catalog.ports.groups import (
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    PinnedTables,
    PinningByTails,
)
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import CommitRecord, LoadedTable, LogHints
from headgate.catalog.table_stores import open_store
from headgate.catalog.unity import not_offered, registration
from headgate.catalog.unity.directory_calls import DirectoryCalls
from headgate.catalog.unity.http_calls import UnityAnswer, UnityServer
from headgate.catalog.unity.not_offered import NoDirectoryCopies, NoLeases, NotOffered, ServersPermissions
from headgate.catalog.unity.proposals import UnityProposals, require_success
from headgate.catalog.unity.refusals import refusal
from headgate.catalog.unity.table_api import TableApi, UnityTableState
from headgate.catalog.unity.table_names import TableNames
from headgate.clock import World
from headgate.errors import InvalidRequest, TableNotFound
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage.credentials import CredentialCache, StorageOperation, VendedCredential
from headgate.storage.store import Store

_ASK_OPERATOR = "ask who runs the server"


class UnityModeCatalog:
    """The port ``LakeCatalog`` for one catalog of a Unity Catalog server; safe to share between threads."""

    def __init__(self, server: UnityServer, api: TableApi, name: str, world: World) -> None:
        self._server, self._api, self._world = server, api, world
        self._directory = DirectoryCalls(server, name)
        self._names = TableNames(self.tables)
        self._vended = CredentialCache(world)
        self._staged: dict[TableId, StagingTable] = {}
        self._lock, self._writes = threading.Lock(), 0
        self.warehouse = f"{server.address}/{name}"
        self.principal = OWNER
        self._policies: Policies = dict
        self.copies = NoDirectoryCopies()
        self.leases = NoLeases(self._clock_ms)
        self.permissions = ServersPermissions(lambda table_id: self._state(table_id).maintenance)
        self.events = cast(EventFeed, NotOffered("events", "compare versions by loading the table"))
        self.disposal = cast(TableDisposal, NotOffered("purging", "the server deletes what was dropped"))
        self.publications = cast(StagedFiles, NotOffered("telling staged files apart", "leave them"))
        self.granting = cast(AccessControl, NotOffered("grants and rules of commits", "use the server's own"))
        self.tokens = cast(AccessTokens, NotOffered("tokens", "use the server's own"))
        self.adoptions = cast(TableAdoptions, NotOffered("adopting a table", "create it and copy its rows"))
        self.releases = cast(TableReleases, NotOffered("releasing a table", "copy its rows elsewhere"))
        self.externals = cast(ExternalTables, NotOffered("naming ordinary tables", "use its own API"))
        self.ledger = cast(Ledger, NotOffered("owning the commits of other tables", "name another"))
        self.recoveries = cast(CatalogRecovery, NotOffered("recovery", _ASK_OPERATOR))

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> "UnityModeCatalog":
        if principal != OWNER:
            raise InvalidRequest(
                f"on a Unity Catalog server one is the principal of the token, not {principal!r}: leave the "
                "principal out, and connect with a token of that principal"
            )
        self._policies = policies or self._policies
        return self

    def close(self) -> None:
        self._server.close()

    # --- commits

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        if named := sorted(self._policies()):
            not_offered.refuse(
                f"checking commits by the policies {', '.join(named)}",
                "unregister them: only a catalog of Headgate's can hold others to them too",
            )
        table = self._names.entry(proposal.table_id)
        try:
            return self._proposals(table).propose(table, proposal)
        except TableNotFound:  # or it has another name by now; whose id it has is asserted at each commit
            self._names.forget(proposal.table_id)
            table = self._names.entry(proposal.table_id)
            return self._proposals(table).propose(table, proposal)
        finally:
            self._wrote()

    def outcome_of(
        self,
        table_id: TableId,
        txn_id: TxnId,
        target: Version,
        *,
        any_version: bool = False,  # noqa: ARG002 — no version is left open here
    ) -> Outcome[RatifiedCommit]:
        return self._proposals(self._names.entry(table_id)).outcome(txn_id, target)

    def tail(self, table_id: TableId) -> Tail:
        return self._state(table_id).tail

    def mark_published(self, table_id: TableId, version: Version) -> None:
        state = self._state(table_id)
        if version > state.tail.latest:
            raise InvalidRequest(
                f"version {version} is not ratified: the latest is {state.tail.latest}", version=version
            )
        reached = self._proposals(state.entry).check_published(state, version)
        if reached is not None:
            answered = self._api.report_published(state.entry, reached)
            self._wrote()
            require_success(answered, f"the report that version {reached} of {state.entry.name} is published")

    def _state(self, table_id: TableId) -> UnityTableState:
        """The table of that id as it is now, under whatever name."""
        for _ in range(2):
            entry = self._names.entry(table_id)
            try:
                found = self._api.load(entry.name)
                if found.entry.table_id == table_id:
                    self._names.note(found.entry)
                    return found
            except TableNotFound:
                pass
            self._names.forget(table_id)
        return self._api.load(self._names.entry(table_id).name)

    def _proposals(self, table: TableEntry) -> UnityProposals:
        load = partial(self._state, table.table_id)
        return UnityProposals(self._api, load, self._store(table.table_id, table.location), self._world)

    def _store(self, table_id: TableId, location: str) -> Store:
        return open_store(self, table_id, location)

    def _wrote(self) -> None:
        with self._lock:
            self._writes += 1

    # --- several tables

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        proposal = _only_proposal(group)
        match self.propose(proposal):
            case Ratified(version):
                return GroupRatified({proposal.table_id: version})
            case Lost(winners):
                return GroupLost({proposal.table_id: winners})
            case Unknown() as unknown:
                return unknown

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        proposal = _only_proposal(group)
        found = self.outcome_of(proposal.table_id, proposal.txn_id, proposal.target)
        match found:
            case Ratified(version):
                return GroupRatified({proposal.table_id: version})
            case Lost(winners):
                return GroupLost({proposal.table_id: winners})
            case _:
                return found

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        wanted = tuple(table_ids)
        if len(wanted) > 1:
            not_offered.refuse("several tables as they are at one moment", "read them one by one")
        return {table_id: self.tail(table_id) for table_id in wanted}

    def pin(self, names: Iterable[TableName], table_ids: Iterable[TableId] = ()) -> PinnedTables:
        return PinningByTails(self).pin(names, table_ids)

    # --- the directory

    def create_schema(self, schema: str) -> bool:
        return self._directory.create_schema(schema.lower())

    def schemas(self) -> tuple[str, ...]:
        return self._directory.schemas()

    def drop_schema(self, schema: str) -> bool:
        return self._directory.drop_schema(schema)

    def stage(self, name: TableName) -> StagingTable:
        found = self._api.stage(normalize_name(name))
        with self._lock:
            self._staged[found.staging.table_id] = found.staging
        if found.credentials:
            self._vended.get(found.staging.table_id, StorageOperation.READ_WRITE, lambda: found.credentials)
        return found.staging

    def find_staging(self, table_id: TableId) -> StagingTable:
        with self._lock:
            found = self._staged.get(table_id)
        if found is None:
            raise TableNotFound(
                f"no place was reserved here under the id {table_id}: reserve one first", name=table_id
            )
        return found

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        wanted = normalize_name(name)
        files = self._store(staging.table_id, staging.location)
        entry = registration.register(self._api, files, staging, wanted)
        with self._lock:
            self._staged.pop(staging.table_id, None)
        self._vended.forget(staging.table_id)
        self._wrote()
        return self._names.note(entry)

    def resolve(self, name: TableName) -> TableEntry:
        return self._names.note(self._api.load(normalize_name(name)).entry)

    def resolve_all(self, names: Iterable[TableName]) -> tuple[TableEntry, ...]:
        return tuple(self.resolve(name) for name in names)

    def resolve_id(self, table_id: TableId) -> TableEntry:
        return self._state(table_id).entry

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        wanted = self.schemas() if schema is None else (schema.lower(),)
        return tuple(self._names.note(entry) for each in wanted for entry in self._directory.tables(each))

    def drop(self, name: TableName) -> TableEntry:
        entry = self.resolve(name)
        answered = self._api.drop(entry.name)
        self._wrote()
        if not isinstance(answered, UnityAnswer) or answered.is_failure:
            registration.require_gone(self._api, entry)
        elif not answered.is_success:
            raise refusal(answered, f"dropping {entry.name}")
        self._names.forget(entry.table_id)
        return entry

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        entry, wanted = self.resolve(name), normalize_name(to)
        if wanted.schema != entry.name.schema:
            not_offered.refuse(
                f"giving {entry.name} a name in another schema", "choose one in the same schema"
            )
        answered = self._api.rename(entry.name, wanted)
        self._wrote()
        if not isinstance(answered, UnityAnswer) or answered.is_failure:
            registration.require_renamed(self._api, entry, wanted)
        elif not answered.is_success:
            raise refusal(answered, f"renaming {entry.name} to {wanted}")
        self._names.forget(entry.table_id)
        return self.resolve(wanted)

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:  # noqa: ARG002
        return ()

    def undrop(
        self,
        name: TableName,
        *,
        table_id: TableId | None = None,  # noqa: ARG002
        to: TableName | None = None,  # noqa: ARG002
    ) -> TableEntry:
        not_offered.refuse(f"having {name} back", _ASK_OPERATOR)

    def check_may_purge(self, table_id: TableId) -> None:  # noqa: ARG002
        not_offered.refuse("purging", "the server deletes what was dropped")

    # --- reading

    @property
    def writes(self) -> int:
        return self._writes

    def load(self, name: TableName) -> LoadedTable:
        as_of = self._writes
        found = self._api.load(normalize_name(name))
        return LoadedTable(self._names.note(found.entry), found.tail, LogHints(), as_of)

    def note_log(self, table_id: TableId, known: LogHints) -> None:
        """The server keeps no hints: whoever opens the table lists its log."""

    def version_at(self, table_id: TableId, moment: EpochMillis) -> Version | None:  # noqa: ARG002
        return None

    def commits(
        self,
        table_id: TableId,  # noqa: ARG002
        *,
        before: Version | None = None,  # noqa: ARG002
        limit: int = 1_000,  # noqa: ARG002
    ) -> tuple[CommitRecord, ...]:
        not_offered.refuse("what a catalog remembers of commits", "read the table's history from its log")

    def import_external_versions(self, table_id: TableId) -> Version:
        return self.tail(table_id).latest

    def credentials(self, table_id: TableId, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        with self._lock:
            staging = self._staged.get(table_id)
        if staging is not None:
            return self._vended.get(table_id, operation, lambda: self._api.staging_credentials(table_id))
        entry = self._names.entry(table_id)
        return self._vended.get(table_id, operation, lambda: self._api.credentials(entry, operation))

    # --- what others publish, and books

    def share_log(self, name: TableName) -> TableEntry:
        not_offered.refuse(f"letting others publish versions of {name}", "commit through the server")

    def accept_version(self, name: TableName, version: Version) -> Version:
        not_offered.refuse(f"taking in version {version} of {name}", "commit through the server")

    def set_aside_version(self, name: TableName, version: Version) -> str:
        not_offered.refuse(f"setting version {version} of {name} aside", "move the file away yourself")

    def ahead(self) -> tuple[str, ...]:
        return ()

    def books(self, table_id: TableId) -> TableBooks:  # noqa: ARG002
        not_offered.refuse("a check against the catalog's books", "open the table by its path and check that")

    def _clock_ms(self) -> int:
        self._server.send_safely("GET", "/api/2.1/unity-catalog/catalogs", query={"max_results": "1"})
        theirs, ours = self._server.clock_ms, self._world.now_ms()
        return ours if theirs is None else min(theirs, ours)


def _only_proposal(group: GroupProposal) -> Proposal:
    if len(group.proposals) != 1 or group.read_only or group.creations or group.drops:
        not_offered.refuse(
            "a transaction over several tables",
            "commit to one table at a time, or use a catalog of Headgate's",
        )
    return group.proposals[0]
