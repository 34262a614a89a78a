"""The change data feed: which rows came and went, in which version and when.

Changed rows are read like the rows of a table whose files share three more columns. Where the
writer recorded changes in files of their own, these say themselves what happened to each row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from headgate.errors import CorruptLog
from headgate.protocol.actions import (
    AddCdcFile,
    AddFile,
    DeletionVector,
    EpochMillis,
    Metadata,
    RemoveFile,
    Version,
)
from headgate.protocol.file_key import canonical_path
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import file_stats
from headgate.spark.parquet import footers
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.scan import scan
from headgate.spark.session import schema as spark_schema
from headgate.table.data_files import deleted_rows
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from headgate.table.read.change_files import VersionChanges, VersionRange
from headgate.table.read.live_files import adds_as_table

CHANGE, VERSION, TIMESTAMP = "_change_type", "_commit_version", "_commit_timestamp"
_FEED_FIELDS = (Field(CHANGE, Primitive("string")), Field(VERSION, Primitive("long")))
_STAMP = Field(TIMESTAMP, Primitive("timestamp"))


def read(spark: SparkSession, table: OpenedTable, asked: VersionRange) -> DataFrame:
    """The changed rows of these versions, in the columns the table has at the last of them."""
    end, found = table.changes(asked)
    return rows_of_files(
        spark, table, feed_columns(end.state.metadata), files_of_changes(table, found), scan.rows
    )


def feed_columns(metadata: Metadata) -> ScanColumns:
    """The columns of a table, and the three that tell what happened to a row."""
    columns = scan.scan_columns(metadata)
    return replace(columns, schema=Struct((*columns.schema.fields, *_feed_columns())))


def files_of_changes(table: OpenedTable, found: Sequence[VersionChanges]) -> Iterator[AddFile]:
    """The files whose rows tell what changed, each with what happened to its rows."""
    yield from _data_files(table, found)
    yield from _cdc_files(found)


def as_inserted(files: Iterable[AddFile], version: Version, timestamp: EpochMillis) -> Iterator[AddFile]:
    """Files all of whose rows count as inserted by a version."""
    change = VersionChanges(version, timestamp, (), (), ())
    for file in files:
        yield _with_feed_values(file, change, "insert")


ReadsRows = Callable[[SparkSession, OpenedTable, ScanColumns, pa.Table], DataFrame]
"""How the rows of some files are read: at once, or as a batch of a stream."""


def rows_of_files(
    spark: SparkSession,
    table: OpenedTable,
    columns: ScanColumns,
    files: Iterable[AddFile],
    read_rows: ReadsRows,
) -> DataFrame:
    """The rows of files, of which some may come several times, and not all partitioned alike."""
    parts = list(_scans(columns, files, lambda shared, some: read_rows(spark, table, shared, some)))
    if not parts:
        parts = [read_rows(spark, table, columns, adds_as_table(()))]
    names = (field.name for field in columns.schema.fields)
    return reduce(DataFrame.unionByName, parts).select(*map(spark_schema.column, names))


def _scans(
    columns: ScanColumns, files: Iterable[AddFile], read: Callable[[ScanColumns, pa.Table], DataFrame]
) -> Iterator[DataFrame]:
    """The rows of files of which some may come several times, which one scan would read once."""
    alike: dict[frozenset[str], list[dict[str, AddFile]]] = {}
    for file in files:
        rounds = alike.setdefault(_constants(columns, file), [])
        free = next((round_ for round_ in rounds if file.path not in round_), None)
        if free is None:
            rounds.append(free := {})
        free[file.path] = file
    for constant, rounds in alike.items():
        shared = replace(columns, partitioned_by=constant)
        for round_ in rounds:
            yield read(shared, adds_as_table(list(round_.values())))


def _constants(columns: ScanColumns, file: AddFile) -> frozenset[str]:
    """The columns of which the log has the value: another version may have been partitioned otherwise."""
    return frozenset(
        field.name
        for field in columns.schema.fields
        if column_mapping.physical_name(field, columns.mode) in file.partition_values
    )


def _feed_columns() -> Iterator[Field]:
    """The three columns, under their own names in files and in the log."""
    for field in (*_FEED_FIELDS, _STAMP):
        yield replace(field, metadata=column_mapping.mapped_to_own_name(field.name))


def _data_files(table: OpenedTable, found: Sequence[VersionChanges]) -> Iterator[AddFile]:
    for change in found:
        rewritten = change.rewritten
        for before, after in rewritten.values():
            for kind, rows in _difference(table, before, after):
                if rows.cardinality:
                    yield _with_feed_values(_with_vector(after, _all_but(table, rows, after)), change, kind)
        for add in change.inserted:
            if canonical_path(add.path) not in rewritten:
                yield _with_feed_values(add, change, "insert")
        for remove in change.deleted:
            if canonical_path(remove.path) not in rewritten:
                yield _with_feed_values(_remove_as_add(table, remove), change, "delete")


def _cdc_files(found: Sequence[VersionChanges]) -> Iterator[AddFile]:
    for change in found:
        for file in change.recorded:
            yield _with_feed_values(_cdc_as_add(file), change, None)


def _difference(table: OpenedTable, before: RemoveFile, after: AddFile) -> Iterator[tuple[str, DeletedRows]]:
    """The rows of a file that its new deletion vector hides, and those it shows again."""
    was, now = (_rows_of(table, vector) for vector in (before.deletion_vector, after.deletion_vector))
    yield "delete", DeletedRows(now.rows - was.rows)
    yield "insert", DeletedRows(was.rows - now.rows)


def _rows_of(table: OpenedTable, vector: DeletionVector | None) -> DeletedRows:
    if vector is None:
        return DeletedRows.from_rows(())
    return deleted_rows.fetch_deleted_rows(table.store, table.location, [vector])[0]


def _all_but(table: OpenedTable, rows: DeletedRows, file: AddFile) -> DeletionVector:
    count = file_stats.row_count(file.stats)
    if count is None:  # whoever shows all rows of a file again need not say how many there are
        footer = footers.read(*file_paths.locate_object(table.store, table.location, file.path))
        if footer is None:
            raise CorruptLog(
                f"{file.path} cannot be read, so which of its rows changed cannot be told: it is no parquet "
                "file",
                code="DELTA_STATE_RECOVER_ERROR",
            )
        count = footer.num_rows
    return deletion_vectors.encode_inline(
        DeletedRows.from_rows(row for row in range(count) if row not in rows.rows)
    )


def _with_vector(file: AddFile, vector: DeletionVector) -> AddFile:
    return AddFile(
        path=file.path,
        partition_values=file.partition_values,
        size=file.size,
        modification_time=file.modification_time,
        data_change=file.data_change,
        deletion_vector=vector,
    )


def _with_feed_values(file: AddFile, change: VersionChanges, kind: str | None) -> AddFile:
    moment = datetime.fromtimestamp(change.timestamp / 1000, UTC)
    marks = {VERSION: str(change.version), TIMESTAMP: moment.strftime("%Y-%m-%d %H:%M:%S.%f")}
    if kind is not None:
        marks[CHANGE] = kind
    return AddFile(
        path=file.path,
        partition_values={**file.partition_values, **marks},
        size=file.size,
        modification_time=file.modification_time,
        data_change=True,
        deletion_vector=file.deletion_vector,
    )


def _remove_as_add(table: OpenedTable, remove: RemoveFile) -> AddFile:
    size = remove.size if remove.size is not None else table.store.head(remove.path).size
    return AddFile(
        path=remove.path,
        partition_values=remove.partition_values or {},
        size=size,
        modification_time=EpochMillis(0),
        data_change=True,
        deletion_vector=remove.deletion_vector,
    )


def _cdc_as_add(file: AddCdcFile) -> AddFile:
    return AddFile(
        path=file.path,
        partition_values=file.partition_values,
        size=file.size,
        modification_time=EpochMillis(0),
        data_change=True,
    )
