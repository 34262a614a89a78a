"""What the commands say about a table, as values that print as text or as JSON."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.catalog.ports.commits import InlineCommit, StagedCommit, Tail
from headgate.catalog.ports.directory import TableEntry
from headgate.cli import console
from headgate.cli.folder import OpenedLake
from headgate.errors import CorruptLog, StorageError, UserError
from headgate.protocol.actions import Protocol
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import describe_type
from headgate.protocol.stats import file_stats
from headgate.table.read.history import HistoryEntry
from headgate.table.read.snapshot import Snapshot


class _Summary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are Delta's own where Delta has one; they are never renamed, only added to."""


class CatalogView(_Summary, frozen=True, kw_only=True):
    """How far the catalog ratified a table, and where the commits are that are not published yet."""

    ratified: int
    published: int
    inline: int
    staged: int


class TableSummary(_Summary, frozen=True, kw_only=True):
    """One table, in a line."""

    name: str
    id: str
    location: str
    version: int
    last_modified: str | None = None
    num_files: int | None = None
    size_in_bytes: int | None = None
    num_rows: int | None = None
    catalog: CatalogView
    problem: str | None = None
    """Why its log cannot be read, if it cannot."""


class ColumnSummary(_Summary, frozen=True, kw_only=True):
    """One column of a table."""

    name: str
    type: str
    nullable: bool
    comment: str | None


class TableDetail(_Summary, frozen=True, kw_only=True):
    """One table, in full."""

    table: TableSummary
    created_at: str
    description: str | None
    columns: tuple[ColumnSummary, ...]
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str]
    domains: Mapping[str, str]
    min_reader_version: int
    min_writer_version: int
    table_features: tuple[str, ...]
    sample: tuple[msgspec.Raw, ...] | None = None


class VersionSummary(_Summary, frozen=True, kw_only=True):
    """One version of a table's history."""

    version: int
    timestamp: str
    operation: str | None
    operation_parameters: Mapping[str, Any]  # other writers put any JSON here
    operation_metrics: Mapping[str, Any]
    is_blind_append: bool | None
    user_name: str | None
    user_metadata: str | None
    engine_info: str | None
    txn_id: str | None
    commit: str


def summarize_tables(opened: OpenedLake, schema: str | None = None) -> tuple[TableSummary, ...]:
    """Every table of the lake, or of one schema; one that cannot be read does not hide the others."""
    return tuple(summarize_table(opened, entry) for entry in opened.lake.tables(schema))


def summarize_table(opened: OpenedLake, entry: TableEntry) -> TableSummary:
    """One table as it is now."""
    tail = opened.catalog.tail(entry.table_id)
    try:
        snapshot = opened.lake.table(str(entry.name)).log.snapshot()
    except (CorruptLog, StorageError, UserError) as exc:
        return TableSummary(
            name=str(entry.name),
            id=entry.table_id,
            location=entry.location,
            version=tail.latest,
            catalog=summarize_tail(tail),
            problem=str(exc),
        )
    return _summarize_snapshot(entry, snapshot, tail)


def describe_table(opened: OpenedLake, name: str) -> TableDetail:
    """Everything about one table that its log and the catalog know."""
    entry = find_entry(opened, name)
    snapshot = opened.lake.table(name).log.snapshot()
    metadata, protocol = snapshot.state.metadata, snapshot.state.protocol
    return TableDetail(
        table=_summarize_snapshot(entry, snapshot, opened.catalog.tail(entry.table_id)),
        created_at=console.format_iso(entry.created_ms),
        description=metadata.description,
        columns=_columns(metadata.schema_string),
        partition_columns=metadata.partition_columns,
        properties=metadata.configuration,
        domains={name: domain.configuration for name, domain in snapshot.state.domains.items()},
        min_reader_version=protocol.min_reader_version,
        min_writer_version=protocol.min_writer_version,
        table_features=_features(protocol),
    )


def summarize_history(
    opened: OpenedLake, name: str, *, limit: int | None = None
) -> tuple[VersionSummary, ...]:
    """The versions of a table, newest first."""
    entries = opened.lake.table(name).log.history(limit=limit)
    tail = opened.catalog.tail(find_entry(opened, name).table_id)
    places = {commit.version: _commit_place(commit.where) for commit in tail.commits}
    return tuple(_summarize_version(entry, places.get(entry.version, "published")) for entry in entries)


def find_entry(opened: OpenedLake, name: str) -> TableEntry:
    """The directory's entry of a table."""
    location = opened.lake.table(name).location
    return next(entry for entry in opened.lake.tables() if entry.location == location)


def summarize_tail(tail: Tail) -> CatalogView:
    """The tail in four numbers."""
    places = [_commit_place(commit.where) for commit in tail.commits]
    return CatalogView(
        ratified=tail.latest,
        published=tail.published,
        inline=places.count("inline"),
        staged=places.count("staged"),
    )


def _commit_place(where: InlineCommit | StagedCommit | None) -> str:
    match where:
        case InlineCommit():
            return "inline"
        case StagedCommit():
            return "staged"
        case None:
            return "published"


def _summarize_snapshot(entry: TableEntry, snapshot: Snapshot, tail: Tail) -> TableSummary:
    files = snapshot.files.columns
    stamp = snapshot.state.in_commit_timestamp
    return TableSummary(
        name=str(entry.name),
        id=entry.table_id,
        location=entry.location,
        version=snapshot.version,
        last_modified=None if stamp is None else console.format_iso(stamp),
        num_files=files.num_rows,
        size_in_bytes=sum(files["size"].to_pylist()),
        num_rows=_rows(snapshot),
        catalog=summarize_tail(tail),
    )


def _rows(snapshot: Snapshot) -> int | None:
    files = snapshot.files.columns
    total = 0
    for text, vector in zip(
        files["stats"].to_pylist(), files["deletion_vector"].to_pylist(), strict=True
    ):  # fmt: skip
        rows = file_stats.row_count(text)
        if rows is None:
            return None
        total += rows - (vector["cardinality"] if vector else 0)
    return total


def _columns(schema_string: str) -> tuple[ColumnSummary, ...]:
    return tuple(
        ColumnSummary(
            name=column.name,
            type=describe_type(column.type),
            nullable=column.nullable,
            comment=column.metadata.get("comment"),
        )
        for column in schema_json.parse(schema_string).fields
    )


def _features(protocol: Protocol) -> tuple[str, ...]:
    return tuple(sorted({*(protocol.reader_features or ()), *(protocol.writer_features or ())}))


def _summarize_version(entry: HistoryEntry, place: str) -> VersionSummary:
    info = entry.info
    return VersionSummary(
        version=entry.version,
        timestamp=console.format_iso(entry.timestamp),
        operation=info.operation,
        operation_parameters=info.operation_parameters or {},
        operation_metrics=info.operation_metrics or {},
        is_blind_append=info.is_blind_append,
        user_name=info.user_name,
        user_metadata=info.user_metadata,
        engine_info=info.engine_info,
        txn_id=info.txn_id,
        commit=place,
    )
