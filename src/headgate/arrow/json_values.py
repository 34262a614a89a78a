"""How is a value of a row written in JSON? As the command line prints it, and the console shows it.

Decimal("1.50") → 1.50      float("nan") → "nan"      a moment → "2026-01-31T00:00:00Z"
"""

import math
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa


def json_scalar(value: Any) -> Any:
    """The value as JSON has it, without losing a digit."""
    match value:
        case bytes():
            return b64encode(value).decode()
        case Decimal():
            return msgspec.Raw(format(value, "f").encode())
        case float() if not math.isfinite(value):
            return str(value)
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case _:
            return value


def json_value(value: Any, kind: pa.DataType) -> Any:
    """A value as JSON has it: moments with their zone, bytes in base64, what is no number as a text."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: json_value(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, Mapping) else value
        return {_key(key, kind.key_type): json_value(item, kind.item_type) for key, item in pairs}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [json_value(item, kind.value_type) for item in value]
    return json_scalar(value)


def _key(value: Any, kind: pa.DataType) -> str:
    plain = json_value(value, kind)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
