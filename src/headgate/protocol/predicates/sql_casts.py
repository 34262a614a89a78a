"""Which casts of a condition can be seen through: those that lose nothing, and a timestamp's day."""

import re
from datetime import tzinfo
from decimal import Decimal

from sqlglot import exp

from headgate.protocol.predicates import comparisons, literals
from headgate.protocol.predicates.literals import Literal
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
_KNOWN = frozenset({"this", "expressions"})
_INTEGERS = tuple(comparisons.INTEGER_BITS)
_EXACT_IN_FLOAT = 1 << 24
_NUMBER = re.compile(r"-?(\d++\.?\d*+|\.\d+)", re.ASCII)


def cast_target(node: exp.Expr) -> str | None:
    """The type a cast makes, by the log's name; None if it is not one of those known here."""
    if isinstance(node, exp.TsOrDsToDate):
        return "date"
    to = node.args["to"]
    if any(to.args.get(option) for option in to.args if option not in _KNOWN):  # such as a collation
        return None
    name = _TYPES.get(to.this)
    if name != "decimal":
        return None if to.expressions else name
    said = [size.this.this for size in to.expressions]
    if not all(isinstance(size, str) and size.isdecimal() for size in said):
        return None
    precision, scale = (*(said or ("10",)), "0")[:2]
    return f"decimal({precision},{scale})"


def cast_literal(value: Literal, name: str, session: tzinfo | None) -> tuple[bool, Literal]:
    """Whether the cast's result is known, and the result."""
    match name, value:
        case _, None:
            return True, None
        case _, bool():
            return False, None
        case (("byte" | "short" | "integer" | "long"), int()):
            return comparisons.fits_integer_type(name, value), value
        case "double", int() | float() | Decimal():
            return True, float(value)
        case "float", int() | float() | Decimal():
            return _is_exact_float(value), float(value)
        case "string", str():
            return True, value
        case "date", str():
            found = literals.parse_date(value)
        case "timestamp", str():
            found = literals.parse_timestamp(value, session)
        case "timestamp_ntz", str():
            found = literals.parse_timestamp_ntz(value)
        case _, int() | Decimal() | str() if name.startswith("decimal"):
            return _as_decimal(value, name)
        case _:
            return False, None
    return found is not None, found


def _is_exact_float(value: int | float | Decimal) -> bool:
    number = float(value)
    # From there on Spark may round integers beside it to floats, and several are the same one.
    return abs(number) < _EXACT_IN_FLOAT and number == value and comparisons.is_exact_float(number)


def _as_decimal(value: int | Decimal | str, name: str) -> tuple[bool, Literal]:
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return False, None
    precision, _, scale = name.removeprefix("decimal(").rstrip(")").partition(",")
    number = Decimal(value)
    before = int(precision) - int(scale)
    if before > comparisons.INTEGRAL_DIGITS or abs(number) >= 10**before:
        return False, None
    result = number.quantize(Decimal(f"1E-{scale}"), context=comparisons.WIDE_CONTEXT)
    return result == number, result


def preserves_order(data_type: DataType, name: str) -> bool:
    """Whether a comparison of the cast column is one of the column itself."""
    if not isinstance(data_type, Primitive):
        return False
    if data_type.name in _INTEGERS and name in _INTEGERS:
        return _INTEGERS.index(data_type.name) <= _INTEGERS.index(name)
    return data_type.name == name or (data_type.name, name) == ("float", "double")


def is_timestamp_to_date(data_type: DataType, name: str) -> bool:
    """Whether the cast takes the day of a timestamp."""
    return name == "date" and data_type in (Primitive("timestamp"), Primitive("timestamp_ntz"))
