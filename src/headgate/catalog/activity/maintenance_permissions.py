"""May a table be maintained in this way? What the managing catalog allows, kind by kind; denied by default.

The kinds are those of ``ports.maintenance``. The owner of a table, or of the lake, permits by asking for it:
what is denied by default is what others do, and what a worker does unasked.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Column, Connection, ForeignKey, String, Table, delete, insert, select

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.maintenance import ALWAYS_PERMITTED, Maintenance, Permission, not_permitted_error
from headgate.catalog.store import commit_store, event_store, grant_store, table_not_found
from headgate.catalog.store.event_store import NewEvent
from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.protocol.features import rearrangement
from headgate.protocol.features.rearrangement import Thresholds

_LOG = logging.getLogger(__name__)


_REARRANGING = Maintenance.DATA_REORGANISATION

permissions = Table(
    "permissions",
    commit_store.metadata,
    Column("table_id", String, ForeignKey("tables.table_id"), primary_key=True),
    Column("kind", String, primary_key=True),
    Column("granted_ms", BigInteger, nullable=False),
    Column("thresholds", String),
)


@dataclass(frozen=True, slots=True)
class DatabaseMaintenancePermissions:
    """What is permitted in one catalog; safe to share between threads and processes."""

    database: Database
    world: World
    principal: Principal = OWNER
    is_asked: bool = True
    """Whether somebody calls for what is done; a worker does what nobody called for at that moment."""

    def for_background_work(self) -> "DatabaseMaintenancePermissions":
        """The same permissions without those of an owner's explicit call, as a worker needs them."""
        return replace(self, is_asked=False)

    def check(self, table_id: TableId, kind: Maintenance, operation: str) -> Permission:
        """By whose word this principal may maintain the table so; ``NotAllowed`` names the operation."""
        if kind in ALWAYS_PERMITTED:
            return Permission.ALWAYS
        with self.database.reading() as db:
            grant_store.require_table_privilege(db, self.principal, Privilege.MAINTAIN, table_id, operation)
            if kind in _permitted_kinds(db, table_id):
                return Permission.CATALOG
            if not self.is_asked or not grant_store.owns_table(db, self.principal, table_id):
                raise not_permitted_error(kind, operation)
        _LOG.info("%s of table %s: permitted by the call of its owner", operation, table_id)
        return Permission.OWNER

    def permitted_kinds(self, table_id: TableId) -> frozenset[Maintenance]:
        """What may be done with the table now."""
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            return ALWAYS_PERMITTED | _permitted_kinds(db, table_id)

    def thresholds(self, table_id: TableId) -> Thresholds | None:
        """From where on the table's files are to be rearranged, if that was said of this table."""
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            found = db.scalar(_where_permission(select(permissions.c.thresholds), table_id, _REARRANGING))
        return None if found is None else msgspec.json.decode(found, type=Thresholds)

    def permit(self, table_id: TableId, kind: Maintenance, thresholds: Thresholds | None = None) -> bool:
        """Permit a kind of maintenance, from some thresholds on; whether that is new."""
        if thresholds is not None and kind is not _REARRANGING:
            raise InvalidRequest(f"{kind.value} has no thresholds: they are for {_REARRANGING.value}")
        if thresholds is not None:
            rearrangement.check_thresholds(thresholds)
        terms = None if thresholds is None else msgspec.json.encode(thresholds).decode()
        return self._change(table_id, kind, permitted=True, terms=terms)

    def forbid(self, table_id: TableId, kind: Maintenance) -> bool:
        """Take a permission away; whether there was one. What is under way may ask once more, or not."""
        if kind in ALWAYS_PERMITTED:
            raise InvalidRequest(f"{kind.value} is part of keeping a log and cannot be forbidden")
        return self._change(table_id, kind, permitted=False)

    def _change(
        self, table_id: TableId, kind: Maintenance, *, permitted: bool, terms: str | None = None
    ) -> bool:
        now = self.world.now_ms()
        with self.database.writing() as db:
            commit_store.lock_table(db, table_id)
            grant_store.require_table_privilege(
                db, self.principal, Privilege.MANAGE_GRANTS, table_id, "decide about its maintenance"
            )
            if commit_store.find_head(db, table_id) is None:
                raise table_not_found.no_table(table_id)
            known = db.execute(_where_permission(select(permissions), table_id, kind)).one_or_none()
            stays = known is not None and known.thresholds == terms if permitted else known is None
            if kind in ALWAYS_PERMITTED or stays:
                return False
            db.execute(_where_permission(delete(permissions), table_id, kind))
            row = {"table_id": table_id, "kind": kind.value, "granted_ms": now, "thresholds": terms}
            if permitted:
                db.execute(insert(permissions), row)
            details: dict[str, object] = {"kind": kind.value, "permitted": permitted}
            if terms is not None:
                details["thresholds"] = msgspec.json.decode(terms)
            event_store.record_event(
                db, NewEvent(EventKind.PERMISSION, table_id, details=details), now_ms=now
            )
        return True


def _where_permission(query: Any, table_id: TableId, kind: Maintenance) -> Any:
    return query.where(permissions.c.table_id == table_id, permissions.c.kind == kind.value)


def _permitted_kinds(db: Connection, table_id: TableId) -> frozenset[Maintenance]:
    found = db.scalars(select(permissions.c.kind).where(permissions.c.table_id == table_id))
    return frozenset(map(Maintenance, found))
