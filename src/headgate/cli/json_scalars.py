"""How is a single value of a row written in JSON? As ``table rows`` and ``sql`` both print it.

Decimal("1.50") → 1.50      float("nan") → "nan"      a moment → "2026-01-31T00:00:00Z"
"""

import math
from base64 import b64encode
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec


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
