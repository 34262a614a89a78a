"""What are the columns of a parquet file, in the log's types?

The types are those of parquet itself, not what its writer noted for readers of its own kind: all engines see
only those. A type that some engine reads as another, or not at all, is refused. The rows are in ``TYPES``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from headgate.errors import UnsupportedFeature
from headgate.protocol.schema import arrow_kinds
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

Annotation = Mapping[str, Any]
_UNBOUNDED = Primitive("binary")
"""A type without bounds, which stands for columns whose bounds cannot be trusted."""
_TRUSTED_WRITER = "parquet-mr"
"""The writer whose bounds are left out where a column has a NaN; others ignore it."""


@dataclass(frozen=True, slots=True)
class ParquetType:
    """A physical type and an annotation of parquet, and what a column of them is."""

    physical: str
    annotation: str
    means: Callable[[Annotation], str | None]
    """The log's type; None if some engine could not read it."""
    bounds: bool = True
    """Whether the bounds in a footer can be taken as they are."""


def _type_name(name: str) -> Callable[[Annotation], str | None]:
    return lambda _: name


def _integer(found: Annotation) -> str | None:
    return (
        {8: "byte", 16: "short", 32: "integer", 64: "long"}[found["bitWidth"]] if found["isSigned"] else None
    )


def _decimal(found: Annotation) -> str | None:
    precision = int(found["precision"])
    return f"decimal({precision},{int(found['scale'])})" if precision <= 38 else None


def _timestamp(found: Annotation) -> str | None:
    if found["timeUnit"] == "nanoseconds":
        return None
    return "timestamp" if found["isAdjustedToUTC"] else "timestamp_ntz"


TYPES: tuple[ParquetType, ...] = (
    ParquetType("BOOLEAN", "None", _type_name("boolean")),
    ParquetType("INT32", "None", _type_name("integer")),
    ParquetType("INT32", "Int", _integer),
    ParquetType("INT32", "Date", _type_name("date")),
    ParquetType("INT32", "Decimal", _decimal),
    ParquetType("INT64", "None", _type_name("long")),
    ParquetType("INT64", "Int", _integer),
    ParquetType("INT64", "Decimal", _decimal),
    ParquetType("INT64", "Timestamp", _timestamp),
    ParquetType("INT96", "None", _type_name("timestamp"), bounds=False),
    ParquetType("FLOAT", "None", _type_name("float")),
    ParquetType("DOUBLE", "None", _type_name("double")),
    ParquetType("BYTE_ARRAY", "None", _type_name("binary")),
    ParquetType("BYTE_ARRAY", "String", _type_name("string")),
    ParquetType("BYTE_ARRAY", "Enum", _type_name("string")),
    ParquetType("BYTE_ARRAY", "JSON", _type_name("string")),
    ParquetType("BYTE_ARRAY", "BSON", _type_name("binary")),
    ParquetType("BYTE_ARRAY", "Decimal", _decimal),
    ParquetType("FIXED_LEN_BYTE_ARRAY", "Decimal", _decimal),
)
_BY_TYPE = {(row.physical, row.annotation): row for row in TYPES}


def footer_schema(footer: pq.FileMetaData, path: str) -> Struct:
    """The columns of a file, all nullable; refused by name if it has one that not everybody can read."""
    parquet = footer.schema
    leaves = iter([_leaf(parquet.column(number), path) for number in range(footer.num_columns)])
    return _struct(parquet.to_arrow_schema(), leaves)


def footer_schema_with_bounds(footer: pq.FileMetaData, path: str) -> Struct:
    """The same columns, where those whose bounds in the footer may be wrong have a type without bounds."""
    parquet = footer.schema
    careful = (footer.created_by or "").startswith(_TRUSTED_WRITER)
    leaves = []
    for number in range(footer.num_columns):
        found = parquet.column(number)
        leaf = _leaf(found, path)
        uncertain = leaf.name in ("float", "double") and not careful
        leaves.append(_UNBOUNDED if uncertain or not _has_bounds(found) else leaf)
    return _struct(parquet.to_arrow_schema(), iter(leaves))


def _leaf(column: pq.ColumnSchema, path: str) -> Primitive:
    annotation = _annotation(column)
    row = _BY_TYPE.get((column.physical_type, annotation["Type"]))
    name = row.means(annotation) if row is not None else None
    if name is None:
        raise UnsupportedFeature(
            f"the column {column.path!r} of {path!r} is {column.physical_type} ({column.logical_type}) in "
            "parquet, which not every Delta client can read: write the file anew with another type, such as "
            "microseconds for nanoseconds, or a signed integer",
            code="DELTA_UNSUPPORTED_DATA_TYPES",
        )
    return Primitive(name)


def _has_bounds(column: pq.ColumnSchema) -> bool:
    annotation = _annotation(column)
    exact = annotation.get("timeUnit", "microseconds") == "microseconds"
    return exact and _BY_TYPE[column.physical_type, annotation["Type"]].bounds


def _annotation(column: pq.ColumnSchema) -> Annotation:
    found: Annotation = msgspec.json.decode(column.logical_type.to_json())
    return found


def _struct(fields: pa.Schema | pa.StructType, leaves: Iterator[DataType]) -> Struct:
    return Struct(tuple(Field(field.name, _type(field.type, leaves)) for field in fields))


def _type(found: pa.DataType, leaves: Iterator[DataType]) -> DataType:
    if isinstance(found, pa.BaseExtensionType):
        return _type(found.storage_type, leaves)
    if pa.types.is_struct(found):
        return _struct(found, leaves)
    if pa.types.is_map(found):
        key = _type(found.key_type, leaves)
        return Map(key, _type(found.item_type, leaves), value_contains_null=True)
    if arrow_kinds.is_list(found):
        return Array(_type(found.value_type, leaves), contains_null=True)
    return next(leaves)
