"""What a parquet footer says of a file's columns: the statistics of its add action.

Only the end of the file is fetched. Chunks are matched to columns by position, because a
footer's dotted paths cannot tell a column ``a.b`` from the field ``b`` of ``a``.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct, leaf_columns
from headgate.protocol.stats import file_stats
from headgate.protocol.stats.file_stats import ColumnStats
from headgate.storage.store import Store

_TAIL = 64 * 1024
_TRAILER = 8
_MAGIC = b"PAR1"
_EXACT = Context(prec=100)
_REBASED = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")

Leaf = tuple[tuple[str, ...], Primitive]


def read(store: Store, path: str) -> pq.FileMetaData | None:
    """The footer of a file, in one request unless it is very long; None if it is no whole parquet file."""
    tail = store.read(path, last=_TAIL)
    if tail[-4:] != _MAGIC:
        return None
    length = int.from_bytes(tail[-_TRAILER:-4], "little") + _TRAILER
    if length > len(tail):
        tail = store.read(path, last=length)
    return pq.read_metadata(pa.BufferReader(tail[-length:]))


def render_stats(
    footer: pq.FileMetaData, schema: Struct, indexed: Collection[tuple[str, ...]] | None = None
) -> str:
    """The ``stats`` string of a file that has just the columns of ``schema``, under these names.

    Only columns at the paths ``indexed`` are in it, else the first few; none inside lists or maps.
    """
    columns = [leaf for field in schema.fields for leaf in _parquet_leaves((field.name,), field.type)]
    if len(columns) != footer.num_columns:
        return file_stats.render(footer.num_rows, ())
    if indexed is None:
        indexed = {path for path, _ in islice(leaf_columns(schema), file_stats.DEFAULT_INDEXED_COLUMNS)}
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    rebased = any(key in (footer.metadata or {}) for key in _REBASED)
    return file_stats.render(
        footer.num_rows,
        (
            _column_stats([group.column(position) for group in groups], leaf, rebased=rebased)
            for position, leaf in enumerate(columns)
            if leaf is not None and leaf[0] in indexed
        ),
    )


def _parquet_leaves(path: tuple[str, ...], data_type: DataType) -> Iterator[Leaf | None]:
    """The leaf columns of parquet, in order; None where a leaf has not one value per row."""
    match data_type:
        case Primitive("variant"):
            yield None  # its value; its metadata is there wherever it is not null
            yield path, data_type
        case Primitive():
            yield path, data_type
        case Struct(fields):
            for field in fields:
                yield from _parquet_leaves((*path, field.name), field.type)
        case Array(element, _):
            yield from (None for _ in _parquet_leaves(path, element))
        case Map(key, value, _):
            yield from (None for part in (key, value) for _ in _parquet_leaves(path, part))


def _column_stats(chunks: Sequence[pq.ColumnChunkMetaData], leaf: Leaf, *, rebased: bool) -> ColumnStats:
    path, data_type = leaf
    nulls = _nulls(chunks)
    # Legacy calendars shift old dates in the file but not in the table.
    shifted = rebased and data_type.name in ("date", "timestamp")
    if shifted or not file_stats.has_bounds(data_type):
        return ColumnStats(path, data_type, nulls=nulls)
    bounds = [_bounds(chunk, data_type) for chunk in chunks if not _all_null(chunk)]
    if not bounds or any(bound is None for pair in bounds for bound in pair):
        return ColumnStats(path, data_type, nulls=nulls)
    return ColumnStats(path, data_type, min(low for low, _ in bounds), max(high for _, high in bounds), nulls)


def _nulls(chunks: Sequence[pq.ColumnChunkMetaData]) -> int | None:
    known = [chunk.statistics for chunk in chunks]
    if any(found is None or not found.has_null_count for found in known):
        return None
    return sum(int(found.null_count) for found in known)


def _all_null(chunk: pq.ColumnChunkMetaData) -> bool:
    found = chunk.statistics
    return bool(found is not None and found.has_null_count and found.null_count == chunk.num_values)


def _bounds(chunk: pq.ColumnChunkMetaData, data_type: Primitive) -> tuple[Any, Any]:
    found = chunk.statistics
    if found is None or not found.has_min_max:
        return None, None
    return _value(found.min_raw, data_type.name), _value(found.max_raw, data_type.name)


def _value(raw: Any, type_name: str) -> Any:
    """The value that parquet's own encoding stands for; None if Python has no such value."""
    try:
        match type_name:
            case "string":
                return raw.decode()
            case "float" | "double":
                return None if math.isnan(raw) else raw
            case "date":
                return date(1970, 1, 1) + timedelta(days=raw)
            case "timestamp":
                return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=raw)
            case "timestamp_ntz":
                return datetime(1970, 1, 1) + timedelta(microseconds=raw)
            case name if name.startswith("decimal"):
                unscaled = raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)
                return Decimal(unscaled).scaleb(-_scale(name), _EXACT)
            case _:
                return raw
    except (OverflowError, UnicodeDecodeError):
        return None


def _scale(decimal: str) -> int:
    return int(decimal.rstrip(")").rpartition(",")[2])
