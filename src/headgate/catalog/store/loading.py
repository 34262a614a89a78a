"""What does a reader need to open a table? All of it in one transaction, so in one call."""

from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    LargeBinary,
    Select,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
)

from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.serving import ChecksumContent, CommitRecord, LogHints
from headgate.catalog.store import commit_store, table_state
from headgate.catalog.store.commit_store import commits
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log.file_names import LogFile

log_hints = Table(
    "log_hints",
    commit_store.metadata,
    Column("table_id", String, ForeignKey("tables.table_id"), primary_key=True),
    Column("checkpoint_version", BigInteger),
    Column("checkpoint_files", String),
    Column("checksum_version", BigInteger),
    Column("checksum", LargeBinary),
    Column("checksum_of", BigInteger),
)

_HINTS = select(
    log_hints.c.checkpoint_files,
    log_hints.c.checksum_version,
    log_hints.c.checksum,
    log_hints.c.checksum_of,
).where(log_hints.c.table_id == bindparam("id"))
NO_HINTS = LogHints()


def load_tail(db: Connection, table_id: TableId, head: TableHead) -> Tail:
    """The latest version of a live table, and every ratified commit that is not yet published."""
    unpublished = commit_store.commits_from(db, table_id, Version(head.published + 1), head.published)
    return Tail(head.latest, head.published, unpublished, table_state.load_table_state(db, table_id))


def load_log_hints(db: Connection, table_id: TableId) -> LogHints:
    """What was made known of the log besides commits."""
    row = db.execute(_HINTS, {"id": table_id}).one_or_none()
    if row is None:
        return NO_HINTS
    files = msgspec.json.decode(row.checkpoint_files or "[]", type=tuple[LogFile, ...])
    content = None if row.checksum is None else ChecksumContent(Version(row.checksum_of), row.checksum)
    return LogHints(files, row.checksum_version, content)


def save_log_hints(db: Connection, table_id: TableId, heard: LogHints) -> None:
    """Write down what is news: of two checkpoints the newer one, and so of checksums and their content."""
    known = load_log_hints(db, table_id)
    checkpoint = max(known.checkpoint, heard.checkpoint, key=_checkpoint_version)
    checksums = [version for version in (known.checksum, heard.checksum) if version is not None]
    contents = [content for content in (heard.content, known.content) if content is not None]
    content = max(contents, key=lambda each: each.version, default=None)
    db.execute(delete(log_hints).where(log_hints.c.table_id == table_id))
    db.execute(
        insert(log_hints),
        {
            "table_id": table_id,
            "checkpoint_version": checkpoint[0].version if checkpoint else None,
            "checkpoint_files": msgspec.json.encode(checkpoint).decode(),
            "checksum_version": max(checksums, default=None),
            "checksum": None if content is None else content.content,
            "checksum_of": None if content is None else content.version,
        },
    )


def version_at(db: Connection, table_id: TableId, head: TableHead, moment: EpochMillis) -> Version | None:
    """The last version committed at or before ``moment``, if the catalog saw it and all after it."""
    if moment > head.latest_timestamp:
        return None
    query = _where_table(table_id, select(func.max(commits.c.version))).where(
        commits.c.in_commit_timestamp <= moment
    )
    found = db.scalar(query)
    return None if found is None else Version(found)


def load_commit_records(
    db: Connection, table_id: TableId, *, before: Version | None, limit: int
) -> tuple[CommitRecord, ...]:
    """What is remembered of commits, the latest first."""
    c = commits.c
    query = _where_table(
        table_id, select(c.version, c.txn_id, c.in_commit_timestamp, c.size, c.sha256, c.principal)
    )
    if before is not None:
        query = query.where(c.version < before)
    rows = db.execute(query.order_by(c.version.desc()).limit(limit))
    return tuple(
        CommitRecord(
            Version(row.version),
            TxnId(row.txn_id),
            EpochMillis(row.in_commit_timestamp),
            row.size,
            row.sha256,
            row.principal,
        )
        for row in rows
    )


def _where_table(table_id: TableId, query: Select[Any]) -> Select[Any]:
    return query.where(commits.c.table_id == table_id)


def _checkpoint_version(files: tuple[LogFile, ...]) -> int:
    return files[0].version if files else -1
