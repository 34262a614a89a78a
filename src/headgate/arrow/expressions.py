"""What is the value of an SQL expression for each row? Exactly what Spark would say, or it is left to Spark.

Defaults and generated columns are such expressions. A few kinds are known here: literals, columns, casts that
lose nothing, parts of a day, sums of integers, texts put together. All others, and those whose answer depends
on the session, are refused when the write is planned.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headgate.arrow import arrow_types
from headgate.protocol.predicates import literals, spark_strings, sql_casts, tree
from headgate.protocol.predicates.literals import Literal
from headgate.protocol.schema import sql_tokens
from headgate.protocol.schema.types import DataType, Primitive, Struct

_INTEGERS = ("byte", "short", "integer", "long")
_INTEGER = re.compile(r"\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"\d+\.\d+", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_DAY_PARTS: Mapping[type[exp.Expr], Callable[[pa.Array], pa.Array]] = {
    exp.Year: pc.year,
    exp.Month: pc.month,
    exp.Day: pc.day,
    exp.DayOfMonth: pc.day,
    exp.Quarter: pc.quarter,
}
_SUMS: Mapping[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.Add: pc.add_checked,
    exp.Sub: pc.subtract_checked,
    exp.Mul: pc.multiply_checked,
}


@dataclass(frozen=True, slots=True)
class RowContext:
    """What an expression looks at: columns by name, how many rows there are, and the moment of the write."""

    columns: Mapping[str, pa.ChunkedArray]
    count: int
    now_micros: int


Evaluate = Callable[[RowContext], pa.ChunkedArray]


@dataclass(frozen=True, slots=True)
class ExactExpression:
    """An expression that is known here."""

    type: str
    """The type of its values, by the log's name."""
    evaluate: Evaluate
    literal: tuple[Literal] | None = None
    """The value itself, if it is the same for all rows."""

    def as_type(self, wanted: DataType, zone: str) -> "ExactExpression | None":
        """The same cast to a type; None if only Spark can."""
        if not isinstance(wanted, Primitive):
            return None if self.literal != (None,) else _constant(None, wanted)
        if self.literal is not None:
            return _cast_constant(self.literal[0], wanted, zone)
        return _cast_column(self, wanted.name, zone)


def compile_expression(sql: str, schema: Struct, wanted: DataType, zone: str) -> ExactExpression | None:
    """An expression over rows of ``schema``, as values of the type ``wanted``; None if only Spark knows it.

    ``zone`` is the time zone of the session; an empty text leaves all that depends on it to Spark.
    """
    detached = spark_strings.detach_strings(sql)
    if detached.is_ambiguous or sql_tokens.is_too_deep(detached.sql):
        return None
    try:
        parsed = sqlglot.parse_one(detached.sql, read="spark", into=exp.Condition)
        found = _Compiler(schema, zone, detached).compile(parsed)
    except (SqlglotError, RecursionError):
        return None
    return None if found is None else found.as_type(wanted, zone)


@dataclass(frozen=True, slots=True)
class _Compiler:
    schema: Struct
    zone: str
    detached: spark_strings.DetachedSql

    def compile(self, node: exp.Expr) -> ExactExpression | None:
        """What a node is; None if only Spark knows."""
        known = _COMPILERS.get(type(node))
        return None if known is None else known(self, node)

    def _paren(self, node: exp.Expr) -> ExactExpression | None:
        return self.compile(node.this)

    def _null(self, _node: exp.Expr) -> ExactExpression:
        return _typed_constant(None, "void")

    def _boolean(self, node: exp.Expr) -> ExactExpression:
        return _typed_constant(bool(node.this), "boolean")

    def _moment(self, node: exp.Expr) -> ExactExpression | None:
        return None if node.this else _now()

    def _today(self, node: exp.Expr) -> ExactExpression | None:
        return None if node.this else _now().as_type(Primitive("date"), self.zone)

    def _call(self, node: exp.Expr) -> ExactExpression | None:
        return _now() if str(node.this).lower() == "now" and not node.expressions else None

    def _day_part(self, node: exp.Expr) -> ExactExpression | None:
        part, inner = _DAY_PARTS[type(node)], self.compile(node.this)
        if inner is None or (day := inner.as_type(Primitive("date"), self.zone)) is None:
            return None
        return ExactExpression("integer", lambda rows: part(day.evaluate(rows)).cast(pa.int32()))

    def _sum(self, node: exp.Expr) -> ExactExpression | None:
        operation = _SUMS[type(node)]
        left, right = self.compile(node.this), self.compile(node.expression)
        if left is None or right is None or left.type not in _INTEGERS or right.type not in _INTEGERS:
            return None
        kind = max(left.type, right.type, key=_INTEGERS.index)
        target = arrow_types.arrow_type(Primitive(kind), "")

        def evaluate(rows: RowContext) -> pa.ChunkedArray:
            one, other = (side.evaluate(rows).cast(pa.int64()) for side in (left, right))
            return operation(one, other).cast(target)  # refused where Spark's own type ends

        return ExactExpression(kind, evaluate)

    def _literal(self, node: exp.Expr) -> ExactExpression | None:
        text = str(node.this)
        if node.args.get("is_string"):
            said = self.detached.text(text)
            return None if said is None else _typed_constant(said, "string")
        if _INTEGER.fullmatch(text):
            return _typed_constant(int(text), "integer" if int(text) < 2**31 else "long")
        return _typed_constant(Decimal(text), "decimal") if _DECIMAL.fullmatch(text) else None

    def _negative(self, node: exp.Expr) -> ExactExpression | None:
        inner = self.compile(node.this)
        value = None if inner is None or inner.literal is None else inner.literal[0]
        if inner is None or isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        return _typed_constant(-value, inner.type)

    def _column(self, node: exp.Expr) -> ExactExpression | None:
        parts = [node.args.get(key) for key in ("catalog", "db", "table", "this")]
        names = tuple(part.this for part in parts if isinstance(part, exp.Identifier))
        found = tree.resolve_column(self.schema, names)
        if found is None or not isinstance(found.type, Primitive) or not found.plain:
            return None
        first, *rest = found.path

        def evaluate(rows: RowContext) -> pa.ChunkedArray:
            values = rows.columns[first]
            for name in rest:
                values = pc.struct_field(values, values.type.get_field_index(name))
            return values

        return ExactExpression(found.type.name, evaluate)

    def _cast(self, node: exp.Expr) -> ExactExpression | None:
        target, inner = sql_casts.cast_target(node), self.compile(node.this)
        if target is None or inner is None:
            return None
        return inner.as_type(Primitive(target), self.zone)

    def _concat(self, node: exp.Expr) -> ExactExpression | None:
        nodes = [node.this, node.expression] if isinstance(node, exp.DPipe) else node.expressions
        parts = [self.compile(part) for part in nodes]
        known = [part for part in parts if part is not None and part.type == "string"]
        if len(known) < len(parts) or not known:
            return None

        def evaluate(rows: RowContext) -> pa.ChunkedArray:
            values = [part.evaluate(rows).combine_chunks() for part in known]
            return pa.chunked_array([pc.binary_join_element_wise(*values, "", null_handling="emit_null")])

        return ExactExpression("string", evaluate)

    def _substring(self, node: exp.Expr) -> ExactExpression | None:
        text = self.compile(node.this)
        bounds = [self.compile(part) for part in (node.args.get("start"), node.args.get("length")) if part]
        values = [part.literal[0] for part in bounds if part is not None and part.literal is not None]
        numbers = [value for value in values if type(value) is int and value > 0]
        if text is None or text.type != "string" or len(numbers) != 2:
            return None
        begin = numbers[0] - 1
        return ExactExpression(
            "string",
            lambda rows: pc.utf8_slice_codeunits(text.evaluate(rows), begin, begin + numbers[1]),
        )


_COMPILERS: Mapping[type[exp.Expr], Callable[[_Compiler, exp.Expr], ExactExpression | None]] = {
    exp.Paren: _Compiler._paren,
    exp.Null: _Compiler._null,
    exp.Boolean: _Compiler._boolean,
    exp.Literal: _Compiler._literal,
    exp.Neg: _Compiler._negative,
    exp.Column: _Compiler._column,
    exp.Cast: _Compiler._cast,
    exp.TryCast: _Compiler._cast,
    exp.TsOrDsToDate: _Compiler._cast,
    exp.Concat: _Compiler._concat,
    exp.DPipe: _Compiler._concat,
    exp.Substring: _Compiler._substring,
    exp.CurrentTimestamp: _Compiler._moment,
    exp.CurrentDate: _Compiler._today,
    exp.Anonymous: _Compiler._call,
    **dict.fromkeys(_DAY_PARTS, _Compiler._day_part),
    **dict.fromkeys(_SUMS, _Compiler._sum),
}


def _now() -> ExactExpression:
    wanted = arrow_types.arrow_type(Primitive("timestamp"), "")
    return ExactExpression(
        "timestamp",
        lambda rows: _repeated(pa.scalar(rows.now_micros, pa.int64()).cast(wanted), rows.count),
    )


def _typed_constant(value: Literal, kind: str) -> ExactExpression:
    def evaluate(rows: RowContext) -> pa.ChunkedArray:
        return _repeated(pa.scalar(value), rows.count)

    return ExactExpression(kind, evaluate, (value,))


def _constant(value: Literal, wanted: DataType) -> ExactExpression:
    kind = wanted.name if isinstance(wanted, Primitive) else "void"
    scalar = _scalar(value, arrow_types.arrow_type(wanted, ""))
    return ExactExpression(kind, lambda rows: _repeated(scalar, rows.count), (value,))


def _cast_constant(value: Literal, wanted: Primitive, zone: str) -> ExactExpression | None:
    session = literals.parse_time_zone(zone)
    match wanted.name, value:
        case _, None:
            return _constant(None, wanted)
        case "boolean", bool():
            return _constant(value, wanted)
        case "timestamp", datetime() | date():
            return _known(literals.as_timestamp(value, session), wanted)
        case "timestamp_ntz", datetime() | date():
            return _known(literals.as_timestamp_ntz(value, session), wanted)
        case "date", date() if not isinstance(value, datetime):
            return _constant(value, wanted)
        case "string", int() if not isinstance(value, bool):
            return _constant(str(value), wanted)
        case "timestamp", str():
            return _known(literals.as_timestamp(value, session), wanted)
        case kind, _:
            known, found = sql_casts.cast_literal(value, kind, session)
            return _constant(found, wanted) if known else None


def _known(value: Literal, wanted: Primitive) -> ExactExpression | None:
    return None if value is None else _constant(value, wanted)


def _cast_column(found: ExactExpression, target: str, zone: str) -> ExactExpression | None:
    wanted = arrow_types.arrow_type(Primitive(target), "") if found.type != target else None
    if wanted is None:
        return found
    if sql_casts.preserves_order(Primitive(found.type), target) or _is_exact_day(found.type, target, zone):
        return ExactExpression(target, lambda rows: _floored(found.evaluate(rows), wanted))
    return None


def _is_exact_day(found: str, target: str, zone: str) -> bool:
    in_utc = found == "timestamp" and zone.upper() in ("UTC", "GMT", "Z", "ETC/UTC")
    return target == "date" and (found == "timestamp_ntz" or in_utc)


def _floored(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_timestamp(values.type):
        values = pc.floor_temporal(values.cast(pa.timestamp("us")), unit="day")
    return values.cast(wanted)


def _scalar(value: Literal, wanted: pa.DataType) -> pa.Scalar:
    if isinstance(value, datetime):
        return pa.scalar((value - _EPOCH) // timedelta(microseconds=1), pa.int64()).cast(wanted)
    return pa.scalar(value, wanted)


def _repeated(value: pa.Scalar, count: int) -> pa.ChunkedArray:
    filled = pa.repeat(value, count) if value.is_valid else pa.nulls(count, value.type)
    return pa.chunked_array([filled], value.type)
