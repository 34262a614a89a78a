"""What does the catalog tell readers of a log, so that they need not look at it? Hints, and its history."""

from dataclasses import replace
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

from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.catalog.decision import TableHead
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.serving import ChecksumContent, CommitRecord, LogHints
from headgate.catalog.store import commit_store
from headgate.catalog.store.commit_store import commits
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.log import file_names
from headgate.protocol.log.file_names import LogFile, LogFileKind

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

HINT_COLUMNS = (
    log_hints.c.checkpoint_files,
    log_hints.c.checksum_version,
    log_hints.c.checksum,
    log_hints.c.checksum_of,
)
_HINTS = PreparedStatement(select(*HINT_COLUMNS).where(log_hints.c.table_id == bindparam("id")))
_DELETE_HINTS = PreparedStatement(delete(log_hints).where(log_hints.c.table_id == bindparam("id")))
_INSERT_HINTS = PreparedStatement(insert(log_hints))
NO_HINTS = LogHints()


def load_log_hints(db: Connection, table_id: TableId) -> LogHints:
    """What was made known of the log besides commits."""
    row = _HINTS.row(db, {"id": table_id})
    return NO_HINTS if row is None else read_hints(*row)


def read_hints(
    checkpoint: str | None, checksum: int | None, content: bytes | None, content_of: int | None
) -> LogHints:
    """The hints that these columns are."""
    files = msgspec.json.decode(checkpoint or "[]", type=tuple[LogFile, ...])
    told = None if content is None or content_of is None else ChecksumContent(Version(content_of), content)
    return LogHints(files, None if checksum is None else Version(checksum), told)


def credible_hints(heard: LogHints, latest: Version) -> LogHints:
    """What can be true of what somebody tells: readers open the files that it names.

    A file is one of the log, by its name a checkpoint of that version; and no version is beyond the latest,
    or else nothing that is told later would ever be news.
    """
    parsed = [file_names.parse(file.path, size=file.size) for file in heard.checkpoint]
    versions = {file.version for file in heard.checkpoint}
    is_checkpoint = parsed == list(heard.checkpoint) and len(versions) == 1 and max(versions) <= latest
    is_kind = all(file.kind is LogFileKind.CHECKPOINT for file in heard.checkpoint)
    return replace(
        heard,
        checkpoint=heard.checkpoint if is_checkpoint and is_kind else (),
        checksum=heard.checksum if heard.checksum is not None and 0 <= heard.checksum <= latest else None,
    )


def save_log_hints(db: Connection, table_id: TableId, heard: LogHints) -> None:
    """Write down what is news: of two checkpoints the newer one, and so of checksums and their content."""
    known = load_log_hints(db, table_id)
    checkpoint = max(known.checkpoint, heard.checkpoint, key=_checkpoint_version)
    checksums = [version for version in (known.checksum, heard.checksum) if version is not None]
    contents = [content for content in (heard.content, known.content) if content is not None]
    content = max(contents, key=lambda each: each.version, default=None)
    _DELETE_HINTS.run(db, {"id": table_id})
    _INSERT_HINTS.run(
        db,
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
