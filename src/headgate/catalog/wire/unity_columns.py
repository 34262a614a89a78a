"""How does the older Unity Catalog API spell the columns of a table?

``amount decimal(10,2)`` is ``type_text`` ``decimal(10,2)``, ``type_name`` ``DECIMAL``, precision 10, scale 2,
and ``type_json`` is the field of the schema, as Spark writes it.
"""

from collections.abc import Sequence

import msgspec

from headgate.catalog.wire.unity_api import UnityColumn
from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import type_ddl
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

_TYPE_NAMES = {"integer": "INT"}


def unity_columns(metadata: Metadata) -> tuple[UnityColumn, ...]:
    """The columns of a table."""
    partitioned = {name: index for index, name in enumerate(metadata.partition_columns)}
    return tuple(
        _column(field, position, partitioned.get(field.name))
        for position, field in enumerate(schema_json.parse(metadata.schema_string).fields)
    )


def columns_of_request(columns: Sequence[UnityColumn]) -> Struct:
    """The columns that a client names for a new table, by their ``type_json``."""
    try:
        fields = [msgspec.json.decode(column.type_json) for column in _in_order(columns)]
        return schema_json.parse(msgspec.json.encode({"type": "struct", "fields": fields}).decode())
    except (msgspec.DecodeError, CorruptLog) as exc:
        raise InvalidRequest(
            f"the columns cannot be read ({exc}): each has a type_json with the field as Spark writes it"
        ) from exc


def partition_columns_of_request(columns: Sequence[UnityColumn]) -> tuple[str, ...]:
    """The columns by which a new table is to be partitioned."""
    chosen = [column for column in columns if column.partition_index is not None]
    return tuple(column.name for column in sorted(chosen, key=lambda column: column.partition_index or 0))


def _in_order(columns: Sequence[UnityColumn]) -> list[UnityColumn]:
    return sorted(columns, key=lambda column: column.position or 0)


def _column(field: Field, position: int, partition_index: int | None) -> UnityColumn:
    precision, scale = _decimal_digits(field.type)
    comment = field.metadata.get("comment")
    (value,) = schema_json.to_json_value(Struct((field,)))["fields"]
    return UnityColumn(
        name=field.name,
        type_text=type_ddl.type_text(field.type),
        type_json=msgspec.json.encode(value).decode(),
        type_name=_type_name(field.type),
        type_precision=precision,
        type_scale=scale,
        position=position,
        comment=comment if isinstance(comment, str) else None,
        nullable=field.nullable,
        partition_index=partition_index,
    )


def _type_name(data_type: DataType) -> str:
    match data_type:
        case Primitive(name):
            return _TYPE_NAMES.get(name, name.partition("(")[0].upper())
        case Array():
            return "ARRAY"
        case Map():
            return "MAP"
        case Struct():
            return "STRUCT"


def _decimal_digits(data_type: DataType) -> tuple[int, int]:
    """Precision and scale; 0 and 0 of what is no decimal, as some clients want numbers there."""
    if not isinstance(data_type, Primitive) or not data_type.name.startswith("decimal("):
        return 0, 0
    precision, _, scale = data_type.name.removeprefix("decimal(").rstrip(")").partition(",")
    return int(precision), int(scale or 0)
