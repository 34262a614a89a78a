"""What the text of a partition value means.

The log keeps partition values as strings. The canonical text given here is one that a cast
reads alike in every session, time zone included.
"""

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation

from headgate.errors import CorruptLog, InvalidRequest
from headgate.protocol.schema.types import DataType, Primitive, describe_type

_EPOCH = datetime(1970, 1, 1)
_SCALE = re.compile(r"decimal\(\d+,\s*(\d+)\)")
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}


def has_empty_values(data_type: DataType) -> bool:
    """Whether a value of the type can be empty, as ``''`` is: the log does not tell that from null."""
    return data_type in (Primitive("string"), Primitive("binary"))


def canonical_text(text: str | None, data_type: DataType) -> str | None:
    """The value as text that casts to ``data_type``; None for null, which the log also writes as ''.

    A timestamp without a zone is taken as UTC.
    """
    if not text:
        return None
    try:
        return _parsed(text, data_type)
    except (ValueError, InvalidOperation, OverflowError) as exc:
        raise CorruptLog(
            f"the partition value {text!r} is no {describe_type(data_type)}; the writer of the file broke "
            "the log",
            code="DELTA_STATE_RECOVER_ERROR",
        ) from exc


def serialize(text: str | None, data_type: DataType) -> str | None:
    """The value as the log keeps it, given as Spark writes it; a moment comes as microseconds since 1970.

    Moments are written with their zone, UTC: without one some readers take that of their session.
    """
    if not text:
        return None
    if data_type == Primitive("timestamp"):
        moment = _EPOCH + timedelta(microseconds=int(text))
        return f"{moment.isoformat(timespec='microseconds')}Z"
    if data_type == Primitive("timestamp_ntz"):
        return datetime.fromisoformat(text).isoformat(sep=" ", timespec="microseconds")
    if data_type in (Primitive("float"), Primitive("double")):
        return text  # 1.0E10 and NaN as Java has them, which all readers know
    return _parsed(text, data_type)


def decode_text(value: bytes, column: str, data_type: DataType) -> str | None:
    """Bytes in a column of this name as the log keeps them; refused if they are no text."""
    try:
        return value.decode() or None
    except UnicodeDecodeError as exc:
        raise InvalidRequest(
            f"the {describe_type(data_type)} partition column {column!r} has a value that is not "
            "UTF-8, which a log of JSON cannot keep; nothing was committed: partition by another column",
            code="DELTA_UNSUPPORTED_DATA_TYPES",
        ) from exc


def beyond_years(column: str, value: object) -> InvalidRequest:
    """Says that a column has a moment which the log cannot keep."""
    return InvalidRequest(
        f"the partition column {column!r} has the value {value!r}, and partition values can be in "
        "the years 1 to 9999 only; nothing was committed: partition by another column",
        code="DELTA_UNSUPPORTED_DATA_TYPES",
    )


def _parsed(text: str, data_type: DataType) -> str:
    match data_type:
        case Primitive("string" | "binary"):
            return text
        case Primitive("boolean") if text.lower() in ("true", "false"):
            return text.lower()
        case Primitive("byte" | "short" | "integer" | "long" as name):
            return _integer(text, _BITS[name])
        case Primitive("float" | "double"):
            return repr(float(text))
        case Primitive("date"):
            return date.fromisoformat(text).isoformat()
        case Primitive("timestamp"):
            return f"{_moment(text).isoformat(sep=' ')}Z"
        case Primitive("timestamp_ntz"):
            return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(sep=" ")
        case Primitive(name) if (scale := _SCALE.fullmatch(name)) and (value := Decimal(text)).is_finite():
            # Files that are older than a wider type of the column have fewer digits.
            whole, _, digits = format(value, "f").partition(".")
            return f"{whole}.{digits.rstrip('0'):0<{int(scale[1])}}".rstrip(".")
        case _:
            raise ValueError(text)


def _integer(text: str, bits: int) -> str:
    value = int(text)
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise ValueError(text)
    return str(value)


def _moment(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo is None else parsed.astimezone(UTC).replace(tzinfo=None)
