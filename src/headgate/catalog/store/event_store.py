"""What happened in a catalog, in one order, for those who follow it.

Whoever changes something writes a row in the same database transaction: a commit is its own row of the
table ``commits``, anything else is a row of the ``outbox``. Their numbers could not serve as a cursor: on
PostgreSQL a transaction may get a number, and be seen only after one with a larger number was. So
places are given afterwards, by whoever wants to read, one at a time, to what can be seen by then: what gets a
place later has a later one, and nothing is ever skipped. Writers neither wait nor pay for this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Integer,
    Row,
    Select,
    String,
    Table,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    null,
    or_,
    select,
    union_all,
    update,
)

from headgate.catalog.database.upsert import insert_or_update
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory_copy import STAGING
from headgate.catalog.ports.events import Event, EventKind, EventWindow
from headgate.catalog.store import commit_store
from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis, TxnId, Version


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What is to be told; of a table, ``name`` and ``version`` are as they are now unless they are given."""

    kind: EventKind
    table_id: TableId | None = None
    name: str | None = None
    version: Version | None = None
    txn_id: TxnId | None = None
    operation: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


_NUMBER = BigInteger().with_variant(Integer, "sqlite")
LISTED_AT_ONCE = 5_000
"""How many events get their places in one transaction."""
_NO_VERSION = -1


def _event_columns() -> list[Column[Any]]:
    return [
        Column("kind", String, nullable=False),
        Column("table_id", String),
        Column("table_name", String),
        Column("version", BigInteger, nullable=False),
        Column("txn_id", String),
        Column("operation", String),
        Column("at_ms", BigInteger, nullable=False),
        Column("details", String),
    ]


outbox = Table("outbox", commit_store.metadata, Column("id", _NUMBER, primary_key=True), *_event_columns())
events = Table(
    "events",
    commit_store.metadata,
    Column("cursor", _NUMBER, primary_key=True, autoincrement=False),
    Column("listed_ms", BigInteger, nullable=False),
    *_event_columns(),
)
event_marks = Table(
    "event_marks",
    commit_store.metadata,
    Column("table_id", String, primary_key=True),
    Column("version", BigInteger, nullable=False),
)
event_state = Table(
    "event_state",
    commit_store.metadata,
    Column("the_only", Integer, primary_key=True, autoincrement=False),
    Column("newest", BigInteger, nullable=False),
    Column("forgotten", BigInteger, nullable=False),
)
event_cursors = Table(
    "event_cursors",
    commit_store.metadata,
    Column("name", String, primary_key=True),
    Column("cursor", BigInteger, nullable=False),
    Column("stored_ms", BigInteger, nullable=False),
)
incidents = Table(
    "incidents",
    commit_store.metadata,
    Column("incident", String, primary_key=True),
    Column("at_ms", BigInteger, nullable=False),
)


def record_event(db: Connection, happened: NewEvent, *, now_ms: int) -> None:
    """Tell of something, in the transaction in which it happens."""
    mine = commit_store.tables.c.table_id == happened.table_id
    name: Any = happened.name
    version: Any = happened.version
    if happened.table_id is not None and name is None:
        full = commit_store.tables.c.schema_name + "." + commit_store.tables.c.table_name
        name = select(full).where(mine).scalar_subquery()
    if happened.table_id is not None and version is None:
        latest = select(commit_store.tables.c.latest).where(mine).scalar_subquery()
        version = func.coalesce(latest, _NO_VERSION)
    db.execute(
        insert(outbox).values(
            kind=happened.kind.value,
            table_id=happened.table_id,
            table_name=name,
            version=_NO_VERSION if version is None else version,
            txn_id=happened.txn_id,
            operation=happened.operation,
            at_ms=now_ms,
            details=msgspec.json.encode(happened.details).decode() if happened.details else None,
        )
    )


def record_incident(db: Connection, incident: str, happened: NewEvent, *, now_ms: int) -> bool:
    """Tell of something unless it was told under the same ``incident`` before; whether it was told now."""
    row = insert_or_update(db, incidents).values(incident=incident, at_ms=now_ms)
    if db.scalar(row.on_conflict_do_nothing().returning(incidents.c.incident)) is None:
        return False
    record_event(db, happened, now_ms=now_ms)
    return True


_LATEST_LISTED = func.coalesce(event_marks.c.version, _NO_VERSION)
_BEHIND = commit_store.tables.outerjoin(event_marks, event_marks.c.table_id == commit_store.tables.c.table_id)
_FEW_BEHIND = commit_store.tables.c.table_id + literal("")
"""No index finds a table by this, so SQLite begins with tables and not with all commits there ever were."""
_IS_BEHIND = commit_store.tables.c.latest > _LATEST_LISTED

_PENDING = select(
    or_(
        exists(select(outbox.c.id)),
        exists(
            select(commit_store.tables.c.table_id)
            .select_from(_BEHIND)
            .where(_IS_BEHIND, commit_store.tables.c.state != STAGING)
        ),
    )
)

_UNLISTED = union_all(
    select(
        outbox.c.id,
        outbox.c.kind,
        outbox.c.table_id,
        outbox.c.table_name,
        outbox.c.version,
        outbox.c.txn_id,
        outbox.c.operation,
        outbox.c.at_ms,
        outbox.c.details,
        # A table is created before its version 0 is committed; all else follows the version it names.
        case((outbox.c.kind == EventKind.CREATE.value, 0), else_=2).label("rank"),
    ),
    select(
        null().label("id"),
        literal(EventKind.COMMIT.value).label("kind"),
        commit_store.commits.c.table_id,
        (commit_store.tables.c.schema_name + "." + commit_store.tables.c.table_name).label("table_name"),
        commit_store.commits.c.version,
        commit_store.commits.c.txn_id,
        commit_store.commits.c.operation,
        commit_store.commits.c.in_commit_timestamp.label("at_ms"),
        null().label("details"),
        literal(1).label("rank"),
    )
    .select_from(_BEHIND.join(commit_store.commits, commit_store.commits.c.table_id == _FEW_BEHIND))
    .where(_IS_BEHIND, commit_store.commits.c.version > _LATEST_LISTED),
).subquery("unlisted")

_NEXT = select(_UNLISTED).order_by(
    func.coalesce(_UNLISTED.c.table_id, ""), _UNLISTED.c.version, _UNLISTED.c.rank, _UNLISTED.c.id
)


def has_pending(db: Connection) -> bool:
    """Whether something happened that has no place yet."""
    return bool(db.scalar(_PENDING))


def assign_cursors(db: Connection, *, now_ms: int, most: int = LISTED_AT_ONCE) -> bool:
    """Give places to some of what has none; whether there may be more of it.

    What is to be listed is asked in one statement: in two, a commit might be seen and an earlier
    rename of the same table not.
    """
    newest = db.scalar(select(event_state.c.newest).with_for_update())
    rows = list(db.execute(_NEXT.limit(most)))
    if not rows or newest is None:
        return False
    listed = [
        {
            "cursor": newest + number,
            "listed_ms": now_ms,
            "kind": row.kind,
            "table_id": row.table_id,
            "table_name": row.table_name,
            "version": row.version,
            "txn_id": row.txn_id,
            "operation": row.operation,
            "at_ms": row.at_ms,
            "details": row.details,
        }
        for number, row in enumerate(_by_time(rows), 1)
    ]
    db.execute(insert(events), listed)
    db.execute(update(event_state).values(newest=newest + len(listed)))
    told = [row.id for row in rows if row.id is not None]
    if told:
        db.execute(delete(outbox).where(outbox.c.id.in_(told)))
    marks = {row.table_id: row.version for row in rows if row.id is None}
    if marks:
        upsert = insert_or_update(db, event_marks)
        upsert = upsert.on_conflict_do_update(
            index_elements=["table_id"], set_={"version": upsert.excluded.version}
        )
        db.execute(upsert, [{"table_id": table_id, "version": at} for table_id, at in marks.items()])
    return len(rows) == most


def _by_time(rows: Sequence[Row[Any]]) -> list[Row[Any]]:
    """Tables among each other by time, as far as their clocks agree; each table in its own order."""
    reached: dict[str | None, int] = {}
    moments = []
    for row in rows:
        reached[row.table_id] = max(row.at_ms, reached.get(row.table_id, row.at_ms))
        moments.append(reached[row.table_id])
    return [rows[index] for index in sorted(range(len(rows)), key=moments.__getitem__)]


def events_after(
    db: Connection, cursor: int, limit: int, *, of_tables: ColumnElement[bool] | None = None
) -> tuple[Event, ...]:
    """The events that have a place after ``cursor``, the oldest first; all, or those of some tables."""
    state = db.execute(select(event_state)).one()
    if 0 < cursor < state.forgotten:
        raise InvalidRequest(
            f"the events after {cursor} are forgotten up to {state.forgotten}: begin anew with after=0, and "
            "look at the tables for what you may have missed",
            code="HEADGATE_EVENTS_FORGOTTEN", oldest=state.forgotten,
        )  # fmt: skip
    query = select(events).where(events.c.cursor > cursor).order_by(events.c.cursor).limit(limit)
    return _load_events(db, query, of_tables)


def event_window(
    db: Connection, before: int | None, length: int, *, of_tables: ColumnElement[bool] | None = None
) -> EventWindow:
    """The events in so many places before one, or before the end; all, or those of some tables."""
    state = db.execute(select(event_state)).one()
    end = state.newest + 1 if before is None else max(1, min(before, state.newest + 1))
    start = max(0, end - 1 - length)
    query = select(events).where(events.c.cursor > start, events.c.cursor < end).order_by(events.c.cursor)
    found = _load_events(db, query, of_tables)
    return EventWindow(found, end, state.newest, is_forgotten=start < state.forgotten)


def _load_events(
    db: Connection, query: Select[Any], of_tables: ColumnElement[bool] | None
) -> tuple[Event, ...]:
    if of_tables is not None:
        query = query.where(events.c.table_id.in_(select(commit_store.tables.c.table_id).where(of_tables)))
    return tuple(_event(row) for row in db.execute(query))


def newest(db: Connection) -> int:
    """The last place that was given."""
    return int(db.scalar(select(event_state.c.newest)) or 0)


def delete_oldest(db: Connection, *, before_ms: int, limit: int = LISTED_AT_ONCE) -> int:
    """Delete some of the oldest events that were listed before a moment; how many."""
    forgotten, last = db.execute(
        select(event_state.c.forgotten, event_state.c.newest).with_for_update()
    ).one()
    cut = db.scalar(select(func.min(events.c.cursor)).where(events.c.listed_ms >= before_ms))
    upto = min(last if cut is None else cut - 1, forgotten + limit)
    if upto <= forgotten:
        return 0
    gone = db.execute(delete(events).where(events.c.cursor <= upto)).rowcount
    db.execute(update(event_state).values(forgotten=upto))
    return int(gone)


def load_cursor(db: Connection, name: str) -> int | None:
    """How far the follower of that name has come; None if there is none."""
    found = db.scalar(select(event_cursors.c.cursor).where(event_cursors.c.name == name))
    return None if found is None else int(found)


def count_cursors(db: Connection, prefix: str) -> int:
    """How many followers have names that begin so."""
    mine = event_cursors.c.name.startswith(prefix, autoescape=True)
    return int(db.scalar(select(func.count()).select_from(event_cursors).where(mine)) or 0)


def save_cursor(db: Connection, name: str, cursor: int, *, now_ms: int) -> None:
    """Remember how far a follower has come; never back, should two go by one name."""
    upsert = insert_or_update(db, event_cursors).values(name=name, cursor=cursor, stored_ms=now_ms)
    db.execute(
        upsert.on_conflict_do_update(
            index_elements=["name"],
            set_={"cursor": upsert.excluded.cursor, "stored_ms": now_ms},
            where=event_cursors.c.cursor < upsert.excluded.cursor,
        )
    )


def _event(row: Row[Any]) -> Event:
    return Event(
        cursor=row.cursor,
        kind=EventKind(row.kind),
        table=row.table_name,
        table_id=row.table_id,
        version=None if row.version == _NO_VERSION else Version(row.version),
        txn_id=row.txn_id,
        operation=row.operation,
        timestamp=EpochMillis(row.at_ms),
        details=msgspec.json.decode(row.details) if row.details else {},
    )
