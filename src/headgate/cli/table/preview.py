"""What are some rows of a table, for a console? JSON of each, read without Spark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from headgate.arrow.json_values import json_scalar
from headgate.errors import UnsupportedFeature
from headgate.lake.table import Table
from headgate.protocol.actions import Metadata
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Map, Primitive, Struct

_ENCODER = msgspec.json.Encoder()
_VARIANT = Primitive("variant")
"""The type that only Spark reads."""


@dataclass(frozen=True, slots=True)
class RowsRequest:
    """Which rows are wanted."""

    limit: int
    columns: tuple[str, ...] | None = None
    where: str | None = None
    version: int | None = None


def first_rows(table: Table, count: int) -> Iterator[bytes]:
    """Up to ``count`` rows, each an object with all columns; a column that cannot be read here says why."""
    return read_rows(table, RowsRequest(count))[1]


def read_rows(table: Table, asked: RowsRequest) -> tuple[tuple[str, ...], Iterator[bytes]]:
    """The names of the columns, and the rows that are wanted, each an object with these columns."""
    schema = schema_json.parse(_metadata(table, asked.version).schema_string)
    wanted = [field for field in schema.fields if asked.columns is None or field.name in asked.columns]
    unreadable = {field.name: f"<{_VARIANT.name}>" for field in wanted if field.type == _VARIANT}
    named = tuple(field.name for field in wanted) if asked.columns is None else asked.columns
    names = [name for name in named if name not in unreadable]
    if not names:
        raise UnsupportedFeature(
            "no column of the table can be read without Spark: use headgate sql", operation="read"
        )
    rows = table.to_arrow(names, where=asked.where, limit=asked.limit, version=asked.version)
    kinds = {field.name: field.type for field in schema.fields}
    return named, (_encoded(row, named, kinds, unreadable) for row in rows.to_pylist())


def _metadata(table: Table, version: int | None) -> Metadata:
    if version is None:
        return table.log.describe().metadata
    return table.log.snapshot(version=version).state.metadata


def _encoded(
    row: Mapping[str, Any],
    names: Sequence[str],
    kinds: Mapping[str, DataType],
    unreadable: Mapping[str, str],
) -> bytes:
    return _ENCODER.encode(
        {name: unreadable[name] if name in unreadable else _plain(row[name], kinds[name]) for name in names}
    )


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
            return json_scalar(value)


def _pairs(value: Any) -> Any:
    return value.items() if isinstance(value, Mapping) else value


def _key(value: Any) -> str:
    return value if isinstance(value, str) else _ENCODER.encode(value).decode()
