"""The rows of a snapshot, as a DataFrame.

``orders.read(where="id = 7")`` of a snapshot with two files:

    a   id 1 to 5                       left out: by its statistics it has no such row
    b   id 6 to 9, its row 2 deleted    read: a piece of the plan, with its deletion vector

Spark gets a scan of b, in which the vector's row is filtered out, and over it the condition once more: the
statistics say only which files may have such rows.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession

from headgate.errors import InvalidRequest, UnsupportedFeature
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.spark.calls import errors
from headgate.spark.parquet import file_layouts
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.predicates import from_column
from headgate.spark.predicates.file_filter import FileFilter
from headgate.spark.scan import (
    bind,
    binders,
    cluster_replay,
    scan_cache,
    scan_marks,
    scan_plan,
)
from headgate.spark.scan.binders import FileSkipping
from headgate.spark.scan.scan_plan import ScanPlan
from headgate.spark.session import vended_access
from headgate.spark.session.internal_names import InternalNames
from headgate.table.data_files import deleted_rows
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot

ReadCondition = Column | str
ROW_ID, ROW_COMMIT_VERSION = "_row_id", "_row_commit_version"
"""What a user who asks for the ids of rows finds them under."""

_TRACKED = (
    property_values.ROW_ID_COLUMN,
    property_values.ROW_COMMIT_VERSION_COLUMN,
)
_SHREDDED = ("variantShredding", "variantShredding-preview")
MANY_FILES = 1_000
"""From how many files on it takes a while to name them to the JVM."""


def read(
    spark: SparkSession,
    table: OpenedTable,
    snapshot: Snapshot,
    *,
    where: ReadCondition | None = None,
    row_ids: bool = False,
    is_latest: bool = False,
) -> DataFrame:
    """The rows of a snapshot: the table's columns in its order, all nullable as Spark's files are.

    A condition leaves out files that cannot have such rows before Spark hears of them. With
    ``row_ids`` there are two more columns, ``_row_id`` and ``_row_commit_version``. That it ``is_latest``,
    rather than a version somebody asked for, is marked in the plan.
    """
    _check_session(spark, snapshot.state.protocol)
    columns = scan_columns(snapshot.state.metadata, row_ids=row_ids)
    if row_ids:
        columns = replace(columns, named=_row_id_names(columns))
    wanted = None if where is None else from_column.to_predicate(where, columns.schema, spark)
    files, bounds = select_files(spark, table, snapshot, columns, wanted)
    table.scanned(snapshot, wanted, tuple if wanted is None else files["path"].to_pylist)
    if wanted is not None and _are_most(spark, table, snapshot, files):
        files, bounds = select_files(spark, table, snapshot, columns, None)
    scan = _cached_plan(spark, table, snapshot, columns, files)
    if is_latest and not table.is_observed:
        scan = scan_plan.with_mark(scan, scan_marks.new_mark(table.location, snapshot.version, wanted))
    found = _bind_plan(spark, table, columns, scan, FileSkipping(columns, bounds), wanted)
    return found if where is None else found.where(where)


def rows(
    spark: SparkSession,
    table: OpenedTable,
    columns: ScanColumns,
    files: pa.Table,
    skip: FileSkipping | None = None,
    wanted: Predicate | None = None,
) -> DataFrame:
    """The rows of some files of a table, without those that deletion vectors hide.

    Rows that are not ``wanted`` may be missing too, where that saves looking at a vector.
    """
    return _bind_plan(spark, table, columns, plan_scan(spark, table, columns, files), skip, wanted)


def stream_rows(spark: SparkSession, table: OpenedTable, columns: ScanColumns, files: pa.Table) -> DataFrame:
    """The same as a batch of a stream."""
    scan = scan_plan.as_stream(plan_scan(spark, table, columns, files))
    return _bind_plan(spark, table, columns, scan, None, None)


def _bind_plan(
    spark: SparkSession,
    table: OpenedTable,
    columns: ScanColumns,
    scan: ScanPlan,
    skip: FileSkipping | None,
    wanted: Predicate | None,
) -> DataFrame:
    errors.remember_location(table.location)
    vended_access.remember_store(table.location, table.store)
    pieces = (
        (piece, deleted_rows.fetch_deleted_rows(table.store, table.location, piece.vectors))
        for piece in scan.pieces
    )
    return bind.bind(spark, scan.schema, pieces, columns.own, skip, wanted)


def _are_most(spark: SparkSession, table: OpenedTable, snapshot: Snapshot, files: pa.Table) -> bool:
    """Whether a condition leaves so many files that all of them, which the JVM may know, are named sooner.

    Those that it does not leave are skipped once more, when Spark hands the condition to its index.
    """
    if (
        files.num_rows < MANY_FILES
        or cluster_replay.is_needed(table, snapshot)
        or not binders.may_be_classic(spark)
    ):
        return False
    return bool(2 * files.num_rows > snapshot.files.without_stats.num_rows)


def _cached_plan(
    spark: SparkSession, table: OpenedTable, snapshot: Snapshot, columns: ScanColumns, files: pa.Table
) -> ScanPlan:
    """What reading ``files`` takes; if these are all of a snapshot, the same for all who ask.

    What a file says of its columns is remembered by itself, and only if it could be read.
    """
    make = partial(plan_scan, spark, table, columns, files)
    some = cluster_replay.is_needed(table, snapshot) or files.num_rows < snapshot.files.without_stats.num_rows
    if some or columns.needs_footers:
        return make()
    key = (table.location, columns.tracked, binders.may_be_classic(spark))
    return scan_cache.cached_plan(snapshot.files, key, lambda: scan_plan.reusable_plan(make()))


def _row_id_names(columns: ScanColumns) -> InternalNames:
    """The names under which a user is shown the ids of rows, which his own columns must leave free."""
    taken = [name for name in (ROW_ID, ROW_COMMIT_VERSION) if columns.schema.find(name) is not None]
    if taken:
        raise InvalidRequest(
            f"the table has a column {taken[0]!r}, the name under which row_ids gives what it knows of rows: "
            "read without row_ids, or rename the column"
        )
    return replace(columns.own, row_id=ROW_ID, row_commit_version=ROW_COMMIT_VERSION)


def scan_columns(metadata: Metadata, *, row_ids: bool = False) -> ScanColumns:
    """The columns of a table, as its files are read."""
    if row_ids and not property_values.flag(metadata, property_values.ROW_TRACKING):
        raise InvalidRequest(
            f"the table does not track its rows: set its property {property_values.ROW_TRACKING} to true "
            "first"
        )
    return ScanColumns(
        schema_json.parse(metadata.schema_string),
        frozenset(metadata.partition_columns),
        column_mapping.mapping_mode(metadata),
        tuple(metadata.configuration.get(key, key) for key in _TRACKED) if row_ids else (),
    )


def plan_scan(spark: SparkSession, table: OpenedTable, columns: ScanColumns, files: pa.Table) -> ScanPlan:
    """What reading ``files`` of a table takes."""
    found = file_layouts.read_layouts(table, files, columns) if columns.needs_footers else None
    # Only the classic binder finds deleted rows without a join, which all rows would go through.
    together = binders.may_be_classic(spark)
    return scan_plan.build(table.location, columns, files, found, together=together)


def _check_session(spark: SparkSession, protocol: Protocol) -> None:
    shredded = tuple(name for name in _SHREDDED if protocol.has(name))
    # Spark 4.0 fails inside its parquet reader, on a null pointer, where files mark a variant as one.
    if shredded and spark.version.startswith("4.0."):
        raise UnsupportedFeature(
            f"the table needs {shredded[0]}, which Spark {spark.version} cannot read: use Spark 4.1 or newer",
            features=shredded, operation="read",
        )  # fmt: skip


def select_files(
    spark: SparkSession,
    table: OpenedTable,
    snapshot: Snapshot,
    columns: ScanColumns,
    wanted: Predicate | None,
) -> tuple[pa.Table, Callable[[], FileBounds]]:
    """The files that may have rows which a predicate selects, and between which values they lie.

    Nobody is told that they are read: whoever changes rows says so in the change.
    """
    live, metadata = snapshot.files, snapshot.state.metadata
    if cluster_replay.is_needed(table, snapshot):
        chosen = None if wanted is None else FileFilter(wanted, columns)
        live = cluster_replay.candidates(spark, table, snapshot.version, chosen)
    if wanted is None:
        return live.without_stats, lambda: live.bounds(metadata)
    bounds = live.bounds(metadata)
    kept = bounds.only(data_skipping.keep_mask(bounds, wanted))
    return kept.files, lambda: kept
