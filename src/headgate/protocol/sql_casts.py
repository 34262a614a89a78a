"""Which casts of a condition can be seen through: those that lose nothing, and a timestamp's day."""

import struct
from datetime import tzinfo
from decimal import Decimal

from sqlglot import exp

from headgate.protocol import literals
from headgate.protocol.literals import Literal
from headgate.protocol.schema.types import DataType, Primitive

_TYPES = {
    exp.DType.TINYINT: "byte",
    exp.DType.SMALLINT: "short",
    exp.DType.INT: "integer",
    exp.DType.BIGINT: "long",
    exp.DType.FLOAT: "float",
    exp.DType.DOUBLE: "double",
    exp.DType.DECIMAL: "decimal",
    exp.DType.TEXT: "string",
    exp.DType.DATE: "date",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPTZ: "timestamp",
    exp.DType.TIMESTAMPLTZ: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp_ntz",
}
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_INTEGERS = tuple(_BITS)


def target(node: exp.Expr) -> str | None:
    """The type a cast makes, by the log's name; None if it is not one of those known here."""
    if isinstance(node, exp.TsOrDsToDate):
        return "date"
    to = node.args.get("to")
    if not isinstance(to, exp.DataType):
        return None
    name = _TYPES.get(to.this)
    if name != "decimal":
        return None if to.expressions else name
    sizes = [int(str(size.this.this)) for size in to.expressions if str(size.this.this).isdecimal()]
    precision, scale = (*sizes, 0)[:2] if sizes else (10, 0)
    return f"decimal({precision},{scale})"


def of_literal(value: Literal, name: str, session: tzinfo | None) -> tuple[bool, Literal]:
    """Whether the cast's result is known, and the result."""
    match name, value:
        case _, None:
            return True, None
        case _, bool():
            return False, None
        case (("byte" | "short" | "integer" | "long"), int()):
            return -(1 << _BITS[name] - 1) <= value < 1 << _BITS[name] - 1, value
        case "double", int() | float() | Decimal():
            return True, float(value)
        case "float", int() | float() | Decimal():
            return _is_single(float(value)) and float(value) == value, float(value)
        case "string", str():
            return True, value
        case "date", str():
            found = literals.day(value)
        case "timestamp", str():
            found = literals.moment(value, session)
        case "timestamp_ntz", str():
            found = literals.wall(value)
        case _, int() | Decimal() | str() if name.startswith("decimal"):
            return _as_decimal(value, name)
        case _ if name == literals.kind(value):
            return True, value
        case _:
            return False, None
    return found is not None, found


def _as_decimal(value: int | Decimal | str, name: str) -> tuple[bool, Literal]:
    if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
        return False, None
    precision, _, scale = name.removeprefix("decimal(").rstrip(")").partition(",")
    number = Decimal(value)
    fits = number == round(number, int(scale)) and abs(number) < 10 ** (int(precision) - int(scale))
    return fits, number.quantize(Decimal(1).scaleb(-int(scale))) if fits else None


def _is_single(number: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except OverflowError:
        return False


def keeps_order_of(data_type: DataType, name: str) -> bool:
    """Whether a comparison of the cast column is one of the column itself."""
    if not isinstance(data_type, Primitive):
        return False
    if data_type.name in _INTEGERS and name in _INTEGERS:
        return _INTEGERS.index(data_type.name) <= _INTEGERS.index(name)
    return data_type.name == name or (data_type.name, name) == ("float", "double")


def takes_day_of(data_type: DataType, name: str) -> bool:
    """Whether the cast takes the day of a timestamp."""
    return name == "date" and data_type in (Primitive("timestamp"), Primitive("timestamp_ntz"))
