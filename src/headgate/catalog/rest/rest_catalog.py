"""A catalog at the far end of a wire: every port of it, ``LakeCatalog``, over HTTP.

What is decided, is decided by the server: policies are registered there, and whoever presents the token is
who acts. Only what tells a client that it wrote something itself is counted here.
"""

from dataclasses import replace

from typing_extensions import override

from headgate.catalog.ports.access import OWNER, acting_principal
from headgate.catalog.ports.catalog import Policies
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.catalog.ports.directory import SchemaDirectory, TableDirectory, TableName, TableRenaming
from headgate.catalog.ports.external_versions import ExternalVersions
from headgate.catalog.ports.groups import GroupCatalog, TablePinning
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import LoadedTable, ReaderCatalog
from headgate.catalog.rest import parts
from headgate.catalog.rest.calls import LakeCalls, RemotePart, remote
from headgate.catalog.wire.lake_description import LakeDescription
from headgate.clock import SystemWorld
from headgate.errors import NotAllowed
from headgate.storage.credentials import CredentialCache, StorageOperation, VendedCredential


class RestCatalog(RemotePart):
    """Every port of a catalog, over HTTP; safe to share between threads."""

    def __init__(self, calls: LakeCalls, description: LakeDescription) -> None:
        super().__init__(calls)
        self._description = description
        self._vended = CredentialCache(SystemWorld())
        self.events = parts.RestEvents(calls)
        self.leases = parts.RestLeases(calls)
        self.permissions = parts.RestPermissions(calls)
        self.disposal = parts.RestDisposal(calls)
        self.publications = parts.RestPublications(calls)
        self.granting = parts.RestGranting(calls)
        self.tokens = parts.RestTokens(calls)
        self.adoptions = parts.RestAdoptions(calls)
        self.releases = parts.RestReleases(calls)
        self.ledger = parts.RestLedger(calls)
        self.externals = parts.RestExternals(calls)
        self.copies = parts.RestCopies(calls, self.principal)

    @override
    def __repr__(self) -> str:
        return f"RestCatalog({self._calls.transport.root!r}, {self._calls.lake!r}, {self.principal!r})"

    @property
    def warehouse(self) -> str:
        """Where its tables are, unless they were adopted from elsewhere."""
        return self._description.warehouse

    @property
    def principal(self) -> str:
        """On whose behalf it acts: who the token is of, or for whom its owner acts."""
        return self._calls.acting_as or self._description.principal

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> "RestCatalog":  # noqa: ARG002
        """The same catalog on behalf of a principal, under the policies of the server."""
        named = acting_principal(principal)
        itself = named == self._description.principal
        return RestCatalog(replace(self._calls, acting_as=None if itself else named), self._description)

    def close(self) -> None:
        """Let go of the connections."""
        self._calls.transport.close()

    propose = remote(CommitCatalog.propose)
    outcome_of = remote(CommitCatalog.outcome_of)
    tail = remote(CommitCatalog.tail)
    mark_published = remote(CommitCatalog.mark_published)

    propose_group = remote(GroupCatalog.propose_group)
    outcome_of_group = remote(GroupCatalog.outcome_of_group)
    tails = remote(GroupCatalog.tails)
    pin = remote(TablePinning.pin)

    create_schema = remote(SchemaDirectory.create_schema)
    schemas = remote(SchemaDirectory.schemas)
    drop_schema = remote(SchemaDirectory.drop_schema)
    stage = remote(TableDirectory.stage)
    find_staging = remote(TableDirectory.find_staging)
    register = remote(TableDirectory.register)
    resolve = remote(TableDirectory.resolve)
    tables = remote(TableDirectory.tables)
    drop = remote(TableDirectory.drop)

    resolve_all = remote(TableRenaming.resolve_all)
    resolve_id = remote(TableRenaming.resolve_id)
    rename = remote(TableRenaming.rename)
    dropped = remote(TableRenaming.dropped)
    undrop = remote(TableRenaming.undrop)
    check_may_purge = remote(TableRenaming.check_may_purge)

    note_log = remote(ReaderCatalog.note_log)
    version_at = remote(ReaderCatalog.version_at)
    commits = remote(ReaderCatalog.commits)
    import_external_versions = remote(ReaderCatalog.import_external_versions)
    _load = remote(ReaderCatalog.load)
    _credentials = remote(ReaderCatalog.credentials)

    share_log = remote(ExternalVersions.share_log)
    accept_version = remote(ExternalVersions.accept_version)
    set_aside_version = remote(ExternalVersions.set_aside_version)
    ahead = remote(ExternalVersions.ahead)

    @property
    def writes(self) -> int:
        """How often something was written through this client."""
        return self._calls.writes.value

    def load(self, name: TableName) -> LoadedTable:
        """The table of that name with all a reader needs, in one call; or ``TableNotFound``."""
        as_of = self.writes
        return replace(self._load(name), as_of=as_of)

    def credentials(self, table_id: TableId, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        """What opens the files of a table; kept here until it is about to end."""
        return self._vended.get(table_id, operation, lambda: self._credentials(table_id, operation))

    def books(self, table_id: TableId) -> TableBooks:
        """What is written down of one table, for whoever checks it."""
        return parts.RestBooks(self._calls, table_id)

    @property
    def recoveries(self) -> CatalogRecovery:
        """For the owner of the lake alone; the server asks that too."""
        if self.principal != OWNER:
            raise NotAllowed(
                "recovering a lake makes tables of what is found, whoever owned them: only the owner of the "
                "lake may",
                operation="recover",
            )
        return parts.RestRecoveries(self._calls)
