"""Writing down a table that its log proves, in a database that has lost it: all of it or nothing.

What is in the database is never overwritten: a table that is known stays as it is, unless the database only
knows that there was to be one. What a log cannot say (who may do what, who follows) is not made up.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.directory_copy import DROPPED, LIVE, STAGING, CopiedTable
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.recovery import ProvenTable, RebuildResult, RegisteredTable
from headgate.catalog.store import (
    commit_rules,
    commit_store,
    event_store,
    name_store,
    new_commits,
    table_state,
    transfer_store,
)
from headgate.catalog.store.event_store import NewEvent
from headgate.clock import World
from headgate.protocol.actions import Version

RECOVERED_CODE = "HEADGATE_RECOVERED"
_BEFORE_ALL = Version(-1)


@dataclass(frozen=True, slots=True)
class RecoveryWriter:
    """Writes down what was lost; safe to be done by several at once."""

    database: Database
    world: World

    def known_tables(self) -> dict[TableId, RegisteredTable]:
        """Every table that the database knows."""
        with self.database.reading() as db:
            managed = commit_store.tables.c.state != name_store.EXTERNAL_STATE
            rows = list(db.execute(select(commit_store.tables).where(managed)))
        return {
            TableId(row.table_id): RegisteredTable(
                TableName(row.schema_name, row.table_name),
                row.location,
                row.state,
                Version(row.latest),
                Version(row.published),
                row.revision,
            )
            for row in rows
        }

    def make_schemas(self, names: Iterable[str]) -> tuple[str, ...]:
        """Make the schemas that are missing; which those were."""
        made = []
        with self.database.writing() as db:
            commit_store.lock_names(db)
            for name in sorted(set(names)):
                if not name_store.schema_exists(db, name):
                    name_store.insert_schema(db, name, self.world.now_ms())
                    made.append(name)
        return tuple(made)

    def enter(self, proven: ProvenTable) -> RebuildResult:
        """Write the table down, unless it is known; its schema must exist."""
        with self.database.writing() as db:
            commit_store.lock_names(db)
            row = name_store.find_row(db, proven.table_id)
            if row is not None and row.state != STAGING:
                return RebuildResult.KNOWN
            if row is None and transfer_store.overlapping_locations(db, proven.location):
                return RebuildResult.OVERLAPS
            is_live = proven.is_live and name_store.find_table(db, proven.name) is None
            self._insert(db, proven, is_live=is_live, is_known=row is not None)
            table_state.save_table_state(db, proven.table_id, proven.summary, before=_BEFORE_ALL)
            if proven.records:
                new_commits.insert_commits(db, proven.table_id, proven.records, latest_change=proven.version)
            for place in proven.sources:
                commit_rules.allow_files(db, proven.table_id, place)
            # Whoever follows the events begins anew: those of commits before are not told again.
            mark = {"table_id": proven.table_id, "version": proven.version}
            db.execute(insert(event_store.event_marks), mark)
            told = NewEvent(
                EventKind.INCIDENT, proven.table_id, details={"code": RECOVERED_CODE, **proven.details}
            )
            event_store.record_event(db, told, now_ms=self.world.now_ms())
        return RebuildResult.LIVE if is_live else RebuildResult.DROPPED

    def _insert(self, db: Connection, proven: ProvenTable, *, is_live: bool, is_known: bool) -> None:
        dropped_ms = None if is_live else proven.dropped_ms or self.world.now_ms()
        values = {
            "schema_name": proven.name.schema,
            "table_name": proven.name.table,
            "location": proven.location,
            "state": LIVE if is_live else DROPPED,
            "created_ms": proven.created_ms,
            "dropped_ms": dropped_ms,
            "latest": proven.version,
            "published": proven.version,
            "latest_timestamp": proven.timestamp,
            "latest_change": proven.version,
            "described_by": _BEFORE_ALL,
            "domains_by": _BEFORE_ALL,
            "expires_ms": None,
            "revision": proven.revision,
            "shares_log": int(proven.shares_log),
        }
        if is_known:
            mine = commit_store.tables.c.table_id == proven.table_id
            db.execute(update(commit_store.tables).where(mine).values(values))
        else:
            db.execute(insert(commit_store.tables), {"table_id": proven.table_id, **values})

    def latest(self, table_id: TableId) -> Version | None:
        """The latest version of a live table; None if others may publish versions of it at any time."""
        with self.database.reading() as db:
            known = commit_store.find_head(db, table_id)
        if known is None or known.head.shares_log or known.head.frozen:
            return None
        return known.head.latest

    def rename(self, copied: CopiedTable) -> bool:
        """Give a table the name and the state it had in a later copy of the directory; whether it has now."""
        table_id, name = TableId(copied.table_id), TableName(copied.schema, copied.table)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            commit_store.lock_table(db, table_id)
            row = name_store.find_row(db, table_id)
            if row is None or row.state not in (LIVE, DROPPED):
                return False
            if row.revision >= copied.revision:  # another recovery gave it the name, or somebody a later one
                had = (row.schema_name, row.table_name, row.state)
                return had == (name.schema, name.table, copied.state)
            taken = name_store.find_table(db, name)
            if copied.state == LIVE and taken is not None and taken.table_id != table_id:
                return False
            db.execute(
                update(commit_store.tables)
                .where(commit_store.tables.c.table_id == table_id)
                .values(
                    schema_name=name.schema,
                    table_name=name.table,
                    state=copied.state,
                    dropped_ms=copied.dropped_ms,
                    revision=copied.revision,
                )
            )
            details = {"code": RECOVERED_CODE, "message": f"it is {copied.state} as {name}, as it was before"}
            event_store.record_event(
                db, NewEvent(EventKind.INCIDENT, table_id, details=details), now_ms=self.world.now_ms()
            )
        return True
