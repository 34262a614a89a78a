"""In which columns does a stream read, version by version? It writes them down, and goes on past a rename.

A stream with a ``schema_tracking_location`` reads each version in the columns that were the table's then. The
first batch writes them down. A version with others ends the batch before it; then the new columns are written
down, and the query stops: started again, it goes on in them. What is written is one file for each change:

    <location>/_headgate_schema_log_<table id>/00000000000000000002.json   {"version":7,"metadata":{…}}

A column that was dropped or renamed, or has another type, changes what a query says; so whoever started it
confirms that, by ``allow_source_column_rename="always"`` or the number of the version.
"""

from dataclasses import dataclass

import msgspec

from headgate.errors import CorruptLog, InvalidRequest, ObjectExists, SchemaMismatch
from headgate.protocol.actions import Metadata, Version
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.stream import schema_changes
from headgate.table.stream.schema_changes import ColumnChange, ReadColumns
from headgate.table.stream.stream_read_settings import StreamReadOptions

_FOLDER = "_headgate_schema_log_"
_DIGITS = 20
ALWAYS = "always"


class TrackedColumns(msgspec.Struct, frozen=True):
    """What one file says: from which version on a stream reads in the columns of this metadata."""

    version: int
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class SchemaLog:
    """The columns of one stream, as it wrote them down."""

    store: Store
    folder: str

    def entries(self) -> tuple[TrackedColumns, ...]:
        """All that was written down, the oldest first."""
        return tuple(
            _decoded(self.store.read(found.path), found.path) for found in self.store.list_from(self.folder)
        )

    def record(self, metadata: Metadata, version: int) -> None:
        """Write down that the stream reads in these columns from a version on, unless that was said last."""
        known = self.entries()
        if known and known[-1].version == version:
            return
        path = f"{self.folder}{len(known):0{_DIGITS}}.json"
        try:
            self.store.put_if_absent(path, msgspec.json.encode(TrackedColumns(version, metadata)))
        except ObjectExists as exc:
            raise InvalidRequest(
                f"another query writes its columns to {self.folder} too: give each query a "
                "schema_tracking_location of its own, or a streaming_source_tracking_id",
                code="DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT",
            ) from exc


def open_log(table_id: str, asked: StreamReadOptions) -> SchemaLog | None:
    """Where a stream of a table writes its columns down; None if it was not told to."""
    if asked.schema_tracking_location is None:
        return None
    mark = "" if asked.streaming_source_tracking_id is None else f"_{asked.streaming_source_tracking_id}"
    return SchemaLog(locate(asked.schema_tracking_location), f"{_FOLDER}{table_id}{mark}/")


def columns_to_read(log: SchemaLog, asked: StreamReadOptions) -> ReadColumns | None:
    """In which columns a query that starts now reads; None if nothing is written down yet."""
    known = log.entries()
    if not known:
        return None
    if len(known) > 1:
        _check_allowed(known[-2], known[-1], asked)
    return ReadColumns(known[-1].metadata, Version(known[-1].version))


def started_again(metadata: Metadata, version: int) -> SchemaMismatch:
    """Why a query stops whose columns were just written down."""
    names = ", ".join(schema_changes.column_names(metadata))
    return SchemaMismatch(
        f"from version {version} on the table has other columns ({names}), which is written down: start the "
        "query again with a new read_stream(), and it goes on in them",
        code="DELTA_STREAMING_METADATA_EVOLUTION", version=version,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConfirmedChange:
    """One row: what is done to columns only if the user confirms it, by which option."""

    change: ColumnChange
    option: str
    delta: str
    says: str


CONFIRMED_CHANGES: tuple[ConfirmedChange, ...] = (
    ConfirmedChange(ColumnChange.DROP, "allow_source_column_drop", "allowSourceColumnDrop", "dropped"),
    ConfirmedChange(ColumnChange.RENAME, "allow_source_column_rename", "allowSourceColumnRename", "renamed"),
    ConfirmedChange(
        ColumnChange.TYPE,
        "allow_source_column_type_change",
        "allowSourceColumnTypeChange",
        "given another type",
    ),
)


def _check_allowed(before: TrackedColumns, after: TrackedColumns, asked: StreamReadOptions) -> None:
    for change, name in schema_changes.column_changes(before.metadata, after.metadata):
        row = next(row for row in CONFIRMED_CHANGES if row.change is change)
        if getattr(asked, row.option) in (ALWAYS, str(after.version)):
            continue
        raise SchemaMismatch(
            f"the column {name!r} was {row.says} between version {before.version} and version "
            f"{after.version}: look what that means for the query and for what it writes to, and then start "
            f"it with {row.option}={str(after.version)!r}, or {ALWAYS!r}",
            code="DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION", version=after.version,
        )  # fmt: skip


def _decoded(content: bytes, path: str) -> TrackedColumns:
    try:
        return msgspec.json.decode(content, type=TrackedColumns)
    except msgspec.DecodeError as exc:
        raise CorruptLog(
            f"{path} does not say in which columns a stream reads ({exc}): give the query another "
            "schema_tracking_location, and a new checkpoint",
            code="DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED", path=path,
        ) from exc  # fmt: skip
