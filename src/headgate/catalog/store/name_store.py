"""Names, reserved places and live tables: the directory's queries, inside the caller's transaction."""

from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, insert, or_, select, update

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.ports.directory_copy import CONDEMNED, DROPPED, LIVE, STAGING
from headgate.catalog.store.commit_store import metadata, schemas, tables
from headgate.protocol.actions import EpochMillis

_BY_NAME = select(
    tables.c.table_id,
    tables.c.schema_name,
    tables.c.table_name,
    tables.c.location,
    tables.c.created_ms,
    tables.c.dropped_ms,
    tables.c.latest,
    tables.c.published,
    tables.c.revision,
).where(
    tables.c.state == LIVE,
    tables.c.schema_name == bindparam("schema"),
    tables.c.table_name == bindparam("table"),
)


def schema_exists(db: Connection, schema: str) -> bool:
    """Whether there is a schema of that name."""
    return db.execute(select(schemas.c.name).where(schemas.c.name == schema)).one_or_none() is not None


def insert_schema(db: Connection, schema: str, now: int) -> None:
    """Record a schema."""
    db.execute(insert(schemas), {"name": schema, "created_ms": now})


def insert_staging(
    db: Connection, staging: StagingTable, name: TableName, now: int, *, expires_ms: int
) -> None:
    """Record a reserved place."""
    db.execute(
        insert(tables),
        {
            "table_id": staging.table_id,
            "schema_name": name.schema,
            "table_name": name.table,
            "location": staging.location,
            "state": STAGING,
            "created_ms": now,
            "latest": 0,
            "published": 0,
            "latest_timestamp": 0,
            "latest_change": 0,
            "domains_by": 0,
            "expires_ms": expires_ms,
        },
    )


def table_id_exists(db: Connection, table_id: TableId) -> bool:
    """Whether a table was ever staged under that id."""
    return db.execute(select(tables.c.state).where(tables.c.table_id == table_id)).one_or_none() is not None


def make_live(db: Connection, table_id: TableId, name: TableName, now: int) -> bool:
    """Turn a staging table into a live one of that name; whether there was one that has not expired."""
    changed = db.execute(
        update(tables)
        .where(
            tables.c.table_id == table_id,
            tables.c.state == STAGING,
            or_(tables.c.expires_ms.is_(None), tables.c.expires_ms > now),
        )
        .values(state=LIVE, schema_name=name.schema, table_name=name.table, expires_ms=None)
    )
    return changed.rowcount == 1


def rename_table(db: Connection, table_id: TableId, name: TableName) -> None:
    """Give a table another name."""
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id)
        .values(schema_name=name.schema, table_name=name.table, revision=tables.c.revision + 1)
    )


def make_log_shared(db: Connection, table_id: TableId) -> None:
    """Say that others may publish versions of the table."""
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id)
        .values(shares_log=1, revision=tables.c.revision + 1)
    )


def make_dropped(db: Connection, table_id: TableId, now: int) -> None:
    """Take a live table's name away."""
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id)
        .values(state=DROPPED, dropped_ms=now, revision=tables.c.revision + 1)
    )


def undrop_table(db: Connection, table_id: TableId, name: TableName) -> None:
    """Give a dropped table a name."""
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id, tables.c.state == DROPPED)
        .values(
            state=LIVE,
            dropped_ms=None,
            schema_name=name.schema,
            table_name=name.table,
            revision=tables.c.revision + 1,
        )
    )


def make_condemned(db: Connection, table_id: TableId) -> None:
    """See that nobody can have the table again."""
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id)
        .values(state=CONDEMNED, revision=tables.c.revision + 1)
    )


def delete_table(db: Connection, table_id: TableId) -> None:
    """Delete what refers to a table, in whichever relation, and the table."""
    for relation in reversed(metadata.sorted_tables):
        for column in relation.columns:
            if any(key.column is tables.c.table_id for key in column.foreign_keys):
                db.execute(delete(relation).where(column == table_id))
    db.execute(delete(tables).where(tables.c.table_id == table_id))


def find_dropped(db: Connection, name: TableName, table_id: TableId | None) -> TableEntry | None:
    """The table that had that name and was dropped last, or the one with that id."""
    found = dropped_tables(db, name.schema, name.table)
    return next((entry for entry in found if table_id in (None, entry.table_id)), None)


def dropped_tables(
    db: Connection, schema: str | None = None, table: str | None = None
) -> tuple[TableEntry, ...]:
    """The dropped tables, of one schema, of one name, the latest first."""
    query = _where_name(select(tables).where(tables.c.state == DROPPED), schema, table)
    return tuple(_entry(row) for row in db.execute(query.order_by(tables.c.dropped_ms.desc())))


def condemned_tables(db: Connection, name: TableName) -> tuple[TableId, ...]:
    """The condemned tables that were dropped under that name, the latest first."""
    query = select(tables.c.table_id).where(tables.c.state == CONDEMNED, tables.c.dropped_ms.is_not(None))
    query = _where_name(query, name.schema, name.table).order_by(tables.c.dropped_ms.desc())
    return tuple(TableId(found) for found in db.scalars(query))


def expired_or_condemned(db: Connection, now: int) -> tuple[StagingTable, ...]:
    """The reserved places whose time is over, and the condemned tables."""
    over = (tables.c.state == STAGING) & (tables.c.expires_ms <= now)
    query = select(tables.c.table_id, tables.c.location).where(or_(over, tables.c.state == CONDEMNED))
    rows = db.execute(query.order_by(tables.c.created_ms))
    return tuple(StagingTable(TableId(row.table_id), row.location) for row in rows)


def find_row(db: Connection, table_id: TableId) -> Row[Any] | None:
    """All that is in a table's row, whatever its state."""
    return db.execute(select(tables).where(tables.c.table_id == table_id)).one_or_none()


def find_table(db: Connection, name: TableName) -> TableEntry | None:
    """The live table of that name."""
    row = db.execute(_BY_NAME, {"schema": name.schema, "table": name.table}).one_or_none()
    return None if row is None else _entry(row)


def live_tables(
    db: Connection, schema: str | None = None, table: str | None = None
) -> tuple[TableEntry, ...]:
    """The live tables, of one schema, of one name."""
    query = _where_name(select(tables).where(tables.c.state == LIVE), schema, table)
    return tuple(_entry(row) for row in db.execute(query.order_by(tables.c.schema_name, tables.c.table_name)))


def _where_name(query: Select[Any], schema: str | None, table: str | None) -> Select[Any]:
    if schema is not None:
        query = query.where(tables.c.schema_name == schema)
    return query if table is None else query.where(tables.c.table_name == table)


def _entry(row: Any) -> TableEntry:
    return TableEntry(
        TableId(row.table_id),
        TableName(row.schema_name, row.table_name),
        row.location,
        EpochMillis(row.created_ms),
        # Each of the three only grows, whoever writes it, so their sum tells of every change.
        etag=row.latest + row.published + row.revision,
        dropped_ms=row.dropped_ms,
    )
