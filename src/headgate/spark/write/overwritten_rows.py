"""Rows that an overwrite takes away one by one: where a condition, or the new rows, select some of a file.

New rows are written first, and whoever needs them again reads these files: a query that is run twice may
give other rows the second time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.actions import Action, AddFile, Metadata
from headgate.protocol.predicates.tree import Always, Predicate
from headgate.protocol.stats import operation_metrics
from headgate.protocol.transaction.attempt import ReadSet
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.dml import edits, rewrite, target_scan
from headgate.spark.dml.deletion_vector_files import DeletionVectorWriter
from headgate.spark.dml.edits import EditKind
from headgate.spark.predicates import from_column
from headgate.spark.scan import scan
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import adds_as_table
from headgate.table.read.snapshot import Snapshot

TABLE, ROWS = "t", "s"
"""What a condition of ``replace_on`` calls the rows of the table, and the new ones."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows of a table are replaced."""

    predicate: Predicate
    matching: edits.RowMatcher


@dataclass(frozen=True, slots=True)
class RemovedRows:
    """What takes the rows away, and what had to be read to know them."""

    actions: tuple[Action, ...]
    reads: ReadSet
    folders: tuple[WrittenFiles, ...]
    vectors: DeletionVectorWriter | None = None
    deleted: int | None = None
    """How many rows went one by one; None where whole files did."""
    copied: int = 0
    """How many rows of the same files stayed, and were written once more."""

    def metrics(self, written: WrittenFiles) -> Mapping[str, str]:
        """What the history says of a write that took these rows away: copied rows were written too."""
        if self.deleted is None:
            return written.metrics
        adds = [*written.adds, *(add for part in self.folders for add in part.adds)]
        return {
            **operation_metrics.written_metrics(adds, written.rows + self.copied),
            "numCopiedRows": str(self.copied),
            "numDeletedRows": str(self.deleted),
        }

    def discard(self, store: Store) -> None:
        """Delete what was written, which is proven to belong to no commit."""
        for part in self.folders:
            data_file_writer.discard(store, part)
        if self.vectors is not None:
            self.vectors.discard()


def select_by_condition(base: Snapshot, df: DataFrame, options: WriteOptions) -> Selection:
    """The rows that a condition on any columns selects."""
    condition = options.replace_where
    if condition is None:
        raise InvalidRequest("replace_where is not given")
    schema = scan.scan_columns(base.state.metadata).schema
    predicate = from_column.to_predicate(condition, schema, df.sparkSession)
    return Selection(predicate, lambda rows: rows.where(condition))


def select_by_new_rows(
    table: OpenedTable, metadata: Metadata, df: DataFrame, written: WrittenFiles, options: WriteOptions
) -> Selection:
    """The rows that one of the new rows, which are written already, stands for."""
    fresh = _read_new_rows(df, table, metadata, written.adds)
    if fresh is None:
        return Selection(Always(), lambda rows: rows.where("false"))
    found = fresh
    if options.replace_on is not None:
        condition = F.expr(options.replace_on)
        return Selection(
            Always(), lambda rows: rows.alias(TABLE).join(found.alias(ROWS), condition, "left_semi")
        )
    keys = _keys(fresh, options.replace_using)
    return Selection(
        Always(), lambda rows: rows.alias(TABLE).join(found.alias(ROWS), _equal(keys), "left_semi")
    )


def remove_rows(
    table: OpenedTable,
    base: Snapshot,
    df: DataFrame,
    selected: Selection,
    *,
    metadata: Metadata,
    written: WrittenFiles,
) -> RemovedRows:
    """Write what it takes to be without the selected rows, and to record the changes if a feed asks."""
    target = target_scan.find_target(df.sparkSession, table, base, selected.predicate)
    found = edits.deletions(target, selected.matching)
    done = rewrite.write_rewrite(target, found, rewrite.plan_rewrite(target, found), metadata)
    folders, changes = done.folders, done.changes
    if changes and written.adds:
        inserted = _write_insert_changes(table, df, metadata, written.adds)
        folders, changes = (*folders, inserted), inserted.changes
    else:
        changes = ()
    touched = frozenset(file.path for file in done.plan.touched)
    reads = ReadSet(predicates=(selected.predicate,), files=touched)
    deleted = found.count(EditKind.DELETED)
    return RemovedRows((*done.actions, *changes), reads, folders, done.vectors, deleted, done.copied)


def _read_new_rows(
    df: DataFrame, table: OpenedTable, metadata: Metadata, adds: Sequence[AddFile]
) -> DataFrame | None:
    if not adds:
        return None
    return scan.rows(df.sparkSession, table, scan.scan_columns(metadata), adds_as_table(adds))


def _write_insert_changes(
    table: OpenedTable, df: DataFrame, metadata: Metadata, adds: Sequence[AddFile]
) -> WrittenFiles:
    """The new rows as changes: a version with some changes in files of their own has all of them there."""
    fresh = _read_new_rows(df, table, metadata, adds)
    if fresh is None:
        return WrittenFiles("", (), 0)
    return data_file_writer.write_cdc_files(
        fresh.withColumn(data_file_writer.CHANGE_TYPE.name, F.lit("insert")), table, metadata
    )


def _keys(fresh: DataFrame, names: Sequence[str]) -> list[str]:
    known = {name.lower(): name for name in fresh.columns}
    missing = [name for name in names if name.lower() not in known]
    if missing:
        raise InvalidRequest(
            f"the rows have no column {missing[0]!r} to replace by: correct the name",
            code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        )
    return [known[name.lower()] for name in names]


def _equal(keys: Sequence[str]) -> Column:
    quoted = [f"`{name.replace('`', '``')}`" for name in keys]
    return reduce(Column.__and__, (F.col(f"{TABLE}.{name}") == F.col(f"{ROWS}.{name}") for name in quoted))
