"""Ordinary tables by name, over one database: a row each, in a state that nothing else looks for."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import ExternalTable, TableName, checked_name, normalize_name
from headgate.catalog.store import commit_store, grant_store, name_store, transfer_store
from headgate.catalog.store.commit_store import tables
from headgate.catalog.store.name_store import EXTERNAL_STATE
from headgate.clock import World
from headgate.errors import NotAllowed, SchemaNotFound, TableExists, TableNotFound
from headgate.protocol.actions import EpochMillis
from headgate.storage import locations

_NONE = 0


@dataclass(frozen=True, slots=True)
class DatabaseExternalTables:
    """The port ``ExternalTables`` over one database, on behalf of one principal."""

    database: Database
    warehouse: str
    world: World
    principal: Principal = OWNER

    def register_external(self, name: TableName, place: str) -> ExternalTable:
        self._require_owner("say which ordinary tables there are")
        name = normalize_name(name)
        location = locations.stored_location(locations.canonical(place), self.warehouse)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            for known in self._found(db, name.schema, name.table):
                if known.location == self._absolute(location):
                    return known
            self._check_free(db, name, location)
            self._insert(db, name, location)
            return self._found(db, name.schema, name.table)[0]

    def find_external(self, name: TableName) -> ExternalTable:
        name = normalize_name(name)
        with self.database.reading() as db:
            found = self._visible(db, self._found(db, name.schema, name.table))
        if not found:
            raise TableNotFound(f"there is no ordinary table {name} in this lake", name=str(name))
        return found[0]

    def external_tables(self, schema: str | None = None) -> tuple[ExternalTable, ...]:
        with self.database.reading() as db:
            return self._visible(db, self._found(db, None if schema is None else checked_name(schema)))

    def forget_external(self, name: TableName) -> bool:
        self._require_owner("forget an ordinary table")
        name = normalize_name(name)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            found = self._found(db, name.schema, name.table)
            for table in found:
                name_store.delete_table(db, table.table_id)
        return bool(found)

    def _require_owner(self, what: str) -> None:
        if self.principal != OWNER:
            raise NotAllowed(
                f"only the owner of the lake may {what}: all its readers are led to that place",
                operation=what,
            )

    def _check_free(self, db: Connection, name: TableName, location: str) -> None:
        if not name_store.schema_exists(db, name.schema):
            raise SchemaNotFound(
                f"there is no schema {name.schema!r}: make it with lake.create_schema({name.schema!r})",
                name=name.schema,
            )
        is_reserved = transfer_store.is_name_reserved(db, name, self.world.now_ms())
        if is_reserved or name_store.is_name_taken(db, name):
            raise TableExists(
                f"there is already a table {name}: choose another name or drop it first", name=str(name)
            )
        if near := transfer_store.overlapping_locations(db, location):
            raise TableExists(
                f"{self._absolute(location)!r} overlaps with {self._absolute(near[0])!r}, the place of "
                "another table of this lake: two tables must not share files",
                code="HEADGATE_LOCATION_OVERLAP",
            )

    def _insert(self, db: Connection, name: TableName, location: str) -> None:
        row = {
            "table_id": self.world.uuid(),
            "schema_name": name.schema,
            "table_name": name.table,
            "location": location,
            "state": EXTERNAL_STATE,
            "created_ms": self.world.now_ms(),
        }
        numbers = ("latest", "published", "latest_timestamp", "latest_change")
        db.execute(insert(tables), row | dict.fromkeys(numbers, _NONE))

    def _found(
        self, db: Connection, schema: str | None = None, table: str | None = None
    ) -> tuple[ExternalTable, ...]:
        query = select(tables).where(tables.c.state == EXTERNAL_STATE)
        query = query if schema is None else query.where(tables.c.schema_name == schema)
        query = query if table is None else query.where(tables.c.table_name == table)
        return tuple(
            ExternalTable(
                TableId(row.table_id),
                TableName(row.schema_name, row.table_name),
                self._absolute(row.location),
                EpochMillis(row.created_ms),
            )
            for row in db.execute(query.order_by(tables.c.schema_name, tables.c.table_name))
        )

    def _visible(self, db: Connection, found: tuple[ExternalTable, ...]) -> tuple[ExternalTable, ...]:
        if self.principal == OWNER:
            return found
        seen = grant_store.visible_tables(db, self.principal, (table.table_id for table in found))
        return tuple(table for table in found if table.table_id in seen)

    def _absolute(self, location: str) -> str:
        return locations.absolute_location(location, self.warehouse)
