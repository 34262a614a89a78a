"""The file actions of a version with everything the log says of them, which live files need not have."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.actions import AddFile
from headgate.protocol.log import checkpoint_schema, log_retention
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.upkeep import checkpoint_rows
from headgate.table.upkeep.checkpoint_rows import CheckpointInput, RowBatch


def all_live_adds(table: OpenedTable, base: Snapshot) -> Iterator[AddFile]:
    """Those of all live files."""
    for batch in _batches(table, base):
        if batch.column == "add":
            yield from map(_add, batch.rows.to_pylist())


def adds_by_row_ids(table: OpenedTable, base: Snapshot, *, with_ids: bool) -> Iterator[AddFile]:
    """The live files that have row ids, or those that have none."""
    for batch in _batches(table, base):
        if batch.column == "add":
            found = pc.is_valid(pc.struct_field(batch.rows, "baseRowId"))
            wanted = batch.rows.filter(found if with_ids else pc.invert(found))
            yield from map(_add, wanted.to_pylist())


def adds_by_path(table: OpenedTable, base: Snapshot, paths: frozenset[str]) -> Mapping[str, AddFile]:
    """Those of some live files, by their paths."""
    wanted = pa.array(paths, pa.string())
    found: dict[str, AddFile] = {}
    for batch in _batches(table, base):
        if batch.column == "add":
            rows = batch.rows.filter(pc.is_in(pc.struct_field(batch.rows, "path"), wanted))
            found.update((add.path, add) for add in map(_add, rows.to_pylist()))
    return found


def has_deletion_vectors(table: OpenedTable, base: Snapshot) -> bool:
    """Whether a live file, or one removed so recently that it is kept, has a deletion vector."""
    return any(
        pc.any(pc.is_valid(pc.struct_field(batch.rows, "deletionVector"))).as_py()
        for batch in _batches(table, base)
    )


def _batches(table: OpenedTable, base: Snapshot) -> Iterator[RowBatch]:
    segment, frontier = table.segment(base.version)
    asked = log_retention.log_settings(base.state.protocol, base.state.metadata)
    columns = replace(checkpoint_schema.file_columns(base.state.metadata, asked), json=True, typed=False)
    expired = table.guard.now_ms() - asked.tombstone_retention_ms
    return checkpoint_rows.file_rows(
        CheckpointInput(table.store, segment, frontier), columns, expired_before=expired
    )


def _add(row: dict[str, Any]) -> AddFile:
    maps = {name: None if row[name] is None else dict(row[name]) for name in ("partitionValues", "tags")}
    return msgspec.convert({**row, **maps}, AddFile)
