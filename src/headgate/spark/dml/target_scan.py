"""The table that a statement changes: which files may be concerned, and their rows with where they are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import AddFile, DeletionVector, EpochMillis, Metadata, RemoveFile
from headgate.protocol.predicates.tree import Always, Predicate
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import data_skipping, full_matches, record_counts
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.scan import cluster_replay, scan
from headgate.spark.session import internal_names
from headgate.spark.session.internal_names import InternalNames
from headgate.table.alter import full_file_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import adds_as_table
from headgate.table.read.snapshot import Snapshot

_COUNTED_FILES = 2_000


@dataclass(frozen=True, slots=True)
class DmlTarget:
    """A snapshot of the table, and of its files those that may have rows which ``predicate`` selects."""

    spark: SparkSession
    table: OpenedTable
    base: Snapshot
    columns: ScanColumns
    predicate: Predicate
    bounds: FileBounds
    reads: ReadSet = BLIND
    """What else was read of the table."""

    @property
    def files(self) -> pa.Table:
        """The files, one a row."""
        return self.bounds.files

    @property
    def metadata(self) -> Metadata:
        return self.base.state.metadata

    @property
    def own(self) -> InternalNames:
        """The names of what is said of rows beside the table's columns."""
        return self.columns.own

    def beside(self, source: Struct) -> "DmlTarget":
        """The same, with names of our own that are free beside these columns too."""
        return replace(
            self, columns=replace(self.columns, named=internal_names.free_names(self.columns.schema, source))
        )

    @property
    def names(self) -> list[str]:
        """The names of the table's columns."""
        return [field.name for field in self.columns.schema.fields]

    @property
    def tracked(self) -> tuple[Field, ...]:
        """The columns of files that keep what rows were before they were moved; none if nobody asks."""
        return tuple(Field(name, Primitive("long")) for name in self.columns.tracked)

    def has(self, switch: str) -> bool:
        """Whether a property of the table is true."""
        return property_values.flag(self.metadata, switch)

    def wholly(self) -> pa.BooleanArray:
        """For each file whether all of its rows are known to be selected."""
        return full_matches.full_match_mask(self.bounds, self.predicate)

    def without(self, left_out: pa.BooleanArray) -> "DmlTarget":
        """The same without some files."""
        return replace(self, bounds=self.bounds.only(pc.invert(left_out)))

    def rows(self, *, selected: bool = False) -> DataFrame:
        """The rows of the files, each with its position and index, and its id if rows are tracked.

        Of those that the predicate does not select some may be missing if only the others are ``selected``.
        """
        return self.rows_of(self.files, located=True, wanted=self.predicate if selected else Always())

    def max_row_count(self) -> int | None:
        """How many rows the files have together, if that is known and does not take long to find out."""
        if self.files.num_rows > _COUNTED_FILES or cluster_replay.is_needed(self.table, self.base):
            return None
        found = _adds_from_columns(self.base, frozenset(self.files["path"].to_pylist())).values()
        known = [count for count in map(live_row_count, found) if count is not None]
        return sum(known) if len(known) == self.files.num_rows else None

    def rows_of(
        self, files: pa.Table, *, located: bool = False, wanted: Predicate | None = None
    ) -> DataFrame:
        """The rows of some files, live or not; some that are not ``wanted`` may be missing."""
        columns = replace(self.columns, located=located)
        return scan.rows(self.spark, self.table, columns, files, wanted=wanted)

    def files_maybe_selected(self, adds: Sequence[AddFile]) -> list[AddFile]:
        """Those of some files that may have a row which the predicate selects."""
        physical = column_mapping.physical_paths(self.columns.schema, self.columns.mode)
        partitioned = self.metadata.partition_columns
        bounds = FileBounds(adds_as_table(adds), partition_columns=partitioned, physical=physical)
        kept = data_skipping.keep_mask(bounds, self.predicate).to_pylist()
        return [add for add, keeps in zip(adds, kept, strict=True) if keeps]

    def adds(self, paths: Iterable[str]) -> Mapping[str, AddFile]:
        """What the log says of some live files, as far as it takes to add them once more."""
        wanted = frozenset(paths)
        if not wanted:
            return {}
        found = (
            {} if cluster_replay.is_needed(self.table, self.base) else _adds_from_columns(self.base, wanted)
        )
        told = wanted <= found.keys() and all(add.stats is not None for add in found.values())
        # The live files do not say everything: tags and who clustered a file are in the log only.
        if not told or self.base.state.protocol.has("clustering"):
            found = {**found, **full_file_actions.adds_by_path(self.table, self.base, wanted)}
        return found


def find_target(spark: SparkSession, table: OpenedTable, base: Snapshot, predicate: Predicate) -> DmlTarget:
    """The target of a statement about rows that ``predicate`` selects."""
    metadata = base.state.metadata
    table_features.check_writable(base.state.protocol, metadata)
    tracked = property_values.flag(metadata, property_values.ROW_TRACKING)
    columns = scan.scan_columns(metadata, row_ids=tracked)
    _, bounds = scan.select_files(spark, table, base, columns, predicate)
    return DmlTarget(spark, table, base, columns, predicate, bounds())


def check_not_append_only(base: Snapshot, statement: str) -> None:
    """Refuse a statement that changes rows of a table to which rows are only added."""
    if property_values.flag(base.state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            f"the table is append-only (its property {property_values.APPEND_ONLY} is true), so {statement} "
            "cannot change or delete its rows: append instead, or unset the property",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )


def live_row_count(add: AddFile) -> int | None:
    """How many rows of a file are not deleted, if its statistics tell."""
    records = record_counts.counts_of_file(add).num_records
    hidden = 0 if add.deletion_vector is None else add.deletion_vector.cardinality
    return None if records is None else records - hidden


def remove_action(add: AddFile, now: EpochMillis) -> RemoveFile:
    """The action that takes a file away."""
    return RemoveFile(
        path=add.path,
        deletion_timestamp=now,
        data_change=True,
        extended_file_metadata=True,
        partition_values=add.partition_values,
        size=add.size,
        tags=add.tags,
        deletion_vector=add.deletion_vector,
        base_row_id=add.base_row_id,
        default_row_commit_version=add.default_row_commit_version,
    )


def _adds_from_columns(base: Snapshot, wanted: frozenset[str]) -> dict[str, AddFile]:
    live = base.files.columns
    rows = live.filter(pc.is_in(live["path"], pa.array(wanted, pa.string()))).to_pylist()
    return {row["path"]: add_action(row) for row in rows}


def add_action(row: Mapping[str, object]) -> AddFile:
    """The add action of a row of ``table.files``, without what only the log has."""
    vector, values = row["deletion_vector"], row["partition_values"]
    return AddFile(
        path=str(row["path"]),
        partition_values=dict(values) if isinstance(values, list) else {},
        size=msgspec.convert(row["size"], int),
        modification_time=EpochMillis(msgspec.convert(row["modified_ms"], int)),
        data_change=True,
        stats=msgspec.convert(row.get("stats"), str | None),
        deletion_vector=DeletionVector(**vector) if isinstance(vector, dict) else None,
        base_row_id=msgspec.convert(row["base_row_id"], int | None),
        default_row_commit_version=msgspec.convert(row["default_row_commit_version"], int | None),
    )
