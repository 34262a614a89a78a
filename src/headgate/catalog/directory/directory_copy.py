"""What would be known of the tables if the catalog's database were lost? A copy, in the warehouse.

Names, drops and how far tables had come are in no log. So who changes them has a copy written beside the
tables, and so has, now and then, who commits. Nobody who reads or commits relies on it. But it tells a lost
database, or one that was restored from a backup, from a new one, and a recovery what logs cannot tell. It may
lag behind the database by what the last seconds brought, and never says what did not happen.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Connection, or_, select

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory_copy import (
    CONDEMNED,
    DROPPED,
    LIVE,
    STAGING,
    CopiedTable,
    DirectoryCopy,
    read_copy,
    write_copy,
)
from headgate.catalog.store import commit_store
from headgate.errors import HeadgateError
from headgate.storage.store import Store

_LOG = logging.getLogger(__name__)
_RECENT = 200
_TRIES = 5
_EVERY_SECONDS = 30.0
_COPIED_STATES = (LIVE, DROPPED, CONDEMNED)


def missing_tables(db: Connection, copy: DirectoryCopy) -> tuple[CopiedTable, ...]:
    """The tables of a copy that the database does not know, or not as far as it once did."""
    latest = _latest(db, [found.table_id for found in copy.tables])
    return tuple(
        found
        for found in copy.tables
        if found.table_id not in copy.forgotten
        and found.state != CONDEMNED
        and latest.get(found.table_id, -1) < found.latest
    )


def is_database_empty(db: Connection) -> bool:
    """Whether nothing was ever put into the database: a table needs a schema, and no schema ever goes."""
    return db.execute(select(commit_store.schemas.c.name).limit(1)).first() is None


class DirectoryCopyWriter:
    """Keeps the copy of one catalog; safe to share between threads. To fail here is no failure."""

    def __init__(self, database: Database, files: Callable[[], Store]) -> None:
        self._database = database
        self._files = files
        self._lock = threading.Lock()
        self._written = (0, 0.0)

    def write_if_due(self) -> None:
        """Write the copy if something was committed through this process, but not all the time."""
        writes, at = self._written
        if writes != self._database.writes and time.monotonic() - at >= _EVERY_SECONDS:
            self.now()

    def write_if_changed(self) -> None:
        """Write the copy if something was committed through this process since it was."""
        if self._written[0] != self._database.writes:
            self.now()

    def now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None:
        """Write the copy; of tables that were ``forgotten`` too, and of a recovery that it has ended.

        What was written before and is more than the database has is kept: it tells of what was lost.
        """
        with self._lock:
            self._written = self._database.writes, time.monotonic()
            try:
                self._write(frozenset(forgotten), recovered=recovered)
            except HeadgateError as exc:
                _LOG.warning("the copy of the catalog's directory was not written: %s", exc)

    def lost(self) -> tuple[bool, tuple[CopiedTable, ...]]:
        """Whether a recovery has begun and not ended; and what the copy has and the database does not.

        Unless its files are gone, too.
        """
        copy = read_copy(self._files())
        if copy is None:
            self.now()  # of a lake from before there were copies, or a new one
            return False, ()
        with self._database.reading() as db:
            return copy.recovering, missing_tables(db, copy)

    def is_new(self) -> bool:
        """Whether nothing was ever put into the database."""
        with self._database.reading() as db:
            return is_database_empty(db)

    def _write(self, forgotten: frozenset[str], *, recovered: bool) -> None:
        files, known = self._files(), self._current()
        for _ in range(_TRIES):
            before = read_copy(files) or DirectoryCopy()
            with self._database.reading() as db:
                lost = () if recovered else missing_tables(db, before)
            gone = forgotten | frozenset(before.forgotten)
            write_copy(files, _merge_copies(before, known, lost, gone, recovered=recovered))
            after = self._current()
            if _names(after) == _names(known):  # else somebody may have written it just before
                return
            known = after

    def _current(self) -> DirectoryCopy:
        tables = commit_store.tables
        with self._database.reading() as db:
            schemas = tuple(
                db.scalars(select(commit_store.schemas.c.name).order_by(commit_store.schemas.c.name))
            )
            told = or_(
                tables.c.revision > 0,
                tables.c.state != LIVE,
                tables.c.location != tables.c.table_id,
                tables.c.shares_log == 1,
            )
            query = select(tables).where(tables.c.state.in_(_COPIED_STATES))
            rows = {row.table_id: row for row in db.execute(query.where(told))}
            newest = query.order_by(tables.c.latest_timestamp.desc()).limit(_RECENT)
            rows |= {row.table_id: row for row in db.execute(newest)}
        return DirectoryCopy(
            schemas=schemas, tables=tuple(_copied_table(rows[found]) for found in sorted(rows))
        )


def _merge_copies(
    before: DirectoryCopy,
    now: DirectoryCopy,
    lost: Iterable[CopiedTable],
    gone: frozenset[str],
    *,
    recovered: bool,
) -> DirectoryCopy:
    tables = {**now.by_id, **{found.table_id: found for found in lost}}
    return DirectoryCopy(
        schemas=tuple(sorted({*now.schemas, *before.schemas})),
        tables=tuple(tables[table_id] for table_id in sorted(tables.keys() - gone)),
        forgotten=tuple(sorted(gone)),
        recovering=before.recovering and not recovered,
    )


def _names(copy: DirectoryCopy) -> frozenset[tuple[str, int, str]]:
    return frozenset((found.table_id, found.revision, found.state) for found in copy.tables)


def _copied_table(row: Any) -> CopiedTable:
    return CopiedTable(
        table_id=row.table_id,
        schema=row.schema_name,
        table=row.table_name,
        location=row.location,
        latest=row.latest,
        published=row.published,
        state=row.state,
        revision=row.revision,
        dropped_ms=row.dropped_ms,
        shares_log=bool(row.shares_log),
    )


def _latest(db: Connection, table_ids: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for start in range(0, len(table_ids), _RECENT):
        some = table_ids[start : start + _RECENT]
        query = select(
            commit_store.tables.c.table_id, commit_store.tables.c.latest, commit_store.tables.c.state
        )
        for row in db.execute(query.where(commit_store.tables.c.table_id.in_(some))):
            found[row.table_id] = -1 if row.state == STAGING else row.latest
    return found
