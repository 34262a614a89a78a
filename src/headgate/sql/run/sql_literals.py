"""How is a value that a user passes for ``:name`` or ``?`` written in SQL text?"""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from pyspark.sql import Column

from headgate.errors import InvalidRequest
from headgate.spark.predicates import from_column, sql_forms


def sql_literal(value: object) -> str:
    """The value as SQL text."""
    if isinstance(value, Column):
        return _column(value)
    if isinstance(value, Mapping):
        pairs = (f"{sql_literal(key)}, {sql_literal(each)}" for key, each in value.items())
        return f"map({', '.join(pairs)})"
    if isinstance(value, list | tuple):
        return f"array({', '.join(map(sql_literal, value))})"
    form = next((form for kind, form in _FORMS.items() if isinstance(value, kind)), None)
    if form is None:
        raise InvalidRequest(
            f"a {type(value).__name__} cannot be a parameter of SQL: pass a number, a text, a date, a Column",
            code="INVALID_SQL_ARG",
        )
    return form(value)


def _column(value: Column) -> str:
    found = from_column.to_sql(value)
    if found is None or sql_forms.UNKNOWN in found:
        raise InvalidRequest(
            f"the Column {value} cannot be written as SQL: pass a plain value", code="INVALID_SQL_ARG"
        )
    return found


def _float(value: float) -> str:
    return f"double('{value}')" if not math.isfinite(value) else f"{value!r}D"


def text_literal(value: str) -> str:
    """A text in quotes, as Spark reads it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def wall_clock_literal(value: datetime) -> str:
    """A time without a zone, as a clock on a wall shows it anywhere."""
    return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ')}'"


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        value = value.astimezone()
    return f"TIMESTAMP '{value.astimezone(UTC).isoformat(sep=' ')}'"


_FORMS: Mapping[type, Callable[..., str]] = {
    type(None): lambda _: "NULL",
    bool: lambda value: str(value).lower(),
    int: lambda value: f"{value}" if -(2**31) <= value < 2**31 else f"{value}L",
    float: _float,
    Decimal: lambda value: f"{value:f}BD",
    str: text_literal,
    bytes: lambda value: f"X'{value.hex()}'",
    datetime: _moment,
    date: lambda value: f"DATE '{value.isoformat()}'",
}
"""In the order in which they are tried: a bool is an int, and a datetime is a date."""
