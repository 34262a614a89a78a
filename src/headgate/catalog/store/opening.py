"""What does a client need to open a table? One statement tells it, and a second what is not published yet.

A table is opened by its name, and brought up to date by its id; several are by one question for all of them.
Only a table with metadata domains or application transactions takes a statement more, for these.

``benchmarks/many_tables.py`` justifies it, where each commit opens its table: seven statements with
SQLAlchemy's work around them took 0.9 ms of CPU, which was more than half of the commit itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from sqlalchemy import Connection, bindparam, select

from headgate.catalog.database.prepared_statements import PreparedStatement, is_any_of, list_parameter
from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import RatifiedCommit, TableId, Tail
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.ports.serving import LogHints
from headgate.catalog.store import commit_store, loading, name_store, table_state, transfer_store
from headgate.catalog.store.commit_store import tables
from headgate.catalog.store.loading import log_hints
from headgate.catalog.store.table_state import KeyedAction, StateColumns
from headgate.protocol.actions import Version

_PARTS = (
    name_store.ENTRY_COLUMNS,
    commit_store.HEAD_COLUMNS,
    table_state.STATE_COLUMNS,
    loading.HINT_COLUMNS,
)
_BOUNDS = tuple(accumulate(map(len, _PARTS), initial=0))
_ENTRY, _HEAD, _STATE, _HINTS = (slice(*bounds) for bounds in pairwise(_BOUNDS))
_BEYOND = _BOUNDS[-1]
"""Where a row has each of the parts, and what only some statements ask for."""
_OPENING = select(*(column for part in _PARTS for column in part)).select_from(
    tables.outerjoin(log_hints, log_hints.c.table_id == tables.c.table_id)
)
_BY_NAME = PreparedStatement(
    _OPENING.add_columns(transfer_store.NAME_IS_CLAIMED.label("claimed")).where(name_store.HAS_NAME)
)
_BY_ID = PreparedStatement(_OPENING.where(tables.c.table_id == bindparam("id"), tables.c.state == LIVE))
_BY_NAMES = PreparedStatement(_OPENING.where(name_store.MAY_HAVE_NAME))
_BY_IDS = PreparedStatement(_OPENING.where(is_any_of(tables.c.table_id, "ids"), tables.c.state == LIVE))


@dataclass(frozen=True, slots=True)
class TableOpening:
    """A live table as its row says, from one statement."""

    entry: TableEntry
    """With its location as the database has it."""
    head: TableHead
    columns: StateColumns
    hints: LogHints
    is_name_claimed: bool = False
    """Whether a table is on its way in that is to have the name, or was."""

    @property
    def is_published(self) -> bool:
        """Whether the catalog holds no commit that the log lacks."""
        return self.head.latest == self.head.published

    def tail(self, unpublished: Sequence[RatifiedCommit], keyed: Iterable[KeyedAction]) -> Tail:
        """The latest version, and the commits that are not published yet."""
        head = self.head
        told = self.columns.state(keyed)
        return Tail(head.latest, head.published, tuple(unpublished), told, head.latest_timestamp or None)


def find_opening(db: Connection, name: TableName) -> TableOpening | None:
    """The live table of that name."""
    row = _BY_NAME.row(db, {"schema": name.schema, "table": name.table})
    return None if row is None else _opening(row)


def find_opening_by_id(db: Connection, table_id: TableId) -> TableOpening | None:
    """The live table of that id."""
    row = _BY_ID.row(db, {"id": table_id})
    return None if row is None else _opening(row)


def load_tail(db: Connection, found: TableOpening) -> Tail:
    """The latest version of a live table, and every ratified commit that is not yet published."""
    table_id, published = found.entry.table_id, found.head.published
    unpublished: Sequence[RatifiedCommit] = ()
    if not found.is_published:
        unpublished = commit_store.commits_from(db, table_id, Version(published + 1), published)
    keyed = table_state.load_keyed_actions(db, (table_id,))[table_id] if found.columns.is_keyed else ()
    return found.tail(unpublished, keyed)


def find_openings(db: Connection, names: Iterable[TableName]) -> dict[TableName, TableOpening]:
    """The live tables of these names, those that there are."""
    wanted = set(names)
    if not wanted:
        return {}
    found = map(_opening, _BY_NAMES.rows(db, name_store.listed_names(db, wanted)))
    return {each.entry.name: each for each in found if each.entry.name in wanted}


def find_openings_by_id(db: Connection, table_ids: Sequence[TableId]) -> list[TableOpening]:
    """The live tables of these ids, those that there are."""
    if not table_ids:
        return []
    return [_opening(row) for row in _BY_IDS.rows(db, {"ids": list_parameter(db, table_ids)})]


def load_tails(db: Connection, openings: Sequence[TableOpening]) -> dict[TableId, Tail]:
    """The latest versions of live tables, and every ratified commit that is not yet published."""
    behind = [found.entry.table_id for found in openings if not found.is_published]
    keyed = [found.entry.table_id for found in openings if found.columns.is_keyed]
    unpublished = commit_store.unpublished_commits(db, behind) if behind else {}
    actions = table_state.load_keyed_actions(db, keyed) if keyed else {}
    return {
        (table_id := found.entry.table_id): found.tail(
            unpublished.get(table_id, ()), actions.get(table_id, ())
        )
        for found in openings
    }


def _opening(row: Sequence[Any]) -> TableOpening:
    values = tuple(row)
    return TableOpening(
        name_store.read_entry(*values[_ENTRY]),
        commit_store.read_head(*values[_HEAD]),
        StateColumns(*values[_STATE]),
        loading.read_hints(*values[_HINTS]),
        is_name_claimed=values[_BEYOND:] == (True,),
    )
