"""Which streams wrote to which tables, and how far did they come? By the transactions in their logs.

With each batch a stream writes its own id and the number of the batch (``txn``), by which a batch that is
repeated is known and left out. The log keeps the last number of each.
"""

from collections.abc import Iterator

import msgspec

from headgate.cli import console
from headgate.cli.folder import OpenedLake
from headgate.errors import CorruptLog, InvalidRequest, StorageError, UserError
from headgate.table.read.history import HistoryEntry

_QUERY, _EPOCH = "queryId", "epochId"
_UNKNOWN_STREAM = "HEADGATE_STREAM_NOT_FOUND"


class StreamWriter(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How far one stream came in one table. Keys are never renamed, only added to."""

    table: str
    stream: str
    """The id of the query, or of the application that numbers its writes."""
    last_batch: int
    last_updated: str | None


class StreamCommit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A version that a stream wrote."""

    version: int
    timestamp: str
    batch: int | None
    operation: str | None
    rows: int | None


class WriterDetail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One stream in one table, with its latest versions, the newest first."""

    writer: StreamWriter
    commits: tuple[StreamCommit, ...]


def list_writers(opened: OpenedLake, table: str | None) -> tuple[StreamWriter, ...]:
    """The streams of one table, or of every table that can be read."""
    if table is not None:
        return tuple(_writers(opened, table))
    found: list[StreamWriter] = []
    for entry in opened.lake.tables():
        try:
            found += _writers(opened, str(entry.name))
        except (CorruptLog, StorageError, UserError):  # it does not hide the others
            continue
    return tuple(found)


def show_writer(opened: OpenedLake, stream: str, *, limit: int) -> tuple[WriterDetail, ...]:
    """Where a stream writes, and the versions among the last of each table that say they are of it."""
    mine = [writer for writer in list_writers(opened, None) if writer.stream == stream]
    if not mine:
        raise InvalidRequest(
            f"no table has a batch of a stream {stream!r}: headgate stream list lists them",
            code=_UNKNOWN_STREAM,
        )
    return tuple(
        WriterDetail(writer=writer, commits=tuple(_commits(opened, writer, limit))) for writer in mine
    )


def _writers(opened: OpenedLake, table: str) -> Iterator[StreamWriter]:
    txns = opened.lake.table(table).log.snapshot().state.txns
    for txn in sorted(txns.values(), key=lambda txn: txn.app_id):
        moment = txn.last_updated
        yield StreamWriter(
            table=table,
            stream=txn.app_id,
            last_batch=txn.version,
            last_updated=None if moment is None else console.format_iso(moment),
        )


def _commits(opened: OpenedLake, writer: StreamWriter, limit: int) -> Iterator[StreamCommit]:
    for entry in opened.lake.table(writer.table).log.history(limit=limit):
        said = entry.info.operation_parameters or {}
        if said.get(_QUERY) == writer.stream:
            yield StreamCommit(
                version=entry.version,
                timestamp=console.format_iso(entry.timestamp),
                batch=_number(said.get(_EPOCH)),
                operation=entry.info.operation,
                rows=_rows(entry),
            )


def _rows(entry: HistoryEntry) -> int | None:
    return _number((entry.info.operation_metrics or {}).get("numOutputRows"))


def _number(said: object) -> int | None:
    text = str(said)
    return int(text) if text.isdecimal() else None
