"""Which predicate a Spark Column is.

A Column is a tree, in the JVM or with Spark Connect in Python; it is written out as SQL, with names
and literals quoted exactly, and read like any other condition. Parts without such a form are
unknown: they never leave out a row.
"""

import re
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark.sql import Column, SparkSession

from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Opaque, Predicate
from headgate.protocol.schema.types import Struct
from headgate.spark.predicates import connect_column_sql, sql_forms


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What means something else where a setting of the session has a value."""

    mark: re.Pattern[str]
    setting: str
    value: str = "true"


_DIALECTS = (
    _Dialect(re.compile('"'), "spark.sql.ansi.doubleQuotedIdentifiers"),
    _Dialect(re.compile(r"\\"), "spark.sql.parser.escapedStringLiterals"),
    _Dialect(re.compile(r"\btimestamp\b", re.IGNORECASE), "spark.sql.timestampType", "timestamp_ntz"),
)


def to_predicate(
    condition: Column | str, schema: Struct, spark: SparkSession, *, alias: str | None = None
) -> Predicate:
    """The predicate of a condition on a table of ``schema``, as ``spark`` would evaluate it.

    Raises InvalidRequest for a column that the schema does not have.
    """
    sql = condition if isinstance(condition, str) else to_sql(condition)
    if sql is None or is_in_another_dialect(sql, spark):
        return Opaque(str(condition))
    time_zone = spark.conf.get("spark.sql.session.timeZone") or ""
    return from_sql.parse(sql, schema, time_zone=time_zone, alias=alias)


def is_in_another_dialect(sql: str, spark: SparkSession) -> bool:
    """Whether the session reads some part of this text in another way than it is read here."""
    return any(
        (spark.conf.get(dialect.setting, None) or "").lower() == dialect.value
        for dialect in _DIALECTS
        if dialect.mark.search(sql)
    )


def to_sql(condition: Column) -> str | None:
    """A Column as SQL, with a call of a function that is not one for every part without a form."""
    tree = getattr(condition, "_jc", None)
    try:
        if tree is not None:
            return _node_to_sql(tree.node())
        tree = getattr(condition, "_expr", None)
        return None if tree is None else connect_column_sql.to_sql(tree)
    except (AttributeError, Py4JError, RecursionError):  # the trees are not a public form
        return None


def _node_to_sql(node: JavaObject) -> str:
    match node.getClass().getSimpleName():
        case "UnresolvedFunction":
            return _function(node)
        case "UnresolvedAttribute":
            return sql_forms.column_name(_items(node.nameParts()))
        case "Literal":
            return _literal(node.value()) if node.dataType().isEmpty() else sql_forms.UNKNOWN
        case "SqlExpression":
            return f"({node.expression()}\n)"
        case "Alias":
            return _node_to_sql(node.child())
        case "Cast" if node.evalMode().isEmpty():
            return f"CAST({_node_to_sql(node.child())} AS {node.dataType().sql()})"
        case "UnresolvedExtractValue":
            return _extraction(node)
        case "ExpressionColumnNode":
            inner = node.expression()
            found = inner.getClass().getSimpleName() == "AttributeReference"
            return sql_forms.column_name([inner.name()]) if found else sql_forms.UNKNOWN
        case _:
            return sql_forms.UNKNOWN


def _function(node: JavaObject) -> str:
    if node.isUserDefinedFunction() or node.isDistinct():
        return sql_forms.UNKNOWN
    return sql_forms.function_call(
        node.functionName(), [_node_to_sql(arg) for arg in _items(node.arguments())]
    )


def _extraction(node: JavaObject) -> str:
    key = node.extraction()
    field = key.value() if key.getClass().getSimpleName() == "Literal" else None
    return sql_forms.struct_field(_node_to_sql(node.child()), field)


def _literal(value: Any) -> str:
    """A literal; py4j has already made Python values of Java's numbers and strings."""
    if not isinstance(value, JavaObject):
        return sql_forms.literal(value)
    match value.getClass().getName():
        case "java.sql.Date" | "java.time.LocalDate":
            return sql_forms.date_literal(value.toString())
        case "java.sql.Timestamp":
            return sql_forms.timestamp_literal(value.toInstant().toString())
        case "java.time.Instant":
            return sql_forms.timestamp_literal(value.toString())
        case _:
            return sql_forms.UNKNOWN


def _items(seq: JavaObject) -> list[Any]:
    return [seq.apply(position) for position in range(seq.size())]
