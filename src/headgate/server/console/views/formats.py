"""How are numbers and moments written for people? With commas, in powers of 1024, in UTC."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from headgate.calls.summary import size_text

_SPANS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_LONGEST_MS = 253_402_300_799_999
UNKNOWN = "–"


def count(number: float | None) -> str:
    """A number of things."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def things(number: float, thing: str) -> str:
    """So many things, in the plural where it is due: ``1 row``, ``2 rows``."""
    return f"{count(number)} {thing}" if number == 1 else f"{count(number)} {thing}s"


def size(number: int | None) -> str:
    """A number of bytes: ``17.2 MiB``."""
    return UNKNOWN if number is None else size_text(number)


def moment(millis: int | None) -> str:
    """A moment: ``2026-11-18 14:12:09 UTC``."""
    if millis is None or not 0 <= millis <= _LONGEST_MS:
        return UNKNOWN
    return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def iso(millis: int | None) -> str:
    """A moment as programs read it: ``2026-11-18T14:12:09.123Z``; nothing if no calendar has it."""
    if millis is None or not 0 <= millis <= _LONGEST_MS:
        return ""
    text = datetime.fromtimestamp(millis / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def ago(millis: int | None, now_ms: int) -> str:
    """How long ago a moment was: ``3 min ago``."""
    if millis is None or not 0 <= millis <= _LONGEST_MS:
        return UNKNOWN
    passed = now_ms - millis
    return "just now" if passed < 1_000 else f"{duration(passed)} ago"


def duration(millis: float | None) -> str:
    """A span of time, by its largest unit: ``4 h``."""
    if millis is None:
        return UNKNOWN
    span = next(((length, unit) for length, unit in _SPANS if abs(millis) >= length), None)
    return f"{millis:.0f} ms" if span is None else f"{millis / span[0]:.0f} {span[1]}"


def plain(value: Any) -> Any:
    """A value of frozen parts as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
