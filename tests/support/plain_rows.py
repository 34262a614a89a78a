"""Rows as plain values that two processes can compare: hashable, exact, and the same from either Spark.

A struct or an array is a tuple, a map a set of pairs, a variant its JSON; a TIMESTAMP is aware and in UTC, a
TIMESTAMP_NTZ has no zone. :func:`dump` and :func:`load` carry them as JSON.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampType

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Variant:
    """A variant, as JSON with its keys in order."""

    json: str


def plain_rows(frame: DataFrame) -> list[Row]:
    """The rows of a frame as plain values."""
    return [plain(row, frame.schema) for row in frame.collect()]


def plain(value: Any, kind: DataType) -> Any:
    """A value that Spark collected as a column of this type."""
    if value is None:
        return None
    match kind:
        case StructType():
            return tuple(plain(part, field.dataType) for part, field in zip(value, kind.fields, strict=True))
        case ArrayType():
            return tuple(plain(part, kind.elementType) for part in value)
        case MapType():
            pairs = value.items()
            return frozenset((plain(key, kind.keyType), plain(part, kind.valueType)) for key, part in pairs)
        case TimestampType():
            return value.astimezone(UTC)
        case _ if kind.typeName() == "variant":
            return Variant(json.dumps(json.loads(value.toJson()), sort_keys=True))
        case _ if isinstance(value, float) and math.isnan(value):
            return "NaN"  # equal to itself, unlike the number
        case _:
            return bytes(value) if isinstance(value, bytearray) else value


def dump(value: Any) -> Any:
    """A plain value as JSON has it, with its type where JSON has none."""
    match value:
        case tuple():
            return [dump(part) for part in value]
        case frozenset():
            return {"map": [[dump(key), dump(part)] for key, part in value]}
        case Variant():
            return {"variant": value.json}
        case Decimal():
            return {"decimal": str(value)}
        case bytes():
            return {"binary": value.hex()}
        case datetime():
            return {"moment": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case _:
            return value


_LOADED: Mapping[str, Any] = {
    "map": lambda pairs: frozenset((load(key), load(part)) for key, part in pairs),
    "variant": Variant,
    "decimal": Decimal,
    "binary": bytes.fromhex,
    "moment": datetime.fromisoformat,
    "date": date.fromisoformat,
}


def load(value: Any) -> Any:
    """What :func:`dump` was given."""
    if isinstance(value, list):
        return tuple(load(part) for part in value)
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        return _LOADED[kind](content)
    return value
