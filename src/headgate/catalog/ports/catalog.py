"""What does a lake hold of its catalog? Every port of it, in one object.

A catalog in this process and one at the far end of a wire are the same to a lake. What is asked at every
commit and every read is a method of the catalog itself; what is asked now and then is a part of it.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from headgate.catalog.ports.access import AccessControl, AccessTokens
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.catalog.ports.directory import (
    ExternalTables,
    SchemaDirectory,
    TableDirectory,
    TableDisposal,
    TableRenaming,
)
from headgate.catalog.ports.directory_copy import DirectoryCopying
from headgate.catalog.ports.events import EventFeed
from headgate.catalog.ports.external_versions import ExternalVersions, StagedFiles
from headgate.catalog.ports.groups import GroupCatalog, TablePinning
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.leases import TableLeases
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.maintenance import MaintenancePermissions
from headgate.catalog.ports.policies import CommitPolicy
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import ReaderCatalog

Policies = Callable[[], Mapping[str, CommitPolicy]]
"""The policies of a program, by their names, as they are at that moment."""
NO_POLICIES: Policies = dict
"""Those of a program that has none."""


class Upkeep(Protocol):
    """What a catalog offers to those who follow its tables, and keep them in order."""

    @property
    def events(self) -> EventFeed: ...

    @property
    def leases(self) -> TableLeases: ...

    @property
    def permissions(self) -> MaintenancePermissions: ...

    @property
    def disposal(self) -> TableDisposal: ...

    @property
    def publications(self) -> StagedFiles: ...

    def books(self, table_id: TableId) -> TableBooks:
        """What is written down of one table, for whoever checks it."""
        ...


@runtime_checkable
class GathersWrites(Protocol):
    """A catalog to which it matters that small writes are done together."""

    def gathering(self) -> AbstractContextManager[None]:
        """A while in which ``mark_published`` and ``note_log`` of this thread may only take note.

        All of it is written down by its end, which raises if that is not possible.
        """
        ...


class OwnershipPorts(Protocol):
    """What a catalog offers to those who decide which tables are its own, and who may use them."""

    @property
    def granting(self) -> AccessControl: ...

    @property
    def tokens(self) -> AccessTokens: ...

    @property
    def adoptions(self) -> TableAdoptions: ...

    @property
    def releases(self) -> TableReleases: ...

    @property
    def copies(self) -> DirectoryCopying: ...

    @property
    def recoveries(self) -> CatalogRecovery:
        """For the owner of the lake alone: ``NotAllowed`` to anybody else."""
        ...


class UnmanagedTablePorts(Protocol):
    """What a catalog offers to tables that it does not manage."""

    @property
    def ledger(self) -> Ledger:
        """What it has decided of tables that name it as their coordinator."""
        ...

    @property
    def externals(self) -> ExternalTables:
        """Ordinary tables that it has names for."""
        ...


class LakeCatalog(
    CommitCatalog,
    GroupCatalog,
    TablePinning,
    TableDirectory,
    SchemaDirectory,
    TableRenaming,
    ReaderCatalog,
    ExternalVersions,
    Upkeep,
    OwnershipPorts,
    UnmanagedTablePorts,
    Protocol,
):
    """A catalog, on behalf of one principal; safe to share between threads."""

    @property
    def warehouse(self) -> str:
        """Where its tables are, unless they were adopted from elsewhere."""
        ...

    @property
    def principal(self) -> str:
        """On whose behalf it acts."""
        ...

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> "LakeCatalog":
        """The same catalog on behalf of a principal, under more policies; closing one closes all."""
        ...

    def close(self) -> None:
        """Let go of whatever it holds: connections, files."""
        ...
