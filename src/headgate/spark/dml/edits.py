"""What a statement does to rows: which, where they are, and what they become.

A DataFrame of edits has a row for each: position and index of the row it is about (null for a new
one), its kind, the columns of the table as they will be, and if a change feed asks, as they were.
What is not a column of the table has the names of ``DmlTarget.own``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol import property_values
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.dml import matched_rows
from headgate.spark.dml.matched_rows import MatchedRows
from headgate.spark.dml.target_scan import DmlTarget
from headgate.spark.session import local_checkpoint
from headgate.spark.session import schema as spark_schema

RowMatcher = Callable[[DataFrame], DataFrame]
"""Given rows of the target, those that a statement is about."""
_NONE = MatchedRows()


class EditKind(IntEnum):
    """What becomes of a row."""

    UPDATED = 0
    DELETED = 1
    INSERTED = 2
    SEEN = 3
    """It stays; that it is there decided that no row was inserted."""
    UPDATED_WITHOUT_SOURCE = 4
    DELETED_WITHOUT_SOURCE = 5


UPDATES = (EditKind.UPDATED, EditKind.UPDATED_WITHOUT_SOURCE)
DELETES = (EditKind.DELETED, EditKind.DELETED_WITHOUT_SOURCE)
INSERTS = (EditKind.INSERTED,)
CHANGES = (*UPDATES, *DELETES)


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of a statement, carried out on no file yet."""

    matched_rows: Mapping[int, MatchedRows] = field(default_factory=dict)
    rows: DataFrame | None = None
    """The edits themselves, computed once; None if all of them are deletions that nobody records."""

    def count(self, *kinds: EditKind) -> int:
        """How many rows of these kinds there are; rows of files count once."""
        return sum(
            found.count if kind is EditKind.INSERTED else found.distinct
            for kind in kinds
            if (found := self.matched_rows.get(kind)) is not None
        )

    def changed(self, position: int) -> DeletedRows:
        """The rows of a file that do not stay as they are."""
        return (
            DeletedRows.from_rows(())
            if not self.matched_rows
            else _united(self.of(kind, position) for kind in CHANGES)
        )

    def of(self, kind: EditKind, position: int) -> DeletedRows:
        """The rows of a file of one kind."""
        return self.matched_rows.get(kind, _NONE).of(position)

    @property
    def positions(self) -> list[int]:
        """The files in which some row does not stay as it is."""
        return sorted({place for kind in CHANGES for place in self.matched_rows.get(kind, _NONE).rows})


def collect_edits(target: DmlTarget, rows: DataFrame, *, keep: bool) -> Edits:
    """The edits of ``rows``, some of the target's, which are computed once; ``keep`` them if their values
    will be needed."""
    most = target.max_row_count()
    if not keep:
        return Edits(matched_rows.collect(rows, target.own, at_most=most))
    # Without its lineage: were rows computed again, they might be others than those that were counted.
    kept = local_checkpoint.checkpoint_rows(rows)
    return Edits(matched_rows.collect(kept, target.own, at_most=most), kept)


def deletions(target: DmlTarget, matching: RowMatcher) -> Edits:
    """That the matching rows of the target go."""
    if not target.files.num_rows:
        return Edits()
    feed = target.has(property_values.CHANGE_DATA_FEED)
    kept = edit_columns(target, F.lit(int(EditKind.DELETED)), {})
    if feed:
        kept.append(preimage(target))
    return collect_edits(target, matching(target.rows(selected=True)).select(*kept), keep=feed)


def rows_where(rows: DataFrame, where: Column | str | None, alias: str | None) -> DataFrame:
    """The rows that meet a condition, if there is one, which may call them by an ``alias``."""
    named = rows.alias(alias) if alias else rows
    return named if where is None else named.where(where)


def edit_columns(
    target: DmlTarget, kind: Column, values: Mapping[str, Column], *, alias: str = ""
) -> list[Column]:
    """The columns of edits, given rows of the target, perhaps called ``alias``."""
    own = target.own
    place = [
        _qualified_column(alias, own.position),
        _qualified_column(alias, own.index),
        kind.cast("int").alias(own.kind),
    ]
    new = [column.alias(name) for name, column in values.items()]
    if target.tracked:
        new.append(_qualified_column(alias, own.row_id))
    return place + new


def preimage(target: DmlTarget, *, alias: str = "") -> Column:
    """A row of the target as it was."""
    return F.struct(*(_qualified_column(alias, name) for name in target.names)).alias(target.own.before)


def _qualified_column(alias: str, name: str) -> Column:
    return F.col(f"{alias}.`{name.replace('`', '``')}`") if alias else spark_schema.column(name)


def _united(parts: Iterable[DeletedRows]) -> DeletedRows:
    rows = DeletedRows.from_rows(()).rows
    for part in parts:
        rows = rows | part.rows
    return DeletedRows(rows)
