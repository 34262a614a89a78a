"""What are the rows of one data file? The columns that are asked for, without deleted rows."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.arrow import arrow_types
from headgate.arrow.read import calendars
from headgate.arrow.read.file_columns import StoredColumns
from headgate.errors import FileDamaged, ObjectNotFound, StorageError
from headgate.protocol import relative_paths
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.schema import arrow_kinds, column_mapping
from headgate.protocol.schema.types import Field
from headgate.storage.local import LocalStore
from headgate.storage.range_file import RangeFile
from headgate.storage.store import Store
from headgate.table.read import file_paths

BATCH_ROWS = 64 * 1024
_WHOLE_BYTES = 4 * 1024 * 1024
"""Up to this size a file of an object store is fetched in one request."""


@dataclass(frozen=True)
class LiveFile:
    """A data file of a version, as the log names it."""

    path: str
    size: int
    partition_values: Mapping[str, str | None]
    deleted: DeletedRows | None = None


@dataclass(frozen=True)
class FileReader:
    """Reads some columns of data files of one table."""

    store: Store
    location: str
    stored: StoredColumns
    wanted: tuple[Field, ...]
    """In which order rows have them."""

    def read(self, file: LiveFile) -> pa.Table:
        """All rows of a file that are live."""
        opened = _OpenFile(self, file)
        return opened.live(opened.read_all(), 0)

    def batches(self, file: LiveFile) -> Iterator[pa.Table]:
        """The same rows, a few at a time."""
        opened = _OpenFile(self, file)
        start = 0
        for rows in opened.read_batches():
            yield opened.live(rows, start)
            start += rows.num_rows

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return pa.schema([pa.field(field.name, self.empty(field).type) for field in self.wanted])

    def empty(self, field: Field) -> pa.ChunkedArray:
        """A column without rows."""
        return self.stored.constant(field, {}, 0) if self.stored.is_partition(field) else absent(field, 0)


def absent(field: Field, count: int) -> pa.ChunkedArray:
    """A column that a file of ``count`` rows does not store."""
    wanted = arrow_types.arrow_type(field.type, field.name)
    return pa.chunked_array([pa.nulls(count, wanted)], wanted)


class _OpenFile:
    """A data file, with where its columns are."""

    def __init__(self, reader: FileReader, file: LiveFile) -> None:
        self._reader = reader
        self._file = file
        self._parquet = _translated(file.path, lambda: _open(reader, file))
        columns = list(self._parquet.schema_arrow)
        column_mapping.check_field_ids(columns, reader.stored.mode, file.path)
        self._places = {
            field.name: None
            if reader.stored.is_partition(field)
            else reader.stored.place(field, columns, file.path)
            for field in reader.wanted
        }
        chosen = sorted({place for place in self._places.values() if place is not None})
        self._position = {place: at for at, place in enumerate(chosen)}
        self._leaves = _leaves(columns, chosen)
        self._old_calendar = calendars.old_calendar(self._parquet.metadata.metadata or {})

    def read_all(self) -> pa.Table:
        if not self._leaves:
            return self._columns(None, self._parquet.metadata.num_rows)
        found = _translated(
            self._file.path,
            lambda: self._parquet.reader.read_all(column_indices=self._leaves, use_threads=True),
        )
        return self._columns(found, found.num_rows)

    def read_batches(self) -> Iterator[pa.Table]:
        if not self._leaves:
            yield self._columns(None, self._parquet.metadata.num_rows)
            return
        groups = list(range(self._parquet.num_row_groups))
        batches = self._parquet.reader.iter_batches(
            BATCH_ROWS, row_groups=groups, column_indices=self._leaves, use_threads=True
        )
        while (batch := _translated(self._file.path, lambda: next(batches, None))) is not None:
            yield self._columns(pa.Table.from_batches([batch]), batch.num_rows)

    def live(self, rows: pa.Table, start: int) -> pa.Table:
        """Those of the rows, of which the first has this index in the file, that are not deleted."""
        deleted = self._file.deleted
        if deleted is None or not deleted.cardinality:
            return rows
        gone = np.frombuffer(deleted.rows.to_array(), np.uint64)
        gone = gone[np.searchsorted(gone, start) : np.searchsorted(gone, start + rows.num_rows)]
        if not len(gone):
            return rows
        kept = np.ones(rows.num_rows, bool)
        kept[(gone - np.uint64(start)).astype(np.int64)] = False
        return rows.filter(pa.array(kept))

    def _columns(self, found: pa.Table | None, count: int) -> pa.Table:
        reader = self._reader
        columns = [self._column(field, found, count) for field in reader.wanted]
        return pa.Table.from_arrays(columns, schema=reader.schema)

    def _column(self, field: Field, found: pa.Table | None, count: int) -> pa.ChunkedArray:
        stored = self._reader.stored
        if stored.is_partition(field):
            return stored.constant(field, self._file.partition_values, count)
        place = self._places[field.name]
        if place is None or found is None:
            return absent(field, count)
        column = stored.fitted(found.column(self._position[place]), field, self._file.path)
        calendars.check_calendar(column, field, self._old_calendar, self._file.path)
        return column


def _leaves(columns: Sequence[pa.Field], chosen: Sequence[int]) -> list[int]:
    """Which leaf columns of parquet the columns at these places are."""
    counts = [_leaf_count(column.type) for column in columns]
    starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
    return [leaf for place in chosen for leaf in range(starts[place], starts[place + 1])]


def _leaf_count(found: pa.DataType) -> int:
    if isinstance(found, pa.BaseExtensionType):
        return _leaf_count(found.storage_type)
    if pa.types.is_dictionary(found):
        return _leaf_count(found.value_type)
    if not pa.types.is_nested(found):
        return 1
    if pa.types.is_map(found):
        return _leaf_count(found.key_type) + _leaf_count(found.item_type)
    if arrow_kinds.is_list(found):
        return _leaf_count(found.value_type)
    return sum(_leaf_count(part.type) for part in found)


def _open(reader: FileReader, file: LiveFile) -> pq.ParquetFile:
    if not file_paths.is_absolute(file.path):
        relative_paths.check_inside_table((file.path,))
    store, path = file_paths.locate_object(reader.store, reader.location, file.path)
    source: Any
    if isinstance(store, LocalStore):
        source = pa.OSFile(os.path.join(store.root, path))
    elif file.size <= _WHOLE_BYTES:
        source = pa.BufferReader(store.read(path))
    else:
        source = pa.PythonFile(RangeFile(store, path), mode="r")
    return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", pre_buffer=True)


def _translated(path: str, work: Any) -> Any:
    try:
        return work()
    except (FileNotFoundError, ObjectNotFound) as exc:
        raise ObjectNotFound(
            f"the data file {path} is not there, though the version that is read has it: it was deleted "
            "without regard to the log, or by a VACUUM with too short a retention. Put it back from a backup "
            "or restore a version that does without it; check() tells what else is missing",
            code="DELTA_FILE_NOT_FOUND", path=path, operation="read",
        ) from exc  # fmt: skip
    except StorageError:
        raise
    except (pa.ArrowException, OSError) as exc:
        raise FileDamaged(
            f"the data file {path} cannot be read: it is not the parquet file that the log says it is "
            f"({exc}). Put it back from a backup or restore a version that does without it; check() tells "
            "what else is damaged",
            path=path, operation="read",
        ) from exc  # fmt: skip
