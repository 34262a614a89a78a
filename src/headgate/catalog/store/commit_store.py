"""The catalog's tables and the queries over them; every function runs inside the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
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
    literal_column,
    null,
    select,
    text,
    update,
)

from headgate.catalog.database.prepared_statements import PreparedStatement, is_any_of, list_parameter
from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, StagedCommit, TableId
from headgate.catalog.ports.directory_copy import LIVE
from headgate.protocol.actions import Commit, EpochMillis, TxnId, Version

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


HEAD_COLUMNS = (
    tables.c.latest,
    tables.c.published,
    tables.c.latest_timestamp,
    tables.c.latest_change,
    tables.c.frozen_ms,
    tables.c.unpublished_bytes,
    tables.c.shares_log,
)

_HEAD_OF = select(
    *HEAD_COLUMNS,
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
_HEADS = PreparedStatement(
    select(
        tables.c.table_id,
        *HEAD_COLUMNS,
        tables.c.location,
        literal_column("EXISTS (SELECT 1 FROM commit_rules)").label("has_commit_rules"),
    ).where(is_any_of(tables.c.table_id, "ids"), tables.c.state == LIVE)
)
_RATIFIED_AS = PreparedStatement(
    select(commits.c.txn_id, commits.c.table_id, commits.c.version).where(is_any_of(commits.c.txn_id, "txns"))
)
_COMMIT_COLUMNS = (
    commits.c.version,
    commits.c.txn_id,
    commits.c.in_commit_timestamp,
    commits.c.file_name,
    commits.c.content,
    commits.c.sha256,
)
_COMMITS = PreparedStatement(
    select(*_COMMIT_COLUMNS)
    .where(commits.c.table_id == bindparam("id"), commits.c.version >= bindparam("start"))
    .order_by(commits.c.version)
)
_UNPUBLISHED = PreparedStatement(
    select(commits.c.table_id, *_COMMIT_COLUMNS)
    .join(tables, tables.c.table_id == commits.c.table_id)
    .where(is_any_of(commits.c.table_id, "ids"), commits.c.version > tables.c.published)
    .order_by(commits.c.table_id, commits.c.version)
)
_DIGESTS = PreparedStatement(
    select(commits.c.version, commits.c.sha256)
    .where(
        commits.c.table_id == bindparam("id"),
        commits.c.version > bindparam("after"),
        commits.c.version <= bindparam("upto"),
    )
    .order_by(commits.c.version)
)
_STAMP = PreparedStatement(
    select(commits.c.txn_id, commits.c.in_commit_timestamp).where(
        commits.c.table_id == bindparam("id"), commits.c.version == bindparam("version")
    )
)
_PUBLISH = PreparedStatement(
    update(tables)
    .where(
        tables.c.table_id == bindparam("id"), tables.c.state == LIVE, tables.c.published < bindparam("upto")
    )
    .values(
        published=bindparam("upto"),
        # Counted anew, because a process of an older release does not keep count.
        unpublished_bytes=select(func.coalesce(func.sum(commits.c.size), 0))
        .where(commits.c.table_id == bindparam("id"), commits.c.version > bindparam("upto"))
        .scalar_subquery(),
    )
)
_FORGET = PreparedStatement(
    update(commits)
    .where(
        commits.c.table_id == bindparam("id"),
        commits.c.version > bindparam("after"),
        commits.c.version <= bindparam("upto"),
        commits.c.content.is_not(None),
        select(tables.c.table_id)
        .where(tables.c.table_id == bindparam("id"), tables.c.published >= bindparam("upto"))
        .exists(),
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
    *head, location, first, elsewhere, terms = row
    return KnownTable(read_head(*head), location, first, elsewhere is not None, bool(terms))


def find_heads(db: Connection, txn_ids: Mapping[TableId, TxnId | None]) -> dict[TableId, KnownTable]:
    """What is known of those of these tables that are live, each with the version its transaction already is.

    As ``find_head`` tells of each of them, but in one question for all.
    """
    if len(txn_ids) == 1:
        found = {table_id: find_head(db, table_id, txn_id) for table_id, txn_id in txn_ids.items()}
        return {table_id: known for table_id, known in found.items() if known is not None}
    versions: dict[TxnId, dict[TableId, Version]] = {}
    wanted = [txn_id for txn_id in txn_ids.values() if txn_id is not None]
    for txn_id, table_id, version in (
        _RATIFIED_AS.rows(db, {"txns": list_parameter(db, wanted)}) if wanted else ()
    ):
        versions.setdefault(txn_id, {})[table_id] = version
    heads: dict[TableId, KnownTable] = {}
    for table_id, *head, location, terms in (
        _HEADS.rows(db, {"ids": list_parameter(db, txn_ids)}) if txn_ids else ()
    ):
        known = versions.get(txn_ids[table_id] or TxnId(""), {})
        elsewhere = bool(known.keys() - {table_id})
        heads[table_id] = KnownTable(read_head(*head), location, known.get(table_id), elsewhere, bool(terms))
    return heads


def read_head(  # noqa: PLR0913, PLR0917 — a value for each of HEAD_COLUMNS
    latest: int,
    published: int,
    timestamp: int,
    change: int,
    frozen_ms: int | None,
    unpublished: int,
    shares_log: int,
) -> TableHead:
    """The head that HEAD_COLUMNS are."""
    return TableHead(
        Version(latest),
        Version(published),
        EpochMillis(timestamp),
        Version(change),
        frozen_ms is not None,
        unpublished,
        bool(shares_log),
    )


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
    rows = _COMMITS.rows(db, {"id": table_id, "start": start})
    return tuple(_commit(row, published) for row in rows)


def unpublished_commits(db: Connection, table_ids: Sequence[TableId]) -> dict[TableId, list[RatifiedCommit]]:
    """The ratified commits of these tables that are not published, oldest first."""
    found: dict[TableId, list[RatifiedCommit]] = {table_id: [] for table_id in table_ids}
    if table_ids:
        for table_id, *row in _UNPUBLISHED.rows(db, {"ids": list_parameter(db, table_ids)}):
            found[table_id].append(_commit(row, Version(-1)))
    return found


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


def commit_digests(db: Connection, table_id: TableId, after: Version, upto: Version) -> dict[Version, str]:
    """The SHA-256 of each ratified commit in (after, upto]."""
    rows = _DIGESTS.rows(db, {"id": table_id, "after": after, "upto": upto})
    return {Version(version): digest for version, digest in rows}


def commit_stamp(db: Connection, table_id: TableId, version: Version) -> tuple[TxnId, EpochMillis] | None:
    """The transaction that a ratified version is, and its in-commit timestamp."""
    row = _STAMP.row(db, {"id": table_id, "version": version})
    return None if row is None else (TxnId(row[0]), EpochMillis(row[1]))


def advance_published(db: Connection, table_id: TableId, after: Version, upto: Version) -> None:
    """Raise the published watermark of a live table, if it is lower, and forget the content below it.

    The record of each commit stays. ``after`` is where the watermark was: what is below it was forgotten when
    it came there.
    """
    _PUBLISH.run(db, {"id": table_id, "upto": upto})
    _FORGET.run(db, {"id": table_id, "after": after, "upto": upto})


def _commit(row: Sequence[Any], published: Version) -> RatifiedCommit:
    version, txn_id, timestamp, file_name, content, sha256 = row
    where: InlineCommit | StagedCommit | None = None
    if version > published:
        where = StagedCommit(file_name) if file_name is not None else InlineCommit(content)
    return RatifiedCommit(Version(version), TxnId(txn_id), EpochMillis(timestamp), where, sha256)
