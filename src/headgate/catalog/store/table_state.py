"""What is a table at its latest version? Kept as its commits are ratified: nobody has to replay them.

Protocol and metadata are in the table's row; metadata domains and application transactions have rows of
their own. They are told only if every commit that can have changed them was written down here: a process
of an older release knows nothing of these rows.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Select,
    String,
    Table,
    bindparam,
    delete,
    exists,
    insert,
    literal,
    or_,
    select,
    union_all,
)

from headgate.catalog.database.prepared_statements import PreparedStatement, is_any_of, list_parameter
from headgate.catalog.ports.access import OWNER, Principal
from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.store import commit_store
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    Commit,
    DomainMetadata,
    Metadata,
    Protocol,
    Version,
)

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


_PROTOCOLS, _METADATA = msgspec.json.Decoder(Protocol), msgspec.json.Decoder(Metadata)
KeyedAction = tuple[int, str]
"""Whether it is a domain or an application transaction, and the action."""

_LONGEST_KEY = 500
_DOMAIN, _TXN = 1, 2


def _select_kind(kind: int, kept: Table) -> Select[tuple[str, int, str]]:
    return select(kept.c.table_id, literal(kind).label("kind"), kept.c.action).where(
        is_any_of(kept.c.table_id, "ids")
    )


_KEYED_ACTIONS = PreparedStatement(
    union_all(_select_kind(_DOMAIN, table_domains), _select_kind(_TXN, app_transactions))
)

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


@dataclass(frozen=True, slots=True)
class StateColumns:
    """What the row of a table says of it, as it is written down."""

    latest_change: Version
    described_by: Version | None
    protocol: str | None
    metadata: str | None
    domains_by: Version | None
    is_keyed: bool
    """Whether domains or application transactions are written down."""

    def state(self, keyed: Iterable[KeyedAction]) -> TableState | None:
        """What the table is at its latest version, as far as that is known."""
        if self.described_by != self.latest_change or self.protocol is None or self.metadata is None:
            return None
        domains, txns = None, None
        if self.domains_by == self.latest_change:  # else a commit may have set more than is written down
            domains, txns = _decoded_actions(keyed)
        return TableState(
            _PROTOCOLS.decode(self.protocol),
            _METADATA.decode(self.metadata),
            domains,
            txns,
            since=self.described_by,
        )


STATE_COLUMNS: tuple[ColumnElement[Any], ...] = (
    commit_store.tables.c.latest_change,
    commit_store.tables.c.described_by,
    commit_store.tables.c.protocol,
    commit_store.tables.c.metadata,
    commit_store.tables.c.domains_by,
    or_(
        *(
            exists().where(kept.c.table_id == commit_store.tables.c.table_id).correlate(commit_store.tables)
            for kept in (table_domains, app_transactions)
        )
    ).label("is_keyed"),
)
"""The columns of ``StateColumns``, of the row of a table."""

_STATE = PreparedStatement(select(*STATE_COLUMNS).where(commit_store.tables.c.table_id == bindparam("id")))


def load_table_state(db: Connection, table_id: TableId) -> TableState | None:
    """What the table is at its latest version, as far as that is known."""
    row = _STATE.row(db, {"id": table_id})
    if row is None:
        return None
    found = StateColumns(*row)
    return found.state(load_keyed_actions(db, (table_id,))[table_id] if found.is_keyed else ())


def load_keyed_actions(
    db: Connection, table_ids: Sequence[TableId]
) -> Mapping[TableId, Sequence[KeyedAction]]:
    """The domains and application transactions that are written down of tables."""
    found: dict[TableId, list[KeyedAction]] = {table_id: [] for table_id in table_ids}
    for table_id, kind, action in _KEYED_ACTIONS.rows(db, {"ids": list_parameter(db, table_ids)}):
        found[table_id].append((kind, action))
    return found


def _decoded_actions(
    keyed: Iterable[KeyedAction],
) -> tuple[dict[str, DomainMetadata], dict[str, AppTransaction]]:
    domains: dict[str, DomainMetadata] = {}
    txns: dict[str, AppTransaction] = {}
    for kind, action in keyed:
        if kind == _DOMAIN:
            domain = msgspec.json.decode(action, type=DomainMetadata)
            domains[domain.domain] = domain
        else:
            txn = msgspec.json.decode(action, type=AppTransaction)
            txns[txn.app_id] = txn
    return domains, txns


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
