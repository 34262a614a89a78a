"""For which rows is a predicate true? Exactly for those that Spark would select, or it is refused by name.

A predicate of ``protocol/predicates`` is true for the rows that a condition selects, unless a part of it is
opaque: what was not understood in full cannot be evaluated here. Texts compare by their bytes; NaN equals
itself and is above all numbers, as in Spark.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from headgate.arrow.arrow_types import NEEDS_SPARK
from headgate.errors import UnsupportedFeature
from headgate.protocol.predicates import tree
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Column,
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

_EPOCH = datetime(1970, 1, 1)
_OPS: Mapping[Op, Callable[[pa.Array, pa.Scalar], pa.Array]] = {
    Op.EQ: pc.equal,
    Op.NE: pc.not_equal,
    Op.LT: pc.less,
    Op.LE: pc.less_equal,
    Op.GT: pc.greater,
    Op.GE: pc.greater_equal,
}
_NO = False
_TRUE_FOR_NAN = frozenset({Op.NE, Op.GT, Op.GE})

Rows = Mapping[str, pa.ChunkedArray]
"""Columns by the names that the table has for them."""


def require_exact(predicate: Predicate, sql: str, instead: str) -> Predicate:
    """The predicate of a condition, refused if only Spark could tell for which rows it is true."""
    if first_opaque(predicate) is None:
        return predicate
    raise UnsupportedFeature(
        f"the condition {sql!r} cannot be evaluated exactly without Spark; what can are comparisons of a "
        "column with values of its own type, IN, BETWEEN, IS NULL, prefixes by LIKE, and AND, OR and NOT of "
        f"them (a moment takes a zone, as in '2026-01-31T12:00:00Z'): write it so, or {instead}",
        code=NEEDS_SPARK, operation="read",
    )  # fmt: skip


def first_opaque(predicate: Predicate) -> Opaque | None:
    """The first part that was not understood in full."""
    match predicate:
        case Opaque():
            return predicate
        case And(parts) | Or(parts):
            return next(filter(None, map(first_opaque, parts)), None)
        case _:
            return None


def true_for(predicate: Predicate, rows: Rows, count: int) -> pa.ChunkedArray | None:
    """For each of ``count`` rows whether the predicate is true, without nulls; None if it is for all."""
    match predicate:
        case Always():
            return None
        case Never():
            return _constant(count)
        case And(parts):
            found = [mask for part in parts if (mask := true_for(part, rows, count)) is not None]
            return reduce(pc.and_, found) if found else None
        case Or(parts):
            masks = [true_for(part, rows, count) for part in parts]
            known = [mask for mask in masks if mask is not None]
            return reduce(pc.or_, known) if len(known) == len(masks) else None
        case Opaque(text):
            raise AssertionError(f"{text} was not refused")
        case _:
            return pc.fill_null(_leaf(predicate, _values(predicate.column, rows)), _NO)


def top_level_names(predicate: Predicate) -> tuple[str, ...]:
    """The columns that rows must have for it."""
    return tuple(dict.fromkeys(column.path[0] for column in tree.referenced_columns(predicate)))


def _leaf(
    predicate: Compare | In | IsNull | NotNull | StartsWith | NotStartsWith, values: pa.ChunkedArray
) -> pa.ChunkedArray:
    match predicate:
        case IsNull():
            return pc.is_null(values)
        case NotNull():
            return pc.is_valid(values)
        case Compare(_, op, value):
            return _compare(values, op, value)
        case In(_, wanted):
            return _is_one_of(values, wanted)
        case StartsWith(_, prefix):
            return pc.starts_with(values, prefix)
        case NotStartsWith(_, prefix):
            return pc.invert(pc.starts_with(values, prefix))


def _compare(values: pa.ChunkedArray, op: Op, value: Value) -> pa.ChunkedArray:
    floating = pa.types.is_floating(values.type)
    found = _OPS[op](values, pa.scalar(value, pa.float64()) if floating else _scalar(value, values.type))
    if floating and op in _TRUE_FOR_NAN:
        return pc.or_(found, pc.is_nan(values))  # the value is finite, and NaN is above all that are
    return found


def _is_one_of(values: pa.ChunkedArray, wanted: Sequence[Value]) -> pa.ChunkedArray:
    if pa.types.is_floating(values.type):
        return reduce(pc.or_, (_compare(values, Op.EQ, value) for value in wanted))
    options = pa.array([_scalar(value, values.type).as_py() for value in wanted], values.type)
    return pc.is_in(values, value_set=options, skip_nulls=True)


def _scalar(value: Value, target: pa.DataType) -> pa.Scalar:
    if isinstance(value, datetime):
        return pa.scalar((value - _EPOCH) // timedelta(microseconds=1), pa.int64()).cast(target)
    if isinstance(value, date):
        return pa.scalar(value, pa.date32())
    if isinstance(value, int) and pa.types.is_integer(target):
        return pa.scalar(value, pa.int64())  # which may be beyond a narrower column
    return pa.scalar(value, target)


def _values(column: Column, rows: Rows) -> pa.ChunkedArray:
    values = rows[column.path[0]]
    for name in column.path[1:]:
        values = pc.struct_field(values, values.type.get_field_index(name))
    return values


def _constant(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(pa.scalar(value=False), count)], pa.bool_())
