"""What would be known of the tables if the catalog's database were lost? A copy, in the warehouse.

Names, drops and how far tables had come are in no log. So whoever changes them has a copy written beside the
tables, and so has, now and then, whoever commits. Nobody who reads or commits relies on it. But it tells a
lost database, or one that was restored from a backup, from a new one, and a recovery what logs cannot tell.
It may lag behind the database by what the last seconds brought, and never says what did not happen.
"""

import copy
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Connection, or_, select

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import OWNER, Principal
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
from headgate.catalog.store import commit_store, event_store, name_store
from headgate.errors import HeadgateError, NotAllowed
from headgate.storage.store import Store

_LOG = logging.getLogger(__name__)
_RECENT = 200
_TRIES = 5
_EVERY_SECONDS = 30.0
_COPIED_STATES = (LIVE, DROPPED, CONDEMNED)


def missing_tables(db: Connection, copied: DirectoryCopy) -> tuple[CopiedTable, ...]:
    """The tables of a copy that the database does not know, or not as far as it once did."""
    latest = _latest(db, [found.table_id for found in copied.tables])
    return tuple(
        found
        for found in copied.tables
        if found.table_id not in copied.forgotten
        and found.state != CONDEMNED
        and latest.get(found.table_id, -1) < found.latest
    )


def is_database_empty(db: Connection) -> bool:
    """Whether nothing was ever put into the database: a table needs a schema, and one that goes was empty.

    Of tables that were purged and left their files behind, events tell.
    """
    traces = (commit_store.schemas.c.name, event_store.outbox.c.id)
    if any(db.execute(select(trace).limit(1)).first() is not None for trace in traces):
        return False
    return event_store.newest(db) == 0


class DirectoryCopyWriter:
    """Keeps the copy of one catalog; safe to share between threads. To fail here is no failure."""

    def __init__(self, database: Database, files: Callable[[], Store]) -> None:
        self._database = database
        self._files = files
        self._lock = threading.Lock()
        self._written = [0, 0.0]
        self._dropped: set[str] = set()
        self._principal = OWNER

    def acting_as(self, principal: Principal) -> "DirectoryCopyWriter":
        """The same on behalf of a principal: what the copy says of a lost lake is for its owner alone."""
        other = copy.copy(self)  # with the same lock, and the same list of when it was written
        other._principal = principal
        return other

    def write_if_due(self) -> None:
        """Write the copy if something was committed through this process, but not all the time."""
        writes, at = self._written
        if writes != self._database.writes and time.monotonic() - at >= _EVERY_SECONDS:
            self.write_now()

    def write_if_changed(self) -> None:
        """Write the copy if something was committed through this process since it was."""
        if self._written[0] != self._database.writes:
            self.write_now()

    def note_dropped_schema(self, schema: str) -> None:
        """The copy is not to list a schema that was dropped; the next one that is written does not."""
        with self._lock:
            self._dropped.add(schema.lower())

    def write_now(self, *, forgotten: Iterable[TableId] = (), recovered: bool = False) -> None:
        """Write the copy; of tables that were ``forgotten`` too, and of a recovery that it has ended.

        What was written before and is more than the database has is kept: it tells of what was lost.
        """
        if recovered and self._principal != OWNER:
            raise NotAllowed("that a recovery has ended only the lake's owner says", operation="recover")
        gone = self._believed(forgotten)
        with self._lock:
            self._written[:] = self._database.writes, time.monotonic()
            try:
                self._write(gone, recovered=recovered)
            except HeadgateError as exc:
                _LOG.warning("the copy of the catalog's directory was not written: %s", exc)

    def find_lost_tables(self) -> tuple[bool, tuple[CopiedTable, ...]]:
        """Whether a recovery has begun and not ended; and what the copy has and the database does not.

        Unless its files are gone, too.
        """
        found = read_copy(self._files())
        if found is None:
            self.write_now()  # of a lake from before there were copies, or a new one
            return False, ()
        if self._principal != OWNER:
            return found.recovering, ()
        with self._database.reading() as db:
            return found.recovering, missing_tables(db, found)

    def is_new(self) -> bool:
        """Whether nothing was ever put into the database."""
        with self._database.reading() as db:
            return is_database_empty(db)

    def _believed(self, forgotten: Iterable[TableId]) -> frozenset[str]:
        """Those of the tables that are said to be gone of which that is believed.

        Whoever could have any table left out of the copy could keep it from being recovered.
        """
        if self._principal == OWNER:
            return frozenset(forgotten)
        with self._database.reading() as db:
            return name_store.purged_ids(db, forgotten)

    def _write(self, forgotten: frozenset[str], *, recovered: bool) -> None:
        files, known = self._files(), self._current()
        for _ in range(_TRIES):
            before = read_copy(files) or DirectoryCopy()
            with self._database.reading() as db:
                lost = () if recovered else missing_tables(db, before)
            gone = forgotten | frozenset(before.forgotten)
            kept = frozenset(before.schemas) - self._dropped
            write_copy(files, _merge_copies(before, known, lost, gone, kept, recovered=recovered))
            after = self._current()
            if _names(after) == _names(known):  # else somebody may have written it just before
                self._dropped.clear()
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
    kept: frozenset[str],
    *,
    recovered: bool,
) -> DirectoryCopy:
    tables = {**now.by_id, **{found.table_id: found for found in lost}}
    return DirectoryCopy(
        schemas=tuple(sorted({*now.schemas, *kept})),
        tables=tuple(tables[table_id] for table_id in sorted(tables.keys() - gone)),
        forgotten=tuple(sorted(gone)),
        recovering=before.recovering and not recovered,
    )


def _names(copied: DirectoryCopy) -> frozenset[tuple[str, int, str]]:
    return frozenset((found.table_id, found.revision, found.state) for found in copied.tables)


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
