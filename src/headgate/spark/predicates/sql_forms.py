"""The SQL that parts of a condition are written as, so that one reader understands them all."""

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from headgate.protocol.predicates.spark_strings import quote

UNKNOWN = "headgate_unknown()"
"""What stands for a part without a form: a call of a function that is not one."""

_OPERATORS = {
    "=": "=", "==": "=", "!=": "<>", "<>": "<>", "<=>": "<=>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
    "and": "AND", "or": "OR", "like": "LIKE",
}  # fmt: skip
_CALENDAR_REFORM = 1600


def column_name(parts: Sequence[str]) -> str:
    """A column, by the parts of its name."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def struct_field(inner: str, field: object) -> str:
    """A field of a struct column."""
    # An inner part that is a name ends in a backtick; a field of anything else is not a column.
    return f"{inner}.{column_name([field])}" if isinstance(field, str) and inner.endswith("`") else UNKNOWN


def function_call(function: str, args: Sequence[str]) -> str:
    """A function of Spark's, which operators are too."""
    function = function.lower()
    match function, args:
        case _, [left, right] if function in _OPERATORS:
            return f"({left} {_OPERATORS[function]} {right})"
        case "!" | "not", [inner]:
            return f"(NOT {inner})"
        case "isnull", [inner]:
            return f"({inner} IS NULL)"
        case "isnotnull", [inner]:
            return f"({inner} IS NOT NULL)"
        case "in", [tested, *values] if values:
            return f"({tested} IN ({', '.join(values)}))"
        case "startswith", [tested, prefix]:
            return f"startswith({tested}, {prefix})"
        case "to_date" | "date", [inner]:
            return f"CAST({inner} AS DATE)"
        case "negative", [inner]:
            return f"(-{inner})"
        case _:
            return UNKNOWN


def literal(value: object) -> str:
    """A Python value other than a day or a moment."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value) if value >= 0 else f"({value})"
        case float() if math.isfinite(value):
            return f"({value!r}D)" if "e" not in repr(value) else f"({value!r})"
        case Decimal() if value.is_finite():
            return f"({value:f}BD)"
        case str():
            return quote(value)
        case _:
            return UNKNOWN


def date_literal(text: str) -> str:
    """A day, in ISO's form."""
    return f"DATE{quote(text)}" if _is_modern(text) else UNKNOWN


def timestamp_literal(text: str) -> str:
    """A moment, in ISO's form and UTC."""
    return f"TIMESTAMP_LTZ{quote(text)}" if _is_modern(text[:10]) else UNKNOWN


def _is_modern(text: str) -> bool:
    """Whether Java's old and new calendars agree on a day."""
    try:
        return date.fromisoformat(text).year >= _CALENDAR_REFORM
    except ValueError:
        return False
