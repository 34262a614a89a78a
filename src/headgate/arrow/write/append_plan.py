"""How are rows of these columns appended to this table? Worked out once, for all batches that look alike.

Whoever holds a table keeps the last plans (``append_plan_cache.py``).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from headgate.arrow import arrow_types, column_fit
from headgate.arrow.expressions import RowContext
from headgate.arrow.write import fill_columns, lossless_casts, new_files, row_rules
from headgate.arrow.write.fill_columns import ColumnFill, FillInput
from headgate.arrow.write.new_files import FileShape
from headgate.arrow.write.row_rules import RowRule
from headgate.clock import World
from headgate.protocol.actions import Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering, identity_columns
from headgate.protocol.metadata.implicit_changes import MetadataOutcome, WriteIntent
from headgate.protocol.metadata.stored_expressions import GENERATED
from headgate.protocol.schema import enforcement, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import Path
from headgate.protocol.schema.types import Struct
from headgate.table.commit import prepared_write
from headgate.table.commit.prepared_write import PreparedWrite
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a plan depends on besides the table."""

    incoming: pa.Schema
    merges: bool
    partition_by: tuple[str, ...]
    cluster_by: tuple[str, ...] | None
    casts: bool = False


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """What becomes of rows, and of the metadata of the table."""

    prepared: PreparedWrite
    schema: Struct
    fills: tuple[ColumnFill, ...]
    rules: tuple[RowRule, ...]
    shape: FileShape
    emptied: tuple[str, ...]
    """The partition columns of which the log does not tell an empty value from null."""

    def at(self, base: Snapshot) -> "AppendPlan":
        """The same for another version of a table whose metadata is the same."""
        known = self.prepared
        prepared = PreparedWrite(base, known.planned, known.metadata, known.protocol)
        return replace(self, prepared=prepared)

    @property
    def keeps_metadata(self) -> bool:
        return self.prepared.planned.outcome is MetadataOutcome.KEEP

    def table_rows(self, rows: pa.Table, now_micros: int) -> pa.Table:
        """The rows with all columns of the table that can have values; refused if one breaks a rule."""
        identities = identity_columns.columns_of_schema(self.schema)
        given = FillInput(rows, identities, now_micros)
        columns = dict(fill_columns.fill_columns(self.fills, given))
        for name in self.emptied:
            columns[name] = column_fit.empty_as_null(columns[name])
        row_rules.check_rows(self.rules, RowContext(columns, rows.num_rows, now_micros))
        return pa.table(columns)


def make_plan(world: World, base: Snapshot, asked: PlanRequest, zone: Callable[[], str]) -> AppendPlan:
    """What an append does; raises if it cannot be."""
    brought = enforcement.check_row_schema(arrow_types.log_schema(asked.incoming))
    wish = WriteIntent(brought, asked.partition_by, can_merge=asked.merges, casts=asked.casts)
    prepared = prepared_write.plan_metadata_change(world, base, wish)
    metadata = prepared.metadata
    schema = schema_json.parse(metadata.schema_string)
    identity_columns.check_explicit_inserts(brought, schema)
    _check_same_clustering(prepared, asked)
    if asked.casts:
        lossless_casts.check_castable(brought, schema)
    fills, computed = fill_columns.plan_fills(schema, asked.incoming, zone)
    rules = row_rules.plan_rules(schema, metadata, computed, zone)
    shape = new_files.file_shape(metadata, schema, clustering_of(base))
    return AppendPlan(prepared, schema, fills, rules, shape, _emptied(schema, metadata))


def _emptied(schema: Struct, metadata: Metadata) -> tuple[str, ...]:
    fields = (schema.find(name) for name in metadata.partition_columns)
    return tuple(
        field.name
        for field in fields
        if field is not None and GENERATED not in field.metadata
        if partition_values.has_empty_values(field.type)
    )


def clustering_of(base: Snapshot) -> tuple[Path, ...]:
    return tuple(lifecycle.clustering_columns(base.state.domains))


def _check_same_clustering(prepared: PreparedWrite, asked: PlanRequest) -> None:
    if asked.cluster_by is not None:
        columns = clustering.physical_columns(asked.cluster_by, prepared.metadata)
        lifecycle.check_same_clustering(prepared.base.state.domains, columns)
