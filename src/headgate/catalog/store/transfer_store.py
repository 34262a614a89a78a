"""The rows of tables on their way into the catalog or out of it; inside the caller's transaction.

A row of a table that comes in is a promise: should version ``base + 1`` of the log turn out to name the
table's id, the catalog has the table from then on. So it is forgotten only once that can no longer happen. A
row of a table that leaves says from which version on nothing is ratified, and stays as a forwarding address.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Row,
    String,
    Table,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.ports.handover import Transfer, TransferPhase
from headgate.catalog.store import commit_store, name_store, table_not_found
from headgate.catalog.store.commit_store import KnownTable
from headgate.errors import TableFrozen, TableNotFound
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.storage import locations

RELEASED = "released"
"""The state of a table that was given back; its row stays, because its commits do."""


transfers = Table(
    "transfers",
    commit_store.metadata,
    Column("table_id", String, primary_key=True),
    Column("phase", String, nullable=False),
    Column("schema_name", String, nullable=False),
    Column("table_name", String, nullable=False),
    Column("location", String, nullable=False),
    Column("base_version", BigInteger, nullable=False),
    Column("txn_id", String, nullable=False),
    Column("proposer", String, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Index("transfers_by_name", "schema_name", "table_name"),
)
_UNDER_WAY = transfers.c.phase != TransferPhase.GONE.value
NAME_IS_CLAIMED = (
    select(transfers.c.table_id)
    .where(
        transfers.c.schema_name == bindparam("schema"),
        transfers.c.table_name == bindparam("table"),
        transfers.c.phase == TransferPhase.CLAIMED.value,
    )
    .exists()
)
"""Whether a table is on its way in that is to have the name, or was."""


def find_transfer(db: Connection, table_id: TableId) -> Transfer | None:
    """The transfer of a table, if it is or was on its way."""
    row = db.execute(select(transfers).where(transfers.c.table_id == table_id)).one_or_none()
    return None if row is None else _transfer(row)


def transfers_under_way(db: Connection, name: TableName | None = None) -> tuple[Transfer, ...]:
    """The tables on their way, or those of one name."""
    query = select(transfers).where(_UNDER_WAY).order_by(transfers.c.table_id)
    if name is not None:
        query = query.where(transfers.c.schema_name == name.schema, transfers.c.table_name == name.table)
    return tuple(_transfer(row) for row in db.execute(query))


def is_schema_claimed(db: Connection, schema: str) -> bool:
    """Whether a table is on its way into a schema, or was and may yet turn out to be there."""
    return any(found.name.schema == schema for found in open_claims(db))


def open_claims(db: Connection) -> tuple[Transfer, ...]:
    """The tables on their way in."""
    query = select(transfers).where(transfers.c.phase == TransferPhase.CLAIMED.value)
    return tuple(_transfer(row) for row in db.execute(query.order_by(transfers.c.expires_ms)))


def is_name_reserved(db: Connection, name: TableName, now_ms: int) -> bool:
    """Whether a table on its way in is to have that name."""
    waiting = transfers_under_way(db, name)
    return any(found.phase is TransferPhase.CLAIMED and found.expires_ms > now_ms for found in waiting)


def insert_transfer(db: Connection, transfer: Transfer) -> None:
    """Record the beginning of a transfer."""
    db.execute(
        insert(transfers),
        {
            "table_id": transfer.table_id,
            "phase": transfer.phase.value,
            "schema_name": transfer.name.schema,
            "table_name": transfer.name.table,
            "location": transfer.location,
            "base_version": transfer.base,
            "txn_id": transfer.txn_id,
            "proposer": transfer.proposer,
            "expires_ms": transfer.expires_ms,
        },
    )


def set_phase(db: Connection, table_id: TableId, phase: TransferPhase, expires_ms: int) -> None:
    """Take a transfer to a phase, or give it more time."""
    db.execute(
        update(transfers)
        .where(transfers.c.table_id == table_id)
        .values(phase=phase.value, expires_ms=expires_ms)
    )


def delete_transfer(db: Connection, table_id: TableId) -> None:
    """Forget a transfer."""
    db.execute(delete(transfers).where(transfers.c.table_id == table_id))


def set_frozen(db: Connection, table_id: TableId, since_ms: int | None) -> None:
    """Let nothing of the table be ratified from now on; with None, let it again."""
    db.execute(
        update(commit_store.tables)
        .where(commit_store.tables.c.table_id == table_id)
        .values(frozen_ms=since_ms)
    )


def find_live_table(db: Connection, table_id: TableId) -> TableEntry | None:
    """The live table of that id."""
    row = name_store.find_row(db, table_id)
    if row is None or row.state != LIVE:
        return None
    return name_store.find_table(db, TableName(row.schema_name, row.table_name))


def find_row_at(db: Connection, location: str) -> Row[Any] | None:
    """All that is in the row of the table at a place, whatever its state."""
    return db.execute(
        select(commit_store.tables).where(commit_store.tables.c.location == location)
    ).one_or_none()


def overlapping_locations(db: Connection, location: str) -> tuple[str, ...]:
    """The places of tables, dropped ones too, that overlap with one."""
    found = commit_store.tables.c.location
    query = select(found).where(
        found.in_(list(locations.self_and_ancestors(location)))
        | found.startswith(f"{location}/", autoescape=True)
    )
    return tuple(near for near in db.scalars(query) if locations.overlap(near, location))


def insert_adopted_table(db: Connection, transfer: Transfer, name: TableName, now_ms: int) -> None:
    """Make it a live table whose log is published up to the base, of which nothing more is known."""
    db.execute(
        insert(commit_store.tables),
        {
            "table_id": transfer.table_id,
            "schema_name": name.schema,
            "table_name": name.table,
            "location": transfer.location,
            "state": LIVE,
            "created_ms": now_ms,
            "latest": transfer.base,
            "published": transfer.base,
            "latest_timestamp": 0,
            "latest_change": transfer.base,
        },
    )


def mark_released(db: Connection, transfer: Transfer, place: str) -> None:
    """Make it a table that was given back, and is at this place; name and location are free for another."""
    table_id = transfer.table_id
    db.execute(
        update(commit_store.tables)
        .where(commit_store.tables.c.table_id == table_id)
        .values(state=RELEASED, location=f"{RELEASED}:{table_id}", frozen_ms=None)
    )
    db.execute(
        update(transfers)
        .where(transfers.c.table_id == table_id)
        .values(phase=TransferPhase.GONE.value, location=place)
    )


def require_live_table(db: Connection, table_id: TableId, txn_id: TxnId | None = None) -> KnownTable:
    """What is written down of a live table, and of a transaction of it; or ``TableNotFound``."""
    found = commit_store.find_head(db, table_id, txn_id)
    if found is None:
        raise not_live_error(db, table_id)
    return found


def not_live_error(db: Connection, table_id: TableId) -> TableNotFound:
    """The error for an id that no live table has; of one that was given back it says where it is."""
    found = find_transfer(db, table_id)
    if found is None or found.phase is not TransferPhase.GONE:
        return table_not_found.no_table(table_id)
    return TableNotFound(
        f"the table {found.name} was given back by its catalog with version {found.target} and is an "
        f"ordinary Delta table now: open it with headgate.at_path({found.location!r}), or take it in again "
        f"with lake.adopt({found.location!r}, {str(found.name)!r})",
        name=str(found.name), location=found.location, version=found.target,
    )  # fmt: skip


def frozen_error(table_id: TableId) -> TableFrozen:
    """The error for a proposal that comes while a table leaves."""
    return TableFrozen(
        f"the table {table_id} is being given back by its catalog, which ratifies nothing of it "
        "meanwhile; nothing was changed: try again, and if it is gone by then, open it by its path",
        name=table_id,
    )


def _transfer(row: Row[Any]) -> Transfer:
    return Transfer(
        TableId(row.table_id),
        TransferPhase(row.phase),
        TableName(row.schema_name, row.table_name),
        row.location,
        Version(row.base_version),
        TxnId(row.txn_id),
        row.proposer,
        EpochMillis(row.expires_ms),
    )
