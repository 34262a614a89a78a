"""The statistics of a data file, as the ``stats`` string of its add action.

Bounds must hold for every row or be absent. So strings are cut to 32 characters with the upper
bound rounded up, timestamps are widened to whole milliseconds, and NaN bounds are left out.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from headgate.protocol.schema.types import DataType, Primitive
from headgate.protocol.stats import record_counts

STRING_PREFIX_LENGTH = 32
DEFAULT_INDEXED_COLUMNS = 32
_ENCODER = msgspec.json.Encoder()
_HIGHEST = "\U0010ffff"
_EPOCH = datetime(1970, 1, 1)

_TYPES_WITH_BOUNDS = frozenset(
    {"byte", "short", "integer", "long", "float", "double", "date", "timestamp", "timestamp_ntz", "string"}
)


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """What is known of one column of one file; ``None`` is unknown."""

    path: tuple[str, ...]
    type: DataType
    minimum: Any = None
    maximum: Any = None
    nulls: int | None = None


def has_bounds(data_type: DataType) -> bool:
    """Whether columns of this type have a minimum and a maximum in ``stats``."""
    return isinstance(data_type, Primitive) and (
        data_type.name in _TYPES_WITH_BOUNDS or data_type.name.startswith("decimal")
    )


def render(rows: int, columns: Iterable[ColumnStats]) -> str:
    """The ``stats`` string of a file with this many rows."""
    minimums: dict[str, Any] = {}
    maximums: dict[str, Any] = {}
    nulls: dict[str, Any] = {}
    for column in columns:
        bounds = _bounds(column)
        if bounds is not None:
            _set_nested(minimums, column.path, bounds[0])
            _set_nested(maximums, column.path, bounds[1])
        if column.nulls is not None:
            _set_nested(nulls, column.path, column.nulls)
    parts = {"numRecords": rows, "minValues": minimums, "maxValues": maximums, "nullCount": nulls}
    return _ENCODER.encode(parts).decode()


def _bounds(column: ColumnStats) -> tuple[Any, Any] | None:
    if not has_bounds(column.type):
        return None
    low, high = _lower(column.minimum), _upper(column.maximum)
    return None if low is None or high is None else (low, high)


def _lower(value: Any) -> Any:
    match value:
        case str():
            return value[:STRING_PREFIX_LENGTH]
        case datetime():
            return _timestamp(value, up=False)
        case date():
            return value.isoformat()
        case float():
            return value if math.isfinite(value) else None
        case Decimal():
            # A plain number: some readers stumble over 1E-10.
            return msgspec.Raw(format(value, "f").encode())
        case bool() | int():
            return value
        case _:
            return None


def _upper(value: Any) -> Any:
    match value:
        case str():
            return _upper_text(value)
        case datetime():
            return _timestamp(value, up=True)
        case _:
            return _lower(value)


def _upper_text(value: str) -> str:
    cut = STRING_PREFIX_LENGTH
    while cut < len(value) and value[cut] == _HIGHEST:
        cut += 1
    # Nothing that starts with the cut text and goes on with a lower character sorts after this.
    return value if cut >= len(value) else value[:cut] + _HIGHEST


def _timestamp(value: datetime, *, up: bool) -> str | None:
    micros = (value.replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1)
    millis = -(-micros // 1000) if up else micros // 1000
    try:
        shown = (_EPOCH + timedelta(milliseconds=millis)).isoformat(timespec="milliseconds")
    except OverflowError:
        return None
    return f"{shown}Z" if value.tzinfo is not None else shown


def _set_nested(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        target = target.setdefault(part, {})
    target[path[-1]] = value


def row_count(stats: str | None) -> int | None:
    """How many rows a ``stats`` string says a file has; None if it cannot be read."""
    return record_counts.parse_counts(stats).num_records
