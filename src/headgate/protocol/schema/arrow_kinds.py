"""Which types of Arrow are those of the log that have no parts, and which of Arrow's types are lists?

Decimals are not in the table, because Arrow's have a precision and a scale.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pyarrow as pa

PRIMITIVES: Mapping[str, pa.DataType] = MappingProxyType(
    {
        "boolean": pa.bool_(),
        "byte": pa.int8(),
        "short": pa.int16(),
        "integer": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestamp_ntz": pa.timestamp("us"),
    }
)
_LISTS: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
"""Parquet has one kind of list, which a writer may have noted as any of these."""


def is_list(found: pa.DataType) -> bool:
    """Whether it is one of Arrow's lists."""
    return any(is_kind(found) for is_kind in _LISTS)
