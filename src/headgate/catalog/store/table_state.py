"""What is a table at its latest version? Kept as its commits are ratified: nobody has to replay them.

Protocol and metadata are in the table's row; metadata domains and application transactions have rows of
their own. They are told only if every commit that can have changed them was written down here: a process
of an older release knows nothing of these rows.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    CompoundSelect,
    Connection,
    ForeignKey,
    Select,
    String,
    Table,
    bindparam,
    cast,
    delete,
    insert,
    literal,
    null,
    select,
    union_all,
)

from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.store import commit_store
from headgate.protocol.actions import Action, AppTransaction, Commit, DomainMetadata, Version

ActionT = TypeVar("ActionT", bound=Action)


def _keyed_actions_table(name: str) -> Table:
    return Table(
        name,
        commit_store.metadata,
        Column("table_id", String, ForeignKey("tables.table_id"), primary_key=True),
        Column("name", String, primary_key=True),
        Column("action", String, nullable=False),
        Column("version", BigInteger, nullable=False),
    )


table_domains = _keyed_actions_table("table_domains")
app_transactions = _keyed_actions_table("app_transactions")


_LONGEST_KEY = 500
_COMPLETE, _DOMAIN, _TXN = 0, 1, 2
_ALL_KNOWN = (commit_store.tables.c.table_id == bindparam("id")) & (
    commit_store.tables.c.domains_by == commit_store.tables.c.latest_change
)


def _select_kind(kind: int, kept: Table) -> Select[tuple[int, str]]:
    joined = kept.join(commit_store.tables, kept.c.table_id == commit_store.tables.c.table_id)
    return select(literal(kind).label("kind"), kept.c.action).select_from(joined).where(_ALL_KNOWN)


_KEYED_ACTIONS: CompoundSelect[Any] = union_all(
    select(literal(_COMPLETE).label("kind"), cast(null(), String).label("action")).where(_ALL_KNOWN),
    _select_kind(_DOMAIN, table_domains),
    _select_kind(_TXN, app_transactions),
)
"""Domains and application transactions in one go, after a row that says that these are all; or nothing."""


_LAST_TO_SET = (
    select(commit_store.commits.c.principal)
    .select_from(app_transactions)
    .outerjoin(
        commit_store.commits,
        (app_transactions.c.table_id == commit_store.commits.c.table_id)
        & (app_transactions.c.version == commit_store.commits.c.version),
    )
    .where(app_transactions.c.table_id == bindparam("id"), app_transactions.c.name == bindparam("name"))
)


def save_table_state(db: Connection, table_id: TableId, commit: Commit, *, before: Version) -> None:
    """Keep what a commit that changes the table says of it; ``before`` is the last one that did."""
    commit_store.save_protocol_and_metadata(db, table_id, commit, before=before)
    if commit.domains:
        gone = [action.domain for action in commit.domains]
        live = {action.domain: action for action in commit.domains if not action.removed}
        _replace(db, table_domains, (table_id, commit.version), gone, live)
    if commit.txns:
        latest = {action.app_id: action for action in commit.txns}
        _replace(db, app_transactions, (table_id, commit.version), list(latest), latest)


def load_table_state(db: Connection, table_id: TableId) -> TableState | None:
    """What the table is at its latest version, as far as that is known."""
    found = commit_store.load_protocol_and_metadata(db, table_id)
    if found is None:
        return None
    rows = db.execute(_KEYED_ACTIONS, {"id": table_id}).all()
    if not rows:  # not even the one that says that all is known
        return found
    domains = [msgspec.json.decode(row.action, type=DomainMetadata) for row in rows if row.kind == _DOMAIN]
    txns = [msgspec.json.decode(row.action, type=AppTransaction) for row in rows if row.kind == _TXN]
    return replace(
        found,
        domains={action.domain: action for action in domains},
        txns={action.app_id: action for action in txns},
    )


def last_app_principal(db: Connection, table_id: TableId, app_id: str) -> Principal | None:
    """For whom the last transaction of an application was ratified; None if none is written down."""
    row = db.execute(_LAST_TO_SET, {"id": table_id, "name": _key(app_id)}).one_or_none()
    return None if row is None else Principal(row.principal or OWNER)


def _replace(
    db: Connection,
    kept: Table,
    said_by: tuple[TableId, Version],
    names: Sequence[str],
    actions: dict[str, ActionT],
) -> None:
    table_id, version = said_by
    db.execute(delete(kept).where(kept.c.table_id == table_id, kept.c.name.in_(map(_key, names))))
    if actions:
        rows = [
            {"table_id": table_id, "name": _key(name), "action": _encoded(action), "version": version}
            for name, action in actions.items()
        ]
        db.execute(insert(kept), rows)


def _key(name: str) -> str:
    """The name itself, unless it is more than an index can hold."""
    if len(name) <= _LONGEST_KEY and "\0" not in name:
        return name
    return "sha256:" + hashlib.sha256(name.encode()).hexdigest()


def _encoded(action: Action) -> str:
    return msgspec.json.encode(action).decode()
