"""What a literal says: its day, its instant, what the wall shows.

Only texts that Spark reads in one way are read; years before 1900 only in zones that are a
fixed offset, because time zone databases differ there.
"""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

from headgate.protocol.predicates.tree import Value

Literal = Value | None
"""A literal; a datetime with a zone is an instant, one without is what the wall shows."""

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(\.\d{1,6})?(Z|UTC|[+-](?:(?:0\d|1[0-7]):[0-5]\d|18:00))?)?",
    re.ASCII,
)
"""Offsets up to 18 hours, as Spark has them: a text with another one is null there, or an error."""


def literal_kind(literal: Value) -> str:
    """Literals of one kind compare alike."""
    match literal:
        case bool():
            return "boolean"
        case int() | Decimal():
            return "exact"
        case float():
            return "double"
        case str():
            return "text"
        case datetime():
            return "instant" if literal.tzinfo is not None else "wall"
        case date():
            return "day"


def parse_time_zone(name: str) -> tzinfo | None:
    """The time zone of a Spark session; None if it is not understood."""
    if name.upper() in ("UTC", "GMT", "Z", "ETC/UTC"):
        return UTC
    if offset := _OFFSET.fullmatch(name):
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def parse_timestamp(text: str, session: tzinfo | None) -> datetime | None:
    """The instant a timestamp text stands for; None if Spark might read it otherwise."""
    shown = _parse(text)
    if shown is None or shown.tzinfo is not None:
        return shown
    return _utc_instant(shown, session)


def parse_timestamp_ntz(text: str) -> datetime | None:
    """The timestamp without a zone that a text stands for."""
    shown = _parse(text)
    return None if shown is None or shown.tzinfo is not None else shown


def parse_date(text: str) -> date | None:
    """The day a text stands for."""
    shown = parse_timestamp_ntz(text)
    return shown.date() if shown is not None and len(text) == 10 else None


def as_timestamp(literal: str | date, session: tzinfo | None) -> datetime | None:
    """The instant a literal becomes beside a timestamp, as UTC without a zone."""
    match literal:
        case str():
            found = parse_timestamp(literal, session)
        case datetime():
            found = literal if literal.tzinfo is not None else _utc_instant(literal, session)
        case date():
            found = _utc_instant(datetime.combine(literal, datetime.min.time()), session)
    try:
        return None if found is None else found.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None


def as_timestamp_ntz(literal: str | date, session: tzinfo | None) -> datetime | None:
    """What the wall shows of a literal that stands beside a timestamp without a zone."""
    match literal:
        case str():
            return parse_timestamp_ntz(literal)
        case datetime() if literal.tzinfo is None:
            return literal
        case datetime():
            # Elsewhere the wall does not go forward with time.
            if not isinstance(session, timezone):
                return None
            try:
                return literal.astimezone(session).replace(tzinfo=None)
            except OverflowError:
                return None
        case date():
            return datetime.combine(literal, datetime.min.time())


def _utc_instant(shown: datetime, session: tzinfo | None) -> datetime | None:
    """When the wall shows this; None where time zone databases may disagree."""
    if session is None or (shown.year < 1900 and not isinstance(session, timezone)):
        return None
    try:
        instant = shown.replace(tzinfo=session).astimezone(UTC)
        exists = instant.astimezone(session).replace(tzinfo=None) == shown
    except OverflowError:
        return None
    return instant if exists else None


def _parse(text: str) -> datetime | None:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    offset = (found[4] or "").replace("UTC", "Z")
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2] or '00:00:00'}{found[3] or ''}{offset}")
    except ValueError:
        return None
