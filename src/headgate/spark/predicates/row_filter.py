"""What of a condition can be asked of any row, deleted ones too: what fails for none, and is soon answered.

Spark asks conditions in the order in which it is given them. One that leaves few rows is best asked
before a deletion vector is; but a row that was deleted may be one for which it fails.
"""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from headgate.protocol.predicates import tree
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Compare,
    In,
    IsNull,
    Never,
    NotNull,
    NotStartsWith,
    Op,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    Value,
)
from headgate.protocol.schema.types import Primitive
from headgate.spark.parquet import logical_columns

ColumnFinder = Callable[[tuple[str, ...]], Column | None]
"""The column of a path, if rows have it."""

_COMPARABLE = frozenset({
    "boolean", "byte", "short", "integer", "long", "float", "double",
    "string", "date", "timestamp", "timestamp_ntz",
})  # fmt: skip
_MOST_VALUES = 32
_EPOCH, _MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)

_COMPARED: dict[Op, Callable[[Column, Column], Column]] = {
    Op.EQ: lambda column, value: column == value,
    Op.NE: lambda column, value: column != value,
    Op.LT: lambda column, value: column < value,
    Op.LE: lambda column, value: column <= value,
    Op.GT: lambda column, value: column > value,
    Op.GE: lambda column, value: column >= value,
}


def row_condition(predicate: Predicate, find: ColumnFinder) -> Column | None:
    """A condition that is true of every row which the predicate may select; None if that is any row."""
    match predicate:
        case Always() | Opaque():
            return None
        case Never():
            return F.lit(False)  # noqa: FBT003
        case And(parts):
            known = [found for part in parts if (found := row_condition(part, find)) is not None]
            return reduce(and_, known) if known else None
        case Or(parts):
            some = [row_condition(part, find) for part in parts]
            known = [found for found in some if found is not None]
            return reduce(or_, known) if len(known) == len(some) else None
        case _:
            column = find(predicate.column.path) if _is_comparable(predicate.column) else None
            return None if column is None else _leaf(predicate, column)


def _is_comparable(column: tree.Column) -> bool:
    """Whether Spark compares values of the column as they are compared on paper."""
    name = column.type.name if isinstance(column.type, Primitive) else ""
    return column.plain and (name in _COMPARABLE or name.startswith("decimal"))


def _leaf(
    predicate: Compare | In | StartsWith | NotStartsWith | IsNull | NotNull, column: Column
) -> Column | None:
    match predicate:
        case IsNull():
            return column.isNull()
        case NotNull():
            return column.isNotNull()
        case Compare(asked, op, value):
            return _COMPARED[op](column, _literal(value, asked))
        case In(asked, values):
            if len(values) > _MOST_VALUES:
                return None
            return column.isin(*(_literal(value, asked) for value in values))
        case StartsWith(_, prefix):
            return column.startswith(prefix)
        case NotStartsWith(_, prefix):
            return ~column.startswith(prefix)


def _literal(value: Value, asked: tree.Column) -> Column:
    """The value as a constant of the column's type, or of the widest: there may be values between its own."""
    match value:
        case bool() | str() | float():
            return F.lit(value)
        case int():
            return F.lit(value).cast("bigint")
        case datetime() if asked.type == Primitive("timestamp"):
            return F.timestamp_micros(F.lit((value - _EPOCH) // _MICROSECOND))
        case Decimal():
            text = f"{value:f}"
        case datetime():
            text = value.isoformat(" ")
        case date():
            text = value.isoformat()
    return F.lit(text).cast(logical_columns.spark_type(asked.type))
