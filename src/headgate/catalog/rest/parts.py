"""The parts of a catalog behind HTTP: what is asked now and then, a method each."""

from collections.abc import Iterable

from typing_extensions import override

from headgate.catalog.ports.access import (
    OWNER,
    AccessTokens,
    CommitRules,
    CreatedToken,
    ForeignKeys,
    Grants,
    PrincipalGroups,
    StoredToken,
    invalid_token_error,
)
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import ExternalTables, TableDisposal
from headgate.catalog.ports.directory_copy import DirectoryCopying
from headgate.catalog.ports.events import EventCursors, EventFeed
from headgate.catalog.ports.external_versions import StagedFiles
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.leases import LeaseHolding, LeaseHorizon, TableLeases
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.maintenance import MaintenancePermissions
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.rest.calls import LakeCalls, RemotePart, remote


class RestEvents(RemotePart):
    """``EventFeed``, over HTTP."""

    after = remote(EventFeed.after)
    newest = remote(EventFeed.newest)
    window = remote(EventFeed.window)
    list_pending = remote(EventFeed.list_pending)
    forget = remote(EventFeed.forget)
    load_cursor = remote(EventCursors.load_cursor)
    save_cursor = remote(EventCursors.save_cursor)


class RestLeases(RemotePart):
    """``TableLeases``, over HTTP."""

    on_version = remote(LeaseHolding.on_version)
    on_work = remote(LeaseHolding.on_work)
    renew = remote(LeaseHolding.renew)
    check = remote(LeaseHolding.check)
    release = remote(LeaseHolding.release)
    horizon = remote(LeaseHorizon.horizon)
    give_up = remote(LeaseHorizon.give_up)
    vacuumed = remote(LeaseHorizon.vacuumed)
    now_ms = remote(LeaseHorizon.now_ms)
    live = remote(TableLeases.live)
    sweep = remote(TableLeases.sweep)


class RestPermissions(RemotePart):
    """``MaintenancePermissions``, over HTTP; whether it is asked travels with each question."""

    def __init__(self, calls: LakeCalls, *, is_asked: bool = True) -> None:
        super().__init__(calls, is_asked)

    def for_background_work(self) -> MaintenancePermissions:
        return RestPermissions(self._calls, is_asked=False)

    check = remote(MaintenancePermissions.check)
    permitted_kinds = remote(MaintenancePermissions.permitted_kinds)
    thresholds = remote(MaintenancePermissions.thresholds)
    permit = remote(MaintenancePermissions.permit)
    forbid = remote(MaintenancePermissions.forbid)


class RestDisposal(RemotePart):
    """``TableDisposal``, over HTTP."""

    abandoned = remote(TableDisposal.abandoned)
    condemned = remote(TableDisposal.condemned)
    condemn = remote(TableDisposal.condemn)
    forget = remote(TableDisposal.forget)
    forget_keeping_files = remote(TableDisposal.forget_keeping_files)


class RestPublications(RemotePart):
    """``StagedFiles``, over HTTP."""

    ratified_names = remote(StagedFiles.ratified_names)


class RestBooks(RemotePart):
    """``TableBooks`` of one table, over HTTP."""

    read = remote(TableBooks.read)
    mark_published = remote(TableBooks.mark_published)
    forget_description = remote(TableBooks.forget_description)


class RestGranting(RemotePart):
    """``AccessControl``, over HTTP."""

    grant = remote(Grants.grant)
    revoke = remote(Grants.revoke)
    grants = remote(Grants.grants)
    limit_unpublished = remote(Grants.limit_unpublished)
    add_member = remote(PrincipalGroups.add_member)
    remove_member = remote(PrincipalGroups.remove_member)
    groups = remote(PrincipalGroups.groups)
    set_rule = remote(CommitRules.set_rule)
    allow_files = remote(CommitRules.allow_files)
    allow_clone_of = remote(CommitRules.allow_clone_of)
    allow_clone_locations = remote(CommitRules.allow_clone_locations)
    add_foreign_key = remote(ForeignKeys.add_foreign_key)
    drop_foreign_key = remote(ForeignKeys.drop_foreign_key)
    foreign_keys = remote(ForeignKeys.foreign_keys)


class RestTokens(RemotePart):
    """``AccessTokens``, over HTTP; whose a secret is only the server asks, which has them."""

    create = remote(AccessTokens.create)
    tokens = remote(AccessTokens.tokens)
    revoke = remote(AccessTokens.revoke)

    def exchange(self, client_id: str, secret: str, *, ttl_ms: int) -> CreatedToken:  # noqa: ARG002
        raise invalid_token_error()

    def authenticate(self, secret: str) -> StoredToken:  # noqa: ARG002
        raise invalid_token_error()


class RestAdoptions(RemotePart):
    """``TableAdoptions``, over HTTP."""

    claim = remote(TableAdoptions.claim)
    check = remote(TableAdoptions.check)
    find = remote(TableAdoptions.find)
    find_adopted = remote(TableAdoptions.find_adopted)
    under_way = remote(TableAdoptions.under_way)
    settle = remote(TableAdoptions.settle)


class RestReleases(RemotePart):
    """``TableReleases``, over HTTP."""

    freeze = remote(TableReleases.freeze)
    begin_release = remote(TableReleases.begin_release)
    stay = remote(TableReleases.stay)
    find_departure = remote(TableReleases.find_departure)
    settle = remote(TableReleases.settle)


class RestLedger(RemotePart):
    """``Ledger``, over HTTP; those of the same lake are equal."""

    records = remote(Ledger.records)
    open = remote(Ledger.open)
    find = remote(Ledger.find)
    write = remote(Ledger.write)
    commits = remote(Ledger.commits)
    publish = remote(Ledger.publish)

    @property
    def _place(self) -> tuple[str, str]:
        return self._calls.transport.root, self._calls.lake

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, RestLedger) and self._place == other._place

    @override
    def __hash__(self) -> int:
        return hash(self._place)


class RestExternals(RemotePart):
    """``ExternalTables``, over HTTP."""

    register_external = remote(ExternalTables.register_external)
    find_external = remote(ExternalTables.find_external)
    external_tables = remote(ExternalTables.external_tables)
    forget_external = remote(ExternalTables.forget_external)


class RestCopies(RemotePart):
    """``DirectoryCopying``, over HTTP. The server keeps the copy; its owner may ask for it beforehand."""

    def __init__(self, calls: LakeCalls, principal: str) -> None:
        super().__init__(calls)
        self._principal = principal

    def write_if_due(self) -> None:
        """The server does, after what was asked of it."""

    def write_if_changed(self) -> None:
        """The server does, after what was asked of it."""

    def write_now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None:
        """Write the copy, if it is the owner who wants that; after what others do the server does."""
        if self._principal == OWNER:
            self._write_now(forgotten=forgotten, recovered=recovered)

    _write_now = remote(DirectoryCopying.write_now)
    find_lost_tables = remote(DirectoryCopying.find_lost_tables)
    is_new = remote(DirectoryCopying.is_new)


class RestRecoveries(RemotePart):
    """``CatalogRecovery``, over HTTP."""

    known_tables = remote(CatalogRecovery.known_tables)
    make_schemas = remote(CatalogRecovery.make_schemas)
    enter = remote(CatalogRecovery.enter)
    latest = remote(CatalogRecovery.latest)
    rename = remote(CatalogRecovery.rename)
