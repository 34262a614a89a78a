"""What can be asked of a catalog over a wire? One operation for each method of its ports, a row each.

A row says what the ports do not: whether the operation may be repeated when its answer is lost, and who may
ask for it. Parameters, types and results are those of the method:

    POST …/lakes/main/commits/propose    {"proposal": {"table_id": …, "target": 7, …}}
    POST …/lakes/main/leases/on_version  {"table_id": …, "version": 7, "holder": "job", "ttl_ms": 60000}
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_type_hints

from headgate.catalog.ports.access import (
    AccessControl,
    AccessTokens,
    CommitRules,
    ForeignKeys,
    Grants,
    PrincipalGroups,
)
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import CommitCatalog, TableId
from headgate.catalog.ports.directory import (
    ExternalTables,
    SchemaDirectory,
    TableDirectory,
    TableDisposal,
    TableRenaming,
)
from headgate.catalog.ports.directory_copy import DirectoryCopying
from headgate.catalog.ports.events import EventCursors, EventFeed
from headgate.catalog.ports.external_versions import ExternalVersions, StagedFiles
from headgate.catalog.ports.groups import GroupCatalog, TablePinning
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.leases import LeaseHolding, LeaseHorizon, TableLeases
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.maintenance import MaintenancePermissions
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import ReaderCatalog


class Repeat(Enum):
    """What is done if an operation was sent and no answer came."""

    READ = "it changes nothing: asked again"
    SAME = "done twice is done once, with the same answer: asked again"
    OUTCOME = "asked again, and answered Unknown if no answer comes: it is known by its id for ever"
    ONCE = "not asked again: a second time it would do, or answer, something else"


class Access(Enum):
    """Who decides whether the caller may."""

    CATALOG = "the catalog: it asks for privileges, or shows only what the caller may see"
    HOLDER = "whoever knows the id of the lease, which only its taker and the owner are told"
    PROPOSER = "on whose behalf a table is on its way, and nobody else: the server compares names"
    ANYBODY = "it tells nothing of any table, and changes nothing that was not due anyway"
    OWNER = "the owner of the lake alone"


class CopyDue(Enum):
    """When the copy of the directory in the warehouse is written after an operation."""

    NO = "nothing happened that it tells of"
    IN_TIME = "with what else happened, now and then"
    NOW = "a name, a place or a state of a table changed"
    FORGOTTEN = "a table is gone for good, which it has to say"


@dataclass(frozen=True, slots=True)
class Parameter:
    """What an operation takes by this name."""

    name: str
    annotation: Any
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a catalog whose methods these are: where its operations are, and how it is reached."""

    folder: str
    reach: Callable[[LakeCatalog, Mapping[str, Any]], Any]
    port: type
    taking: tuple[Parameter, ...] = ()
    """What it takes to reach it, as parameters of each of its operations."""


@dataclass(frozen=True, slots=True)
class PortOperation:
    """One method of a port, as it is asked for over a wire."""

    part: Part
    method: Callable[..., Any]
    repeat: Repeat
    access: Access = Access.CATALOG
    copy: CopyDue = CopyDue.NO

    @property
    def name(self) -> str:
        """What the method is called."""
        return self.method.__name__

    @property
    def path(self) -> str:
        """Where it is asked for, below its lake."""
        return f"{self.part.folder}/{self.name}"

    @property
    def summary(self) -> str:
        """The first sentence about it."""
        return (inspect.getdoc(self.method) or self.name).split("\n")[0]

    def signature(self) -> tuple[Parameter, ...]:
        """All it takes, in order; first what it takes to reach the part."""
        hints = get_type_hints(self.method, include_extras=True)
        found = list(inspect.signature(self.method).parameters.values())[1:]
        own = (Parameter(each.name, hints[each.name], each.default) for each in found)
        return (*self.part.taking, *own)

    def result(self) -> Any:
        """The type of its answer."""
        return get_type_hints(self.method, include_extras=True)["return"]

    def call(self, catalog: LakeCatalog, arguments: Mapping[str, Any]) -> Any:
        """Do it, on a catalog that is there."""
        reached = {each.name for each in self.part.taking}
        own = {name: value for name, value in arguments.items() if name not in reached}
        return getattr(self.part.reach(catalog, arguments), self.name)(**own)


def _whole(catalog: LakeCatalog, _: Mapping[str, Any]) -> Any:
    return catalog


def _attribute(name: str) -> Callable[[LakeCatalog, Mapping[str, Any]], Any]:
    return lambda catalog, _: getattr(catalog, name)


def _permissions(catalog: LakeCatalog, arguments: Mapping[str, Any]) -> MaintenancePermissions:
    return catalog.permissions if arguments["is_asked"] else catalog.permissions.for_background_work()


def _books(catalog: LakeCatalog, arguments: Mapping[str, Any]) -> TableBooks:
    return catalog.books(arguments["table_id"])


COMMITS = Part("commits", _whole, CommitCatalog)
GROUPS = Part("groups", _whole, GroupCatalog)
PINS = Part("groups", _whole, TablePinning)
SCHEMAS = Part("schemas", _whole, SchemaDirectory)
TABLES = Part("tables", _whole, TableDirectory)
NAMES = Part("names", _whole, TableRenaming)
READERS = Part("readers", _whole, ReaderCatalog)
EXTERNAL = Part("external_versions", _whole, ExternalVersions)
EVENTS = Part("events", _attribute("events"), EventFeed)
LEASES = Part("leases", _attribute("leases"), TableLeases)
PERMISSIONS = Part(
    "permissions", _permissions, MaintenancePermissions, (Parameter("is_asked", bool, default=True),)
)
DISPOSAL = Part("disposal", _attribute("disposal"), TableDisposal)
PUBLICATIONS = Part("publications", _attribute("publications"), StagedFiles)
BOOKS = Part("books", _books, TableBooks, (Parameter("table_id", TableId),))
GRANTING = Part("granting", _attribute("granting"), AccessControl)
TOKENS = Part("tokens", _attribute("tokens"), AccessTokens)
ADOPTIONS = Part("adoptions", _attribute("adoptions"), TableAdoptions)
RELEASES = Part("releases", _attribute("releases"), TableReleases)
LEDGER = Part("ledger", _attribute("ledger"), Ledger)
EXTERNALS = Part("externals", _attribute("externals"), ExternalTables)
COPIES = Part("copies", _attribute("copies"), DirectoryCopying)
RECOVERIES = Part("recoveries", _attribute("recoveries"), CatalogRecovery)

PARTS = (
    COMMITS, GROUPS, PINS, SCHEMAS, TABLES, NAMES, READERS, EXTERNAL, EVENTS, LEASES, PERMISSIONS, DISPOSAL,
    PUBLICATIONS, BOOKS, GRANTING, TOKENS, ADOPTIONS, RELEASES, LEDGER, EXTERNALS, COPIES, RECOVERIES,
)  # fmt: skip
"""Every port of a catalog."""

NOT_SENT: Mapping[tuple[type, str], str] = {
    (ReaderCatalog, "writes"): "a client counts what it writes itself",
    (
        AccessTokens,
        "authenticate",
    ): "a server asks it of its own catalog, and nobody else asks whose a secret is",
    (AccessTokens, "exchange"): "a server asks it of its own catalog, for clients that know OAuth",
    (MaintenancePermissions, "for_background_work"): "it travels as is_asked with each question",
}
"""What is no operation, and why."""

OPERATIONS: tuple[PortOperation, ...] = (
    PortOperation(COMMITS, CommitCatalog.propose, Repeat.OUTCOME, copy=CopyDue.IN_TIME),
    PortOperation(COMMITS, CommitCatalog.outcome_of, Repeat.READ),
    PortOperation(COMMITS, CommitCatalog.tail, Repeat.READ),
    PortOperation(COMMITS, CommitCatalog.mark_published, Repeat.SAME, copy=CopyDue.IN_TIME),
    PortOperation(GROUPS, GroupCatalog.propose_group, Repeat.OUTCOME, copy=CopyDue.IN_TIME),
    PortOperation(GROUPS, GroupCatalog.outcome_of_group, Repeat.READ),
    PortOperation(GROUPS, GroupCatalog.tails, Repeat.READ),
    PortOperation(PINS, TablePinning.pin, Repeat.READ),
    PortOperation(SCHEMAS, SchemaDirectory.create_schema, Repeat.ONCE, copy=CopyDue.IN_TIME),
    PortOperation(SCHEMAS, SchemaDirectory.schemas, Repeat.READ),
    PortOperation(SCHEMAS, SchemaDirectory.drop_schema, Repeat.ONCE, copy=CopyDue.NOW),
    # A place that is reserved twice is one that nobody uses, and is tidied away.
    PortOperation(TABLES, TableDirectory.stage, Repeat.SAME),
    PortOperation(TABLES, TableDirectory.find_staging, Repeat.READ),
    PortOperation(TABLES, TableDirectory.register, Repeat.SAME, copy=CopyDue.IN_TIME),
    PortOperation(TABLES, TableDirectory.resolve, Repeat.READ),
    PortOperation(TABLES, TableDirectory.tables, Repeat.READ),
    PortOperation(TABLES, TableDirectory.drop, Repeat.ONCE, copy=CopyDue.NOW),
    PortOperation(NAMES, TableRenaming.resolve_all, Repeat.READ),
    PortOperation(NAMES, TableRenaming.resolve_id, Repeat.READ),
    PortOperation(NAMES, TableRenaming.rename, Repeat.ONCE, copy=CopyDue.NOW),
    PortOperation(NAMES, TableRenaming.dropped, Repeat.READ),
    PortOperation(NAMES, TableRenaming.undrop, Repeat.ONCE, copy=CopyDue.NOW),
    PortOperation(NAMES, TableRenaming.check_may_purge, Repeat.READ),
    PortOperation(READERS, ReaderCatalog.load, Repeat.READ),
    PortOperation(READERS, ReaderCatalog.note_log, Repeat.SAME),
    PortOperation(READERS, ReaderCatalog.version_at, Repeat.READ),
    PortOperation(READERS, ReaderCatalog.commits, Repeat.READ),
    PortOperation(READERS, ReaderCatalog.credentials, Repeat.READ),
    PortOperation(READERS, ReaderCatalog.import_external_versions, Repeat.SAME, copy=CopyDue.IN_TIME),
    PortOperation(EXTERNAL, ExternalVersions.share_log, Repeat.SAME, copy=CopyDue.NOW),
    PortOperation(EXTERNAL, ExternalVersions.accept_version, Repeat.ONCE, copy=CopyDue.IN_TIME),
    PortOperation(EXTERNAL, ExternalVersions.set_aside_version, Repeat.ONCE),
    PortOperation(EXTERNAL, ExternalVersions.ahead, Repeat.READ),
    PortOperation(EVENTS, EventFeed.after, Repeat.READ),
    PortOperation(EVENTS, EventFeed.newest, Repeat.READ, Access.ANYBODY),
    PortOperation(EVENTS, EventFeed.window, Repeat.READ),
    PortOperation(EVENTS, EventFeed.list_pending, Repeat.SAME, Access.ANYBODY),
    PortOperation(EVENTS, EventFeed.forget, Repeat.ONCE),
    PortOperation(EVENTS, EventCursors.load_cursor, Repeat.READ),
    PortOperation(EVENTS, EventCursors.save_cursor, Repeat.SAME),
    # A lease that is given twice ends by itself.
    PortOperation(LEASES, LeaseHolding.on_version, Repeat.SAME),
    PortOperation(LEASES, LeaseHolding.on_work, Repeat.ONCE),
    PortOperation(LEASES, LeaseHolding.renew, Repeat.SAME, Access.HOLDER),
    PortOperation(LEASES, LeaseHolding.check, Repeat.READ, Access.HOLDER),
    PortOperation(LEASES, LeaseHolding.release, Repeat.SAME, Access.HOLDER),
    PortOperation(LEASES, LeaseHorizon.horizon, Repeat.READ),
    PortOperation(LEASES, LeaseHorizon.give_up, Repeat.SAME),
    PortOperation(LEASES, LeaseHorizon.vacuumed, Repeat.READ),
    PortOperation(LEASES, LeaseHorizon.now_ms, Repeat.READ, Access.ANYBODY),
    PortOperation(LEASES, TableLeases.live, Repeat.READ),
    PortOperation(LEASES, TableLeases.sweep, Repeat.ONCE, Access.ANYBODY),
    PortOperation(PERMISSIONS, MaintenancePermissions.check, Repeat.READ),
    PortOperation(PERMISSIONS, MaintenancePermissions.permitted_kinds, Repeat.READ),
    PortOperation(PERMISSIONS, MaintenancePermissions.thresholds, Repeat.READ),
    PortOperation(PERMISSIONS, MaintenancePermissions.permit, Repeat.ONCE),
    PortOperation(PERMISSIONS, MaintenancePermissions.forbid, Repeat.ONCE),
    PortOperation(DISPOSAL, TableDisposal.abandoned, Repeat.READ),
    PortOperation(DISPOSAL, TableDisposal.condemned, Repeat.READ),
    PortOperation(DISPOSAL, TableDisposal.condemn, Repeat.SAME, copy=CopyDue.NOW),
    PortOperation(DISPOSAL, TableDisposal.forget, Repeat.SAME, copy=CopyDue.FORGOTTEN),
    PortOperation(DISPOSAL, TableDisposal.forget_keeping_files, Repeat.ONCE, copy=CopyDue.FORGOTTEN),
    PortOperation(PUBLICATIONS, StagedFiles.ratified_names, Repeat.READ),
    PortOperation(BOOKS, TableBooks.read, Repeat.READ),
    PortOperation(BOOKS, TableBooks.mark_published, Repeat.SAME, copy=CopyDue.IN_TIME),
    PortOperation(BOOKS, TableBooks.forget_description, Repeat.SAME),
    PortOperation(GRANTING, Grants.grant, Repeat.SAME),
    PortOperation(GRANTING, Grants.revoke, Repeat.ONCE),
    PortOperation(GRANTING, Grants.grants, Repeat.READ),
    PortOperation(GRANTING, Grants.limit_unpublished, Repeat.SAME),
    PortOperation(GRANTING, PrincipalGroups.add_member, Repeat.ONCE),
    PortOperation(GRANTING, PrincipalGroups.remove_member, Repeat.ONCE),
    PortOperation(GRANTING, PrincipalGroups.groups, Repeat.READ),
    PortOperation(GRANTING, CommitRules.set_rule, Repeat.SAME),
    PortOperation(GRANTING, CommitRules.allow_files, Repeat.SAME),
    PortOperation(GRANTING, CommitRules.allow_clone_of, Repeat.SAME),
    PortOperation(GRANTING, CommitRules.allow_clone_locations, Repeat.SAME),
    PortOperation(GRANTING, ForeignKeys.add_foreign_key, Repeat.ONCE),
    PortOperation(GRANTING, ForeignKeys.drop_foreign_key, Repeat.ONCE),
    PortOperation(GRANTING, ForeignKeys.foreign_keys, Repeat.READ),
    # Nobody is told a secret twice: one whose answer was lost is a token that nobody has.
    PortOperation(TOKENS, AccessTokens.create, Repeat.ONCE),
    PortOperation(TOKENS, AccessTokens.tokens, Repeat.READ),
    PortOperation(TOKENS, AccessTokens.revoke, Repeat.ONCE),
    PortOperation(ADOPTIONS, TableAdoptions.claim, Repeat.SAME, Access.PROPOSER),
    PortOperation(ADOPTIONS, TableAdoptions.check, Repeat.READ, Access.PROPOSER),
    PortOperation(ADOPTIONS, TableAdoptions.find, Repeat.SAME, Access.PROPOSER, CopyDue.NOW),
    PortOperation(ADOPTIONS, TableAdoptions.find_adopted, Repeat.READ, Access.PROPOSER),
    PortOperation(ADOPTIONS, TableAdoptions.under_way, Repeat.READ, Access.PROPOSER),
    PortOperation(ADOPTIONS, TableAdoptions.settle, Repeat.SAME, Access.PROPOSER, CopyDue.NOW),
    PortOperation(RELEASES, TableReleases.freeze, Repeat.SAME, Access.PROPOSER),
    PortOperation(RELEASES, TableReleases.begin_release, Repeat.SAME, Access.PROPOSER),
    PortOperation(RELEASES, TableReleases.stay, Repeat.SAME, Access.PROPOSER),
    PortOperation(RELEASES, TableReleases.find_departure, Repeat.READ, Access.PROPOSER),
    PortOperation(RELEASES, TableReleases.settle, Repeat.SAME, Access.PROPOSER, CopyDue.NOW),
    PortOperation(LEDGER, Ledger.records, Repeat.READ),
    PortOperation(LEDGER, Ledger.open, Repeat.SAME),
    PortOperation(LEDGER, Ledger.find, Repeat.READ),
    # Asked again after its own success it says no, so a lost answer is told as unknown.
    PortOperation(LEDGER, Ledger.write, Repeat.ONCE),
    PortOperation(LEDGER, Ledger.commits, Repeat.READ),
    PortOperation(LEDGER, Ledger.publish, Repeat.SAME),
    PortOperation(EXTERNALS, ExternalTables.register_external, Repeat.SAME),
    PortOperation(EXTERNALS, ExternalTables.find_external, Repeat.READ),
    PortOperation(EXTERNALS, ExternalTables.external_tables, Repeat.READ),
    PortOperation(EXTERNALS, ExternalTables.forget_external, Repeat.ONCE),
    # Clients leave these two to the server, which does the same after what it was asked for.
    PortOperation(COPIES, DirectoryCopying.write_if_due, Repeat.SAME, Access.ANYBODY),
    PortOperation(COPIES, DirectoryCopying.write_if_changed, Repeat.SAME, Access.ANYBODY),
    PortOperation(COPIES, DirectoryCopying.write_now, Repeat.SAME, Access.OWNER),
    PortOperation(COPIES, DirectoryCopying.find_lost_tables, Repeat.READ, Access.OWNER),
    PortOperation(COPIES, DirectoryCopying.is_new, Repeat.READ, Access.ANYBODY),
    PortOperation(RECOVERIES, CatalogRecovery.known_tables, Repeat.READ),
    PortOperation(RECOVERIES, CatalogRecovery.make_schemas, Repeat.ONCE, copy=CopyDue.IN_TIME),
    PortOperation(RECOVERIES, CatalogRecovery.enter, Repeat.ONCE, copy=CopyDue.IN_TIME),
    PortOperation(RECOVERIES, CatalogRecovery.latest, Repeat.READ),
    PortOperation(RECOVERIES, CatalogRecovery.rename, Repeat.ONCE, copy=CopyDue.IN_TIME),
)

BY_METHOD: Mapping[Callable[..., Any], PortOperation] = {each.method: each for each in OPERATIONS}


def methods_of(port: type) -> Iterator[tuple[str, Any]]:
    """The methods and properties that a port, and those it is made of, declares, in order."""
    seen = set[str]()
    for kind in port.__mro__:
        for name, member in vars(kind).items():
            if name.startswith("_") or name in seen or kind.__module__ == "typing":
                continue
            seen.add(name)
            yield name, member
