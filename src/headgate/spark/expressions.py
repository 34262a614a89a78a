"""Which predicate a Spark Column is.

A classic Column is a tree in the JVM; it is written out as SQL, with names and literals quoted
exactly, and read like any other condition. Parts without such a form, and Columns of Spark
Connect, are unknown: they never leave out a row.
"""

import math
from datetime import date
from decimal import Decimal
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql import Column, SparkSession

from headgate.protocol import predicate_sql
from headgate.protocol.predicates import Predicate, Unknown
from headgate.protocol.schema.types import Struct
from headgate.protocol.sql_strings import quote

_OPERATORS = {
    "=": "=", "==": "=", "!=": "<>", "<>": "<>", "<=>": "<=>", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
    "and": "AND", "or": "OR", "like": "LIKE",
}  # fmt: skip
_UNKNOWN = "headgate_unknown()"
_CALENDAR_REFORM = 1600


def predicate(
    condition: Column | str, schema: Struct, spark: SparkSession, *, alias: str | None = None
) -> Predicate:
    """The predicate of a condition on a table of ``schema``, as ``spark`` would evaluate it.

    Raises InvalidRequest for a column that the schema does not have.
    """
    sql = condition if isinstance(condition, str) else render(condition)
    if sql is None:
        return Unknown(str(condition))
    time_zone = spark.conf.get("spark.sql.session.timeZone") or ""
    return predicate_sql.parse(sql, schema, time_zone=time_zone, alias=alias)


def render(condition: Column) -> str | None:
    """A Column as SQL, with a call of a function that is not one for every part without a form."""
    tree = getattr(condition, "_jc", None)
    if tree is None:
        return None
    try:
        return _render(tree.node())
    except (Py4JError, RecursionError):
        return None


def _render(node: JavaObject) -> str:
    match node.getClass().getSimpleName():
        case "UnresolvedFunction":
            return _function(node)
        case "UnresolvedAttribute":
            return _name(_items(node.nameParts()))
        case "Literal":
            return _literal(node.value()) if node.dataType().isEmpty() else _UNKNOWN
        case "SqlExpression":
            return f"({node.expression()}\n)"
        case "Alias":
            return _render(node.child())
        case "Cast" if node.evalMode().isEmpty():
            return f"CAST({_render(node.child())} AS {node.dataType().sql()})"
        case "UnresolvedExtractValue":
            return _extraction(node)
        case "ExpressionColumnNode":
            inner = node.expression()
            found = inner.getClass().getSimpleName() == "AttributeReference"
            return _name([inner.name()]) if found else _UNKNOWN
        case _:
            return _UNKNOWN


def _function(node: JavaObject) -> str:
    name, args = node.functionName().lower(), [_render(arg) for arg in _items(node.arguments())]
    match name, args:
        case _ if node.isUserDefinedFunction() or node.isDistinct():
            return _UNKNOWN
        case _, [left, right] if name in _OPERATORS:
            return f"({left} {_OPERATORS[name]} {right})"
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
            return _UNKNOWN


def _extraction(node: JavaObject) -> str:
    key = node.extraction()
    field = key.value() if key.getClass().getSimpleName() == "Literal" else None
    inner = _render(node.child())
    # An inner part that is a name ends in a backtick; a field of anything else is not a column.
    if not isinstance(field, str) or not inner.endswith("`"):
        return _UNKNOWN
    return f"{inner}.{_name([field])}"


def _literal(value: Any) -> str:
    """A literal; py4j has already made Python values of Java's numbers and strings."""
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
        case JavaObject():
            return _moment(value)
        case _:
            return _UNKNOWN


def _moment(value: JavaObject) -> str:
    match value.getClass().getName():
        case "java.sql.Date" | "java.time.LocalDate":
            text = value.toString()
            return f"DATE{quote(text)}" if _is_modern(text) else _UNKNOWN
        case "java.sql.Timestamp":
            text = value.toInstant().toString()
        case "java.time.Instant":
            text = value.toString()
        case _:
            return _UNKNOWN
    return f"TIMESTAMP_LTZ{quote(text)}" if _is_modern(text[:10]) else _UNKNOWN


def _is_modern(day: str) -> bool:
    """Whether Java's old and new calendars agree on a day."""
    try:
        return date.fromisoformat(day).year >= _CALENDAR_REFORM
    except ValueError:
        return False


def _items(seq: JavaObject) -> list[Any]:
    return [seq.apply(position) for position in range(seq.size())]


def _name(parts: list[str]) -> str:
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
