"""What does the log say of a new file? How many rows it has, and the bounds and nulls of its columns.

They are worked out from the rows themselves: the footers that pyarrow writes leave NaN out of the bounds of
floats, though NaN is above all numbers. A column that has one gets no bounds.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.schema.types import Primitive, Struct, leaf_columns
from headgate.protocol.stats import file_stats
from headgate.protocol.stats.file_stats import ColumnStats

_EPOCH = {True: datetime(1970, 1, 1, tzinfo=UTC), False: datetime(1970, 1, 1)}


@dataclass(frozen=True, slots=True)
class IndexedLeaf:
    """A column with statistics: its path in files, its type, and its places, level by level."""

    path: tuple[str, ...]
    type: Any
    places: tuple[int, ...]


def indexed_leaves(stored: Struct, indexed: Collection[tuple[str, ...]]) -> tuple[IndexedLeaf, ...]:
    """The columns that have statistics, of those that files store under these names."""
    return tuple(
        IndexedLeaf(path, data_type, tuple(_places(stored, path)))
        for path, data_type in leaf_columns(stored)
        if path in indexed
    )


def render_stats(rows: pa.Table, leaves: Sequence[IndexedLeaf]) -> str:
    """The ``stats`` string of a file with these rows."""
    return file_stats.render(rows.num_rows, (_column_stats(leaf, _values(rows, leaf)) for leaf in leaves))


def _places(stored: Struct, path: tuple[str, ...]) -> Iterator[int]:
    inside: Any = stored
    for name in path:
        place = next(at for at, field in enumerate(inside.fields) if field.name == name)
        yield place
        inside = inside.fields[place].type


def _values(rows: pa.Table, leaf: IndexedLeaf) -> pa.ChunkedArray:
    values = rows.column(leaf.places[0])
    for place in leaf.places[1:]:
        values = pc.struct_field(values, place)  # null where the struct is
    return values


def _column_stats(leaf: IndexedLeaf, values: pa.ChunkedArray) -> ColumnStats:
    nulls = values.null_count
    if nulls == len(values) or not file_stats.has_bounds(leaf.type):
        return ColumnStats(leaf.path, leaf.type, nulls=nulls)
    low, high = _bounds(values, leaf.type)
    return ColumnStats(leaf.path, leaf.type, low, high, nulls)


def _bounds(values: pa.ChunkedArray, data_type: Primitive) -> tuple[Any, Any]:
    is_time = data_type.name in ("timestamp", "timestamp_ntz")
    is_one = len(values) == 1
    if is_time:
        values = values.cast(pa.int64())
    elif not is_one and pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        return None, None
    if is_one:  # as it is of most rows that are appended one by one
        low = high = values[0].as_py()
        if low != low:  # noqa: PLR0124 — NaN alone is not equal to itself
            return None, None
    else:
        found = pc.min_max(values)
        low, high = found["min"].as_py(), found["max"].as_py()
    if not is_time:
        return low, high
    epoch = _EPOCH[data_type.name == "timestamp"]
    try:
        return epoch + timedelta(microseconds=low), epoch + timedelta(microseconds=high)
    except OverflowError:
        return None, None
