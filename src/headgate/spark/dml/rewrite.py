"""From edits to a commit: which files get a deletion vector, which are rewritten, which go.

A file loses its rows by the cheapest way that is open to it: it is removed if none is left, gets a
deletion vector if the table allows that and most rows stay, and else its other rows are copied.

A DELETE concerns rows of four files of ten rows each, in a table with deletion vectors:

    all ten rows of a      removed
    five rows of b         hidden: {"remove":b}  {"add":b with a deletion vector of cardinality 5}
    six rows of c          rewritten: its four other rows are copied to a new file, {"remove":c}  {"add":new}
    one row of d, of which five are hidden already: six in all, so rewritten

Without deletion vectors b is rewritten too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.errors import ConflictError, UserError
from headgate.protocol import property_values
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    AppTransaction,
    DeletionVector,
    EpochMillis,
    Metadata,
)
from headgate.protocol.domains import lifecycle
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct
from headgate.protocol.transaction.attempt import ReadSet
from headgate.protocol.transaction.row_access import TouchedRows
from headgate.spark.data_files import data_file_writer, fit_schema
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.dml import cdc_files, deletion_vector_files, target_scan
from headgate.spark.dml.deletion_vector_files import DeletionVectorWriter
from headgate.spark.dml.edits import UPDATES, EditKind, Edits, RowMatcher
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.parquet import row_counts
from headgate.spark.session import schema as spark_schema
from headgate.table.read.live_files import adds_as_table
from headgate.table.transaction import Change, Operation

MAX_DELETED_FRACTION = 0.5
"""With a larger share of its rows hidden a file is rewritten: readers would skip more than they read."""
_ROWS_PER_FILE = 500_000
"""How many rows are worth a task, and so a file, of their own."""


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """What happens to each file, by position; no file is in two of these."""

    removed: Sequence[AddFile] = ()
    hidden: Sequence[tuple[AddFile, DeletedRows]] = ()
    """Files and all rows their new vectors hide."""
    rewritten: Sequence[tuple[AddFile, DeletedRows]] = ()
    """Files and all rows that are not copied."""
    changed: Mapping[str, DeletedRows] = field(default_factory=dict)
    """By path, the rows of hidden files that the statement is about."""
    seen: Mapping[str, DeletedRows] = field(default_factory=dict)

    @property
    def touched(self) -> list[AddFile]:
        """Every file that does not stay as it is."""
        return [*self.removed, *(file for file, _ in self.hidden), *(file for file, _ in self.rewritten)]


@dataclass(frozen=True, slots=True)
class RewriteOutput:
    """What was written for a statement, and counted on the way; not yet committed."""

    plan: RewritePlan
    actions: tuple[Action, ...]
    adds: tuple[AddFile, ...]
    changes: tuple[AddCdcFile, ...]
    copied: int
    folders: tuple[WrittenFiles, ...]
    vectors: DeletionVectorWriter


class RowConflictAccess:
    """What a lost race must know of a statement's rows: the ``RowAccess`` of its change."""

    def __init__(self, target: DmlTarget, matching: RowMatcher, writer: DeletionVectorWriter) -> None:
        self._target = target
        self._matching = matching
        self._writer = writer

    def hidden(self, wanted: Sequence[DeletionVector]) -> Sequence[DeletedRows]:
        """The rows that each of these vectors hides."""
        return self._writer.hidden(wanted)

    def hide(self, rows: DeletedRows) -> DeletionVector:
        """The descriptor of a vector that hides these rows."""
        return self._writer.hide(rows)

    def selects(self, adds: Sequence[AddFile]) -> bool:
        """Whether the statement would have been about a row of these files; Spark looks, if need be."""
        some = self._target.files_maybe_selected(adds)
        if not some:
            return False
        rows = self._target.rows_of(adds_as_table(some), wanted=self._target.predicate)
        return not self._matching(rows).isEmpty()

    def counted(self, file: AddFile) -> int | None:
        """How many rows the file has, deleted ones too, by its own footer."""
        return row_counts.row_counts(self._target.table, [file])[file.path]


def plan_rewrite(target: DmlTarget, edits: Edits, removed: Sequence[AddFile] = ()) -> RewritePlan:
    """What to do with each file, those of ``removed`` being known to lose all rows."""
    paths = target.files["path"].to_pylist()
    adds = target.adds(paths[position] for position in edits.positions)
    hides = target.has(property_values.DELETION_VECTORS)
    old = deletion_vector_files.deleted_rows_by_path(DeletionVectorWriter(target.table), list(adds.values()))
    changed = {paths[position]: edits.changed(position) for position in edits.positions}
    emptied = _fully_deleted(target, [(add, changed[path], old[path]) for path, add in adds.items()])
    gone, hidden, rewritten = list(removed), [], []
    for position in edits.positions:
        add, rows = adds[paths[position]], changed[paths[position]]
        left = target_scan.live_row_count(add)
        united = DeletedRows(old[add.path].rows | rows.rows)
        if add.path in emptied:
            gone.append(add)
        elif hides and left is not None and _are_few(united, left + old[add.path].cardinality):
            hidden.append((add, united))
        else:
            rewritten.append((add, united))
    seen = edits.matched_rows.get(EditKind.SEEN)
    return RewritePlan(
        gone,
        hidden,
        rewritten,
        {file.path: changed[file.path] for file, _ in hidden},
        {} if seen is None else {paths[position]: rows for position, rows in seen.rows.items()},
    )


def _fully_deleted(
    target: DmlTarget, files: Sequence[tuple[AddFile, DeletedRows, DeletedRows]]
) -> frozenset[str]:
    """Those of the files that lose all the rows they had left, by their statistics and their footers too.

    Each comes with the rows it loses, and with those it had lost before.
    """
    said = [file for file, rows, _ in files if target_scan.live_row_count(file) == rows.cardinality]
    found = row_counts.row_counts(target.table, said)
    lost = {file.path: DeletedRows(rows.rows | before.rows) for file, rows, before in files}
    return frozenset(path for path, count in found.items() if lost[path].covers_file(count))


def _are_few(rows: DeletedRows, of: int) -> bool:
    return rows.cardinality <= of * MAX_DELETED_FRACTION


def write_rewrite(
    target: DmlTarget, edits: Edits, decided: RewritePlan, metadata: Metadata | None = None
) -> RewriteOutput:
    """Write everything a commit needs; under ``metadata``, if the statement changes that too.

    If writing fails, what was written before is deleted: nobody knows of it.
    """
    writer, folders = DeletionVectorWriter(target.table), []
    now = EpochMillis(target.table.world.now_ms())
    under = metadata or target.metadata
    try:
        rows = _rows_to_write(target, edits, decided, schema_json.parse(under.schema_string))
        if rows is not None:
            clustering = lifecycle.clustering_columns(target.base.state.domains)
            folders.append(
                data_file_writer.write_files(
                    rows, target.table, under, clustering=clustering, extra=target.tracked
                )
            )
        if cdc_files.are_needed(target, edits, decided.hidden or decided.rewritten):
            folders.append(cdc_files.write(target, edits, under))
        hidden = deletion_vector_files.adds_with_vectors(writer, decided.hidden)
    except Exception:
        _discard(target, writer, folders)
        raise
    adds = tuple(add for written in folders for add in written.adds)
    changes = tuple(change for written in folders for change in written.changes)
    removes = [target_scan.remove_action(file, now) for file in decided.touched]
    new = edits.count(*UPDATES, EditKind.INSERTED)
    copied = sum(written.rows for written in folders if not written.changes) - new if adds else 0
    return RewriteOutput(
        decided, (*removes, *hidden, *adds, *changes), adds, changes, copied, tuple(folders), writer
    )


def commit(
    target: DmlTarget, done: RewriteOutput, operation: Operation, matching: RowMatcher, *more: Action
) -> int:
    """Commit what was written; the version it became, or the one that was read if there is nothing to say.

    What there is ``more`` to say, as of domains, is a version even if no row changes.
    """
    if not (done.actions or more):
        # That there was nothing to change may decide what else a transaction does.
        target.table.scanned(target.base, target.predicate, target.files["path"].to_pylist)
        return target.base.version
    paths = frozenset({file.path for file in done.plan.touched} | done.plan.seen.keys())
    reads = ReadSet(predicates=(target.predicate,), files=paths, app_ids=_app_ids(more))
    change = Change(
        operation,
        (*more, *done.actions),
        reads=reads.union(target.reads),
        rows=TouchedRows(
            RowConflictAccess(target, matching, done.vectors), done.plan.changed, done.plan.seen
        ),
        user_metadata=WriteOptions().said(target.spark),
        skip_if_empty=True,
        written_as=data_file_writer.txn_id_of_files(done.folders),
    )
    try:
        return target.table.commit(change, base=target.base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        _discard(target, done.vectors, done.folders)
        raise


def _app_ids(actions: Sequence[Action]) -> frozenset[str]:
    """The applications whose last transaction was looked up: those that the commit is one of."""
    return frozenset(action.app_id for action in actions if isinstance(action, AppTransaction))


def _discard(target: DmlTarget, writer: DeletionVectorWriter, folders: Sequence[WrittenFiles]) -> None:
    for written in folders:
        data_file_writer.discard(target.table.store, written)
    writer.discard()


def _rows_to_write(target: DmlTarget, edits: Edits, decided: RewritePlan, schema: Struct) -> DataFrame | None:
    new = edits.count(*UPDATES, EditKind.INSERTED)
    parts = []
    if new and edits.rows is not None:
        kinds = F.col(target.own.kind).isin(*map(int, (*UPDATES, EditKind.INSERTED)))
        parts.append(edits.rows.where(kinds).select(*_new_columns(target, edits.rows)))
    if decided.rewritten:
        kept = [
            msgspec.structs.replace(
                file, deletion_vector=deletion_vectors.encode_inline(rows) if rows.cardinality else None
            )
            for file, rows in decided.rewritten
        ]
        parts.append(target.rows_of(adds_as_table(kept)).select(*copied_columns(target)))
    if not parts:
        return None
    if len(parts) > 1:
        parts = [fit_schema.cast_to_table_types(part, schema) for part in parts]
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    known = [target_scan.live_row_count(file) for file, _ in decided.rewritten]
    if None in known:
        return rows
    total = new + sum(count for count in known if count is not None)
    return rows.coalesce(max(1, -(-total // _ROWS_PER_FILE)))


def _new_columns(target: DmlTarget, rows: DataFrame) -> list[Column]:
    """Those of new and updated rows; an updated row keeps its id and is of the version to be."""
    chosen = cdc_files.table_columns(target, rows)
    if target.tracked:
        own_id, version = target.tracked
        chosen.append(F.col(target.own.row_id).alias(own_id.name))
        chosen.append(F.lit(None).cast("bigint").alias(version.name))
    return chosen


def copied_columns(target: DmlTarget) -> list[Column]:
    """Those of rows that only move to another file, and so keep their ids and versions."""
    chosen = [spark_schema.column(name) for name in target.names]
    if target.tracked:
        own_id, version = target.tracked
        chosen.append(F.col(target.own.row_id).alias(own_id.name))
        chosen.append(F.col(target.own.row_commit_version).alias(version.name))
    return chosen
