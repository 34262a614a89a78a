"""What are the first rows of a table, for a console? JSON of each, read without Spark."""

import math
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from headgate.errors import UnsupportedFeature
from headgate.lake.table import Table
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct

_ENCODER = msgspec.json.Encoder()
_VARIANT = Primitive("variant")
"""The type that only Spark reads."""


def first_rows(table: Table, count: int) -> Iterator[bytes]:
    """Up to ``count`` rows, each an object with all columns; a column that cannot be read here says why."""
    schema = schema_json.parse(table.log.describe().metadata.schema_string)
    unreadable = {field.name: f"<{_VARIANT.name}>" for field in schema.fields if field.type == _VARIANT}
    names = [field.name for field in schema.fields if field.name not in unreadable]
    if not names:
        raise UnsupportedFeature(
            "no column of the table can be read without Spark: use table.read()", operation="read"
        )
    kinds = {field.name: field.type for field in schema.fields}
    for row in table.to_arrow(names, limit=count).to_pylist():
        shown = {name: _plain(value, kinds[name]) for name, value in row.items()}
        whole = {**shown, **unreadable}
        yield _ENCODER.encode({field.name: whole[field.name] for field in schema.fields})


def _plain(value: Any, data_type: DataType) -> Any:
    """A value as JSON has it: moments with their zone, bytes in base64, what is no number as a text."""
    if value is None:
        return None
    match data_type:
        case Struct(fields):
            return {part.name: _plain(value[part.name], part.type) for part in fields}
        case Array(element, _):
            return [_plain(item, element) for item in value]
        case Map(key, item, _):
            return {_key(_plain(one, key)): _plain(other, item) for one, other in _pairs(value)}
        case _:
            return _plain_primitive(value)


def _plain_primitive(value: Any) -> Any:
    match value:
        case bytes():
            return b64encode(value).decode()
        case Decimal():
            return msgspec.Raw(format(value, "f").encode())
        case float() if not math.isfinite(value):
            return str(value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case _:
            return value


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, Mapping) else value


def _key(value: Any) -> str:
    return value if isinstance(value, str) else _ENCODER.encode(value).decode()
