"""Names, reserved places and live tables: the directory's queries, inside the caller's transaction."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    Table,
    bindparam,
    delete,
    insert,
    or_,
    select,
    update,
)

from headgate.catalog.database.prepared_statements import PreparedStatement, is_any_of, list_parameter
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.ports.directory_copy import CONDEMNED, DROPPED, LIVE, STAGING
from headgate.catalog.store.commit_store import metadata, schemas, tables
from headgate.protocol.actions import EpochMillis

purged_tables = Table(
    "purged_tables",
    metadata,
    Column("table_id", String, primary_key=True),
    Column("purged_ms", BigInteger, nullable=False),
)

EXTERNAL_STATE = "external"
"""The state of a table that has a name here and is not managed: whoever looks for live ones misses it."""

ENTRY_COLUMNS = (
    tables.c.table_id,
    tables.c.schema_name,
    tables.c.table_name,
    tables.c.location,
    tables.c.created_ms,
    tables.c.dropped_ms,
    tables.c.latest,
    tables.c.published,
    tables.c.revision,
)
HAS_NAME = (
    (tables.c.state == LIVE)
    & (tables.c.schema_name == bindparam("schema"))
    & (tables.c.table_name == bindparam("table"))
)
"""That it is the live table of a name."""
MAY_HAVE_NAME = (
    (tables.c.state == LIVE)
    & is_any_of(tables.c.schema_name, "schemas")
    & is_any_of(tables.c.table_name, "tables")
)
"""That it is a live table of one of several names, or of a schema of one and the rest of another."""

_BY_NAME = PreparedStatement(select(*ENTRY_COLUMNS).where(HAS_NAME))


def schema_exists(db: Connection, schema: str) -> bool:
    """Whether there is a schema of that name."""
    return db.execute(select(schemas.c.name).where(schemas.c.name == schema)).one_or_none() is not None


def schema_names(db: Connection) -> tuple[str, ...]:
    """Every schema, by name."""
    return tuple(db.scalars(select(schemas.c.name).order_by(schemas.c.name)))


def is_schema_used(db: Connection, schema: str) -> bool:
    """Whether anything is in a schema: live, dropped, condemned or reserved."""
    used = select(tables.c.table_id).where(tables.c.schema_name == schema)
    return db.execute(used.limit(1)).first() is not None


def delete_schema(db: Connection, schema: str) -> None:
    """Forget a schema that nothing is in."""
    db.execute(delete(schemas).where(schemas.c.name == schema))


def insert_schema(db: Connection, schema: str, now: int) -> None:
    """Record a schema."""
    db.execute(insert(schemas), {"name": schema, "created_ms": now})


def insert_staging(
    db: Connection, staging: StagingTable, name: TableName, now: int, *, expires_ms: int, owner: str | None
) -> None:
    """Record a reserved place, and who reserved it, unless it was the lake's owner."""
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
            "owner": owner,
        },
    )


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


def find_staging(db: Connection, table_id: TableId, now: int) -> Row[Any] | None:
    """The row of a reserved place that has not expired."""
    row = find_row(db, table_id)
    is_reserved = (
        row is not None and row.state == STAGING and (row.expires_ms is None or row.expires_ms > now)
    )
    return row if is_reserved else None


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


def insert_purged(db: Connection, table_id: TableId, now: int) -> None:
    """Remember that a table is gone for good."""
    if not purged_ids(db, (table_id,)):
        db.execute(insert(purged_tables), {"table_id": table_id, "purged_ms": now})


def purged_ids(db: Connection, table_ids: Iterable[str]) -> frozenset[str]:
    """Those of these tables that are gone for good."""
    wanted = list(table_ids)
    query = select(purged_tables.c.table_id).where(purged_tables.c.table_id.in_(wanted))
    return frozenset(db.scalars(query)) if wanted else frozenset()


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
    row = _BY_NAME.row(db, {"schema": name.schema, "table": name.table})
    return None if row is None else read_entry(*row)


def is_name_taken(db: Connection, name: TableName) -> bool:
    """Whether a live table has the name, or an ordinary one that is not managed."""
    query = select(tables.c.table_id).where(tables.c.state.in_((LIVE, EXTERNAL_STATE)))
    return db.execute(_where_name(query, name.schema, name.table).limit(1)).first() is not None


def listed_names(db: Connection, names: Iterable[TableName]) -> dict[str, str | list[str]]:
    """The parameters of ``MAY_HAVE_NAME``."""
    wanted = tuple(names)
    return {
        "schemas": list_parameter(db, {name.schema for name in wanted}),
        "tables": list_parameter(db, {name.table for name in wanted}),
    }


def live_tables(
    db: Connection, seen: ColumnElement[bool], schema: str | None = None, table: str | None = None
) -> tuple[TableEntry, ...]:
    """The live tables that are to be seen, of one schema, of one name."""
    query = _where_name(select(tables).where(tables.c.state == LIVE, seen), schema, table)
    return tuple(_entry(row) for row in db.execute(query.order_by(tables.c.schema_name, tables.c.table_name)))


def _where_name(query: Select[Any], schema: str | None, table: str | None) -> Select[Any]:
    if schema is not None:
        query = query.where(tables.c.schema_name == schema)
    return query if table is None else query.where(tables.c.table_name == table)


def _entry(row: Any) -> TableEntry:
    return read_entry(*(getattr(row, column.name) for column in ENTRY_COLUMNS))


def read_entry(  # noqa: PLR0913, PLR0917 — a value for each of ENTRY_COLUMNS
    table_id: str,
    schema: str,
    table: str,
    location: str,
    created_ms: int,
    dropped_ms: int | None,
    latest: int,
    published: int,
    revision: int,
) -> TableEntry:
    """The entry that ENTRY_COLUMNS are."""
    return TableEntry(
        TableId(table_id),
        TableName(schema, table),
        location,
        EpochMillis(created_ms),
        # Each of the three only grows, whoever writes it, so their sum tells of every change.
        etag=latest + published + revision,
        dropped_ms=None if dropped_ms is None else EpochMillis(dropped_ms),
    )
