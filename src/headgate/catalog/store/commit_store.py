"""The catalog's tables and the queries over them; every function runs inside the caller's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    case,
    func,
    insert,
    literal_column,
    null,
    select,
    text,
    update,
)

from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, StagedCommit, TableId, TableState
from headgate.catalog.ports.directory_copy import LIVE
from headgate.catalog.ports.recovery import StoredCommit
from headgate.protocol.actions import Commit, EpochMillis, Metadata, Protocol, TxnId, Version

metadata = MetaData()

schemas = Table(
    "schemas",
    metadata,
    Column("name", String, primary_key=True),
    Column("created_ms", BigInteger, nullable=False),
)

tables = Table(
    "tables",
    metadata,
    Column("table_id", String, primary_key=True),
    Column("schema_name", String, ForeignKey("schemas.name"), nullable=False),
    Column("table_name", String, nullable=False),
    Column("location", String, nullable=False, unique=True),
    Column("state", String, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("dropped_ms", BigInteger),
    Column("latest", BigInteger, nullable=False),
    Column("published", BigInteger, nullable=False),
    Column("latest_timestamp", BigInteger, nullable=False),
    Column("latest_change", BigInteger, nullable=False),
    Column("protocol", String),
    Column("metadata", String),
    Column("described_by", BigInteger),
    Column("domains_by", BigInteger),
    Column("expires_ms", BigInteger),
    Column("revision", BigInteger, nullable=False, server_default="0"),
    Column("unpublished_bytes", BigInteger, nullable=False, server_default="0"),
    Column("shares_log", BigInteger, nullable=False, server_default="0"),
    Column("frozen_ms", BigInteger),
    Column("owner", String),
    Index(
        "one_live_table_per_name",
        "schema_name",
        "table_name",
        unique=True,
        sqlite_where=text("state = 'live'"),
        postgresql_where=text("state = 'live'"),
    ),
)

commits = Table(
    "commits",
    metadata,
    Column("table_id", String, ForeignKey("tables.table_id"), primary_key=True),
    Column("version", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("txn_id", String, nullable=False),
    Column("in_commit_timestamp", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("sha256", String, nullable=False),
    Column("file_name", String),
    Column("content", LargeBinary),
    Column("operation", String),
    Column("principal", String),
    UniqueConstraint("table_id", "txn_id", name="one_version_per_transaction"),
    Index("commits_by_moment", "table_id", "in_commit_timestamp"),
    Index("commits_by_transaction", "txn_id"),
)


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A live table: its head, where it is, and the version a transaction asked about already is."""

    head: TableHead
    location: str
    first_ratified_as: Version | None
    ratified_elsewhere: bool = False
    """Whether that transaction is a commit of another table."""
    has_commit_rules: bool = True
    """Whether there are rules of commits that may concern the table."""


_HEAD_OF = select(
    tables.c.latest,
    tables.c.published,
    tables.c.latest_timestamp,
    tables.c.latest_change,
    tables.c.frozen_ms,
    tables.c.unpublished_bytes,
    tables.c.shares_log,
    tables.c.location,
    select(commits.c.version)
    .where(commits.c.table_id == tables.c.table_id, commits.c.txn_id == bindparam("txn"))
    .scalar_subquery()
    .label("first_ratified_as"),
    select(commits.c.table_id)
    .where(commits.c.txn_id == bindparam("txn"), commits.c.table_id != tables.c.table_id)
    .limit(1)
    .scalar_subquery()
    .label("elsewhere"),
    literal_column("EXISTS (SELECT 1 FROM commit_rules)").label("has_commit_rules"),
).where(tables.c.table_id == bindparam("id"), tables.c.state == LIVE)

_HEAD = PreparedStatement(_HEAD_OF)
_LOCK_TABLE = select(tables.c.table_id).where(tables.c.table_id == bindparam("id")).with_for_update()
_VERSIONS = select(commits.c.txn_id, commits.c.version).where(
    commits.c.table_id == bindparam("id"), commits.c.txn_id.in_(bindparam("txns", expanding=True))
)
_COMMITS = (
    select(
        commits.c.version,
        commits.c.txn_id,
        commits.c.in_commit_timestamp,
        commits.c.file_name,
        commits.c.content,
        commits.c.sha256,
    )
    .where(commits.c.table_id == bindparam("id"), commits.c.version >= bindparam("start"))
    .order_by(commits.c.version)
)
_DIGESTS = (
    select(commits.c.version, commits.c.sha256)
    .where(
        commits.c.table_id == bindparam("id"),
        commits.c.version > bindparam("after"),
        commits.c.version <= bindparam("upto"),
    )
    .order_by(commits.c.version)
)
_PROTOCOL_AND_METADATA = select(
    tables.c.latest_change, tables.c.described_by, tables.c.protocol, tables.c.metadata
).where(tables.c.table_id == bindparam("id"))
_INSERT_COMMIT = PreparedStatement(insert(commits))
_ADVANCE = PreparedStatement(
    update(tables)
    .where(tables.c.table_id == bindparam("id"))
    .values(
        latest=bindparam("new_latest"),
        latest_timestamp=bindparam("new_timestamp"),
        latest_change=bindparam("new_change"),
        unpublished_bytes=tables.c.unpublished_bytes + bindparam("more_bytes"),
    )
)
_PUBLISH = (
    update(tables)
    .where(tables.c.table_id == bindparam("id"))
    .values(
        published=bindparam("upto"),
        # Counted anew, because a process of an older release does not keep count.
        unpublished_bytes=select(func.coalesce(func.sum(commits.c.size), 0))
        .where(commits.c.table_id == bindparam("id"), commits.c.version > bindparam("upto"))
        .scalar_subquery(),
    )
)
_FORGET = (
    update(commits)
    .where(
        commits.c.table_id == bindparam("id"),
        commits.c.version > bindparam("after"),
        commits.c.version <= bindparam("upto"),
        commits.c.content.is_not(None),
    )
    .values(content=None)
)


_NAMES_LOCK = 0x68656164_6E616D65  # "headname"


def lock_table(db: Connection, table_id: TableId) -> None:
    """Let nobody else decide on the table until the transaction ends; on SQLite nobody can anyway.

    What is known of the table must be asked after this, in another statement: on PostgreSQL one
    that waits still sees the other tables as they were before.
    """
    if db.dialect.name != "sqlite":
        db.execute(_LOCK_TABLE, {"id": table_id})


def lock_names(db: Connection) -> None:
    """Let nobody else make or name schemas and tables until the transaction ends."""
    if db.dialect.name != "sqlite":
        db.execute(select(func.pg_advisory_xact_lock(_NAMES_LOCK)))


def find_head(db: Connection, table_id: TableId, txn_id: TxnId | None = None) -> KnownTable | None:
    """What is known of a live table, and the version ``txn_id`` already is, if any."""
    row = _HEAD.row(db, {"id": table_id, "txn": txn_id})
    if row is None:
        return None
    (
        latest,
        published,
        timestamp,
        change,
        frozen,
        unpublished,
        shares_log,
        location,
        first,
        elsewhere,
        terms,
    ) = row
    head = TableHead(latest, published, timestamp, change, frozen is not None, unpublished, bool(shares_log))
    return KnownTable(head, location, first, elsewhere is not None, bool(terms))


def shared_log_tables(db: Connection, table_ids: Iterable[TableId]) -> tuple[TableId, ...]:
    """Those of the live tables of which others may publish versions."""
    query = select(tables.c.table_id).where(
        tables.c.table_id.in_(list(table_ids)), tables.c.state == LIVE, tables.c.shares_log == 1
    )
    return tuple(TableId(found) for found in db.scalars(query))


@dataclass(frozen=True, slots=True)
class RecentTable:
    """A live table, its place, and how far it has come."""

    table_id: TableId
    name: str
    location: str
    latest: Version


def recently_committed(db: Connection, limit: int) -> tuple[RecentTable, ...]:
    """Those that were committed to last, of the live tables that only the catalog publishes."""
    is_ours = (tables.c.state == LIVE) & (tables.c.shares_log == 0) & tables.c.frozen_ms.is_(None)
    query = select(tables).where(is_ours).order_by(tables.c.latest_timestamp.desc()).limit(limit)
    return tuple(
        RecentTable(row.table_id, f"{row.schema_name}.{row.table_name}", row.location, row.latest)
        for row in db.execute(query)
    )


def commits_from(
    db: Connection, table_id: TableId, start: Version, published: Version
) -> tuple[RatifiedCommit, ...]:
    """The ratified commits from ``start`` to the latest, oldest first."""
    rows = db.execute(_COMMITS, {"id": table_id, "start": start})
    return tuple(_commit(row, published) for row in rows)


def insert_commits(
    db: Connection, table_id: TableId, records: Sequence[StoredCommit], *, latest_change: Version
) -> None:
    """Write down ratified commits, oldest first, and make the last one the latest."""
    for record in records:
        _INSERT_COMMIT.run(db, _values(table_id, record))
    latest = records[-1].commit
    _ADVANCE.run(
        db,
        {
            "id": table_id,
            "new_latest": latest.version,
            "new_timestamp": latest.in_commit_timestamp,
            "new_change": latest_change,
            "more_bytes": sum(record.size for record in records if record.commit.where is not None),
        },
    )


def _values(table_id: TableId, record: StoredCommit) -> dict[str, object]:
    commit = record.commit
    return {
        "table_id": table_id,
        "version": commit.version,
        "txn_id": commit.txn_id,
        "in_commit_timestamp": commit.in_commit_timestamp,
        "size": record.size,
        "sha256": record.sha256,
        "file_name": commit.where.file_name if isinstance(commit.where, StagedCommit) else None,
        "content": commit.where.content if isinstance(commit.where, InlineCommit) else None,
        "operation": record.operation,
        "principal": record.principal,
    }


def versions_of(db: Connection, table_id: TableId, txn_ids: Sequence[TxnId]) -> dict[TxnId, Version]:
    """The versions that these transactions already are, for those that are ratified."""
    rows = db.execute(_VERSIONS, {"id": table_id, "txns": list(txn_ids)})
    return {TxnId(row.txn_id): Version(row.version) for row in rows}


def save_protocol_and_metadata(db: Connection, table_id: TableId, commit: Commit, *, before: Version) -> None:
    """Keep what a commit that changes the table says of it; ``before`` is the last one that did.

    What an older commit said is kept only if it was that one: a process of an older release writes
    commits down without this.
    """
    said = {"protocol": commit.protocol, "metadata": commit.metadata}
    kept = {
        name: case((tables.c.described_by == before, tables.c[name]), else_=null())
        if action is None
        else msgspec.json.encode(action).decode()
        for name, action in said.items()
    }
    db.execute(
        update(tables)
        .where(tables.c.table_id == table_id)
        .values(
            **kept,
            described_by=commit.version,
            domains_by=case((tables.c.domains_by == before, commit.version), else_=null()),
        )
    )


def load_protocol_and_metadata(db: Connection, table_id: TableId) -> TableState | None:
    """What the table is at its latest version, if that is known."""
    row = db.execute(_PROTOCOL_AND_METADATA, {"id": table_id}).one()
    if row.described_by != row.latest_change or row.protocol is None or row.metadata is None:
        return None
    return TableState(
        msgspec.json.decode(row.protocol, type=Protocol), msgspec.json.decode(row.metadata, type=Metadata)
    )


def commit_digests(db: Connection, table_id: TableId, after: Version, upto: Version) -> dict[Version, str]:
    """The SHA-256 of each ratified commit in (after, upto]."""
    rows = db.execute(_DIGESTS, {"id": table_id, "after": after, "upto": upto})
    return {Version(row.version): row.sha256 for row in rows}


def advance_published(db: Connection, table_id: TableId, after: Version, upto: Version) -> None:
    """Raise the published watermark and forget the content below it; the record of each commit stays.

    ``after`` is where the watermark was: what is below it was forgotten when it came there.
    """
    db.execute(_PUBLISH, {"id": table_id, "upto": upto})
    db.execute(_FORGET, {"id": table_id, "after": after, "upto": upto})


def _commit(row: Any, published: Version) -> RatifiedCommit:
    where: InlineCommit | StagedCommit | None = None
    if row.version > published:
        where = StagedCommit(row.file_name) if row.file_name is not None else InlineCommit(row.content)
    return RatifiedCommit(
        Version(row.version), TxnId(row.txn_id), EpochMillis(row.in_commit_timestamp), where, row.sha256
    )
