"""When may a table go for good? The first and the last step of it, ``TableDisposal``, over rows.

First it is condemned: nobody can have it back. Then somebody deletes its files. Last goes what the catalog
knows of it, so that what a crash leaves behind is always known to somebody.
"""

import copy
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableName, never_dropped
from headgate.catalog.ports.directory_copy import CONDEMNED, DROPPED, STAGING
from headgate.catalog.ports.events import EventKind
from headgate.catalog.store import commit_store, event_store, grant_store, name_store, transfer_store
from headgate.catalog.store.event_store import NewEvent
from headgate.clock import World
from headgate.errors import InvalidRequest, NotAllowed

PurgeObjection = Callable[[Connection, TableId], str | None]
"""Why a table must not go yet, if there is a reason."""


class Disposal:
    """The port ``TableDisposal`` over one database."""

    def __init__(self, database: Database, absolute: Callable[[str], str], world: World) -> None:
        self._database = database
        self._absolute = absolute
        self._world = world
        self._objections: list[PurgeObjection] = []
        self._principal = OWNER

    def acting_as(self, principal: Principal) -> "Disposal":
        """The same on behalf of a principal, who must be allowed to DROP what is disposed of."""
        other = copy.copy(self)
        other._principal = principal
        return other

    def add_objection(self, objection: PurgeObjection) -> None:
        """Ask this too before a dropped table is condemned."""
        self._objections.append(objection)

    def abandoned(self) -> tuple[StagingTable, ...]:
        with self._database.reading() as db:
            found = name_store.expired_or_condemned(db, self._world.now_ms())
            found = tuple(item for item in found if self._may_drop(db, item.table_id))
        return tuple(StagingTable(item.table_id, self._absolute(item.location)) for item in found)

    def condemned(self, name: TableName) -> tuple[TableId, ...]:
        """The tables that had this name, were dropped and are condemned, the last one dropped first."""
        with self._database.reading() as db:
            found = name_store.condemned_tables(db, name)
            return tuple(table_id for table_id in found if self._may_drop(db, table_id))

    def condemn(self, table_id: TableId) -> StagingTable:
        with self._database.writing() as db:
            row = self._held(db, table_id)
            if row.state != CONDEMNED:
                self._check(db, row, keep_files=False)
                self._tell(db, row)
                name_store.make_condemned(db, table_id)
        return StagingTable(table_id, self._absolute(row.location))

    def forget_keeping_files(self, table_id: TableId) -> None:
        """Forget a dropped table and leave its files to whoever wants them; they are a whole table."""
        with self._database.writing() as db:
            row = self._held(db, table_id)
            self._check(db, row, keep_files=True)
            self._tell(db, row)
            self._delete(db, table_id)

    def forget(self, table_id: TableId) -> None:
        with self._database.writing() as db:
            commit_store.lock_names(db)
            row = name_store.find_row(db, table_id)
            if row is None or not self._may_drop(db, table_id):
                return
            if row.state != CONDEMNED:
                raise InvalidRequest(f"the table {table_id} is not condemned, so it is not forgotten")
            self._delete(db, table_id)

    def _delete(self, db: Connection, table_id: TableId) -> None:
        """All but the id: whoever says later that the table is gone is believed then."""
        name_store.delete_table(db, table_id)
        name_store.insert_purged(db, table_id, self._world.now_ms())

    def _held(self, db: Connection, table_id: TableId) -> Row[Any]:
        commit_store.lock_names(db)
        commit_store.lock_table(db, table_id)
        row = name_store.find_row(db, table_id)
        if row is None or not self._may_drop(db, table_id):
            raise never_dropped(table_id)
        return row

    def _may_drop(self, db: Connection, table_id: TableId) -> bool:
        return Privilege.DROP in grant_store.table_privileges(db, self._principal, table_id)

    def _tell(self, db: Connection, row: Row[Any]) -> None:
        if row.state == DROPPED:
            purged = NewEvent(EventKind.PURGE, TableId(row.table_id), f"{row.schema_name}.{row.table_name}")
            event_store.record_event(db, purged, now_ms=self._world.now_ms())

    def _check(self, db: Connection, row: Row[Any], *, keep_files: bool) -> None:
        name = f"{row.schema_name}.{row.table_name}"
        if row.state == STAGING and not keep_files:
            if row.expires_ms is None or row.expires_ms > self._world.now_ms():
                raise NotAllowed(
                    f"the place reserved for {name} is still in use: wait until its time is over"
                )
            return
        if row.state == transfer_store.RELEASED:
            raise transfer_store.not_live_error(db, TableId(row.table_id))
        if row.state != DROPPED:
            raise NotAllowed(f"the table {name} is in use: drop it first", operation="purge")
        if keep_files and row.latest > row.published:
            raise NotAllowed(
                f"versions {row.published + 1} to {row.latest} of {name} are only in the catalog, so its "
                "files without them are no whole table: undrop it, publish, and drop it again; or delete its "
                "files too",
                operation="purge",
            )
        if not keep_files and row.location != row.table_id:
            raise NotAllowed(
                f"the files of {name} were there before the lake had it, and are not the lake's to delete: "
                "undrop it and lake.release it, to have it back as an ordinary table, or purge it with "
                "files=False, which leaves files of a table that nobody can open",
                operation="purge",
            )
        for objection in self._objections:
            if reason := objection(db, TableId(row.table_id)):
                raise NotAllowed(f"the table {name} cannot be purged yet: {reason}", operation="purge")
