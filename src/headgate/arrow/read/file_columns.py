"""Where in a data file is a column of the table, and what are its values there?

By its physical name, or where the table maps columns by id, by the field id of parquet. What the file does
not store is null, unless it is a partition column: its value is in the log.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa

from headgate.arrow import arrow_types, char_varchar, column_fit
from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.errors import UnsupportedFeature
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import column_mapping, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import DataType, Field, Primitive, Struct, describe_type

_EPOCH = datetime(1970, 1, 1)
_INTEGERS = ("byte", "short", "integer", "long")


@dataclass(frozen=True, slots=True)
class StoredColumns:
    """The columns of a table, and how files and the log know them."""

    schema: Struct
    mode: ColumnMappingMode
    partitioned_by: frozenset[str]

    def is_partition(self, field: Field) -> bool:
        """Whether a column has one value per file, which is in the log."""
        return field.name.lower() in self.partitioned_by

    def place(self, field: Field, file: Sequence[pa.Field], path: str) -> int | None:
        """Where a column, or a part of one, is among those that the file at ``path`` has."""
        return column_mapping.find_field(field, file, self.mode, path)

    def constant(self, field: Field, values: Mapping[str, str | None], count: int) -> pa.ChunkedArray:
        """A partition column of a file with ``count`` rows and these partition values."""
        wanted = arrow_types.arrow_type(field.type, field.name)
        text = values.get(column_mapping.physical_name(field, self.mode))
        known = partition_values.canonical_text(text, field.type)
        value = None if known is None else _value(known, field.type)
        filled = pa.nulls(count, wanted) if value is None else pa.repeat(_scalar(value, wanted), count)
        return char_varchar.pad(pa.chunked_array([filled], wanted), field)

    def fitted(self, column: pa.ChunkedArray, field: Field, path: str) -> pa.ChunkedArray:
        """A column of a file in the type of the table."""
        try:
            return char_varchar.pad(
                column_fit.fit_column(column, field, partial(self.place, path=path)), field
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as exc:
            raise UnsupportedFeature(
                f"column {field.name!r} is {column.type} in the data file {path}, which cannot be read as "
                f"{describe_type(field.type)} without Spark ({exc}): use table.read()",
                code=NEEDS_SPARK, features=(field.name,), operation="read",
            ) from exc  # fmt: skip


def stored_columns(metadata: Metadata) -> StoredColumns:
    """The columns of a table."""
    return StoredColumns(
        schema_json.parse(metadata.schema_string),
        column_mapping.mapping_mode(metadata),
        frozenset(name.lower() for name in metadata.partition_columns),
    )


def _value(text: str, data_type: DataType) -> Any:
    """What a canonical text stands for; moments as microseconds since 1970."""
    match data_type:
        case Primitive("boolean"):
            return property_values.is_true(text)
        case Primitive(name) if name in _INTEGERS:
            return int(text)
        case Primitive("float" | "double"):
            return float(text)
        case Primitive("date"):
            return date.fromisoformat(text)
        case Primitive("timestamp" | "timestamp_ntz"):
            return (datetime.fromisoformat(text.removesuffix("Z")) - _EPOCH) // timedelta(microseconds=1)
        case Primitive("binary"):
            return text.encode()
        case Primitive("string"):
            return text
        case _:
            return Decimal(text)


def _scalar(value: Any, wanted: pa.DataType) -> pa.Scalar:
    if pa.types.is_timestamp(wanted):
        return pa.scalar(value, pa.int64()).cast(wanted)
    return pa.scalar(value, wanted)
