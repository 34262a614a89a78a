"""What the commands say about a table, as values that print as text or as JSON."""

from headgate.catalog.ports.commits import InlineCommit, StagedCommit, Tail
from headgate.catalog.ports.directory import TableEntry
from headgate.cli import console
from headgate.cli.answers.tables import (
    CatalogView,
    ColumnSummary,
    TableDetail,
    TableSummary,
    VersionSummary,
)
from headgate.cli.folder import OpenedLake
from headgate.errors import CorruptLog, StorageError, UserError
from headgate.progress import reporting
from headgate.protocol.actions import Protocol
from headgate.protocol.metadata import type_ddl
from headgate.protocol.schema import json as schema_json
from headgate.protocol.stats import file_stats
from headgate.table.read.history import HistoryEntry
from headgate.table.read.snapshot import Snapshot


def summarize_tables(opened: OpenedLake, schema: str | None = None) -> tuple[TableSummary, ...]:
    """Every table of the lake, or of one schema; one that cannot be read does not hide the others."""
    with reporting.tracked("read tables", opened.lake.tables(schema)) as each:
        return tuple(summarize_table(opened, entry) for entry in each)


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
    places = commit_places(opened, name)
    return tuple(_summarize_version(entry, places.get(entry.version, "published")) for entry in entries)


def commit_places(opened: OpenedLake, name: str) -> dict[int, str]:
    """Where the commits are that are not published yet: with the catalog, or in a staged file."""
    tail = opened.catalog.tail(find_entry(opened, name).table_id)
    return {commit.version: commit_place(commit.where) for commit in tail.commits}


def find_entry(opened: OpenedLake, name: str) -> TableEntry:
    """The directory's entry of a table."""
    location = opened.lake.table(name).location
    return next(entry for entry in opened.lake.tables() if entry.location == location)


def summarize_tail(tail: Tail) -> CatalogView:
    """The tail in four numbers."""
    places = [commit_place(commit.where) for commit in tail.commits]
    return CatalogView(
        ratified=tail.latest,
        published=tail.published,
        inline=places.count("inline"),
        staged=places.count("staged"),
    )


def commit_place(where: InlineCommit | StagedCommit | None) -> str:
    """Where a commit is: with the catalog, in a staged file, or published."""
    match where:
        case InlineCommit():
            return "inline"
        case StagedCommit():
            return "staged"
        case None:
            return "published"


def count_rows(snapshot: Snapshot) -> int | None:
    """How many rows a version has; None if a file does not say how many are in it."""
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
        num_rows=count_rows(snapshot),
        catalog=summarize_tail(tail),
    )


def _columns(schema_string: str) -> tuple[ColumnSummary, ...]:
    return tuple(
        ColumnSummary(
            name=column.name,
            type=type_ddl.sql_text(column.type),
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
