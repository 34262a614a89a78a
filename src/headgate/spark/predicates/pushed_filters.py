"""Which predicate the filters are that Spark hands to a scan while it plans a query.

They come as JSON: nested lists, each with the name of a Catalyst expression or a word of
``catalyst_json`` and then its parts. Whatever is not known here may be true for any row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from headgate.protocol.predicates import comparisons, literals, sql_casts, tree
from headgate.protocol.predicates.literals import Literal
from headgate.protocol.predicates.tree import Column, IsNull, NotNull, Op, Opaque, Predicate, all_of, any_of
from headgate.protocol.schema.types import Struct

ColumnsByPath = Mapping[tuple[str, ...], Column]
"""Columns of a table by their paths in its files."""

_EPOCH_DAY, _EPOCH = date(1970, 1, 1), datetime(1970, 1, 1)


def filterable_columns(schema: Struct, layout: Struct) -> ColumnsByPath:
    """The columns that files of a layout store just as the table has them."""
    found: dict[tuple[str, ...], Column] = {}
    _collect(schema, schema, layout, ((), ()), found)
    return found


def _collect(
    whole: Struct,
    schema: Struct,
    layout: Struct,
    at: tuple[tuple[str, ...], tuple[str, ...]],
    found: dict[tuple[str, ...], Column],
) -> None:
    for field, stored in zip(schema.fields, layout.fields, strict=False):
        ours, theirs = (*at[0], field.name), (*at[1], stored.name)
        if isinstance(field.type, Struct) and isinstance(stored.type, Struct):
            _collect(whole, field.type, stored.type, (ours, theirs), found)
        elif field.type == stored.type and (column := tree.resolve_column(whole, ours)) is not None:
            found[theirs] = column


def to_predicate(question: str, columns: ColumnsByPath) -> Predicate:
    """The predicate of filters that must all be true."""
    return all_of(_FilterReader(columns).read(part) for part in msgspec.json.decode(question))


@dataclass(frozen=True, slots=True)
class _FilterConstant:
    value: Literal


@dataclass(frozen=True, slots=True)
class _DayOfColumn:
    """The day of a timestamp column, in a zone."""

    column: Column
    zone: str


_Operand = Column | _FilterConstant | _DayOfColumn | None


@dataclass(frozen=True, slots=True)
class _FilterReader:
    columns: ColumnsByPath

    def read(self, node: list[Any], *, negated: bool = False) -> Predicate:
        """The rows for which ``node`` is true, or false if ``negated``."""
        match node:
            case ["Not", inner]:
                return self.read(inner, negated=not negated)
            case ["And" | "Or" as name, *inner]:
                parts = [self.read(part, negated=negated) for part in inner]
                return all_of(parts) if (name == "And") is not negated else any_of(parts)
            case [str(name), left, right] if name in _OPS:
                return self._compared(_OPS[name], left, right, negated=negated)
            case ["EqualNullSafe", left, right]:
                return self._null_safe(left, right, negated=negated)
            case ["IsNull" | "IsNotNull" as name, inner]:
                return self._presence(inner, absent=(name == "IsNull") is not negated)
            case ["In", tested, *values]:
                return self._listed(tested, values, negated=negated)
            case ["StartsWith", left, right]:
                tested, prefix = self._operand(left), self._operand(right)
                if isinstance(tested, Column) and isinstance(prefix, _FilterConstant):
                    return comparisons.starts_with(tested, prefix.value, negated=negated)
            case _:
                return self._alone(node, negated=negated)
        return _unknown(node)

    def _compared(self, op: Op, left: list[Any], right: list[Any], *, negated: bool) -> Predicate:
        first, second = self._operand(left), self._operand(right)
        if isinstance(first, _FilterConstant):
            first, second, op = second, first, op.mirrored
        if not isinstance(second, _FilterConstant):
            return _unknown([op, left, right])
        return _compare(first, op.negated if negated else op, second.value)

    def _null_safe(self, left: list[Any], right: list[Any], *, negated: bool) -> Predicate:
        first, second = self._operand(left), self._operand(right)
        if isinstance(first, _FilterConstant):
            first, second = second, first
        if not isinstance(first, Column) or not isinstance(second, _FilterConstant):
            return _unknown(["EqualNullSafe", left, right])
        if second.value is None:
            return NotNull(first) if negated else IsNull(first)
        if negated:
            return any_of((_compare(first, Op.NE, second.value), IsNull(first)))
        return _compare(first, Op.EQ, second.value)

    def _presence(self, inner: list[Any], *, absent: bool) -> Predicate:
        tested = self._operand(inner)
        # A cast may make a null of a value, so only the column itself will do.
        if not isinstance(tested, Column) or inner[0] == "cast":
            return _unknown(["IsNull", inner])
        return IsNull(tested) if absent else NotNull(tested)

    def _listed(self, tested: list[Any], values: list[Any], *, negated: bool) -> Predicate:
        column, listed = self._operand(tested), [self._operand(value) for value in values]
        known = [value.value for value in listed if isinstance(value, _FilterConstant)]
        if not isinstance(column, Column) or not listed or len(known) < len(listed):
            return _unknown(["In", tested])
        return comparisons.is_in(column, known, None, negated=negated)

    def _alone(self, node: list[Any], *, negated: bool) -> Predicate:
        match self._operand(node):
            case _FilterConstant(value):
                return comparisons.constant_condition(value, negated=negated)
            case Column() as column:
                return comparisons.is_true(column, negated=negated)
            case _:
                return _unknown(node)

    def _operand(self, node: list[Any]) -> _Operand:
        match node:
            case ["literal", str(name), value]:
                return _literal(name, value)
            case ["column" | "field", *_]:
                path = _path(node)
                return None if path is None else self.columns.get(path)
            case ["cast", inner, str(target), zone]:
                column = self._operand(inner)
                if not isinstance(column, Column):
                    return None
                if sql_casts.preserves_order(column.type, target):
                    return column
                return (
                    _DayOfColumn(column, zone or "")
                    if sql_casts.is_timestamp_to_date(column.type, target)
                    else None
                )
            case _:
                return None


def _compare(left: _Operand, op: Op, value: Literal) -> Predicate:
    match left:
        case Column():
            return comparisons.compare(left, op, value, None)
        case _DayOfColumn(column, zone):
            return comparisons.compare_day(column, op, value, literals.parse_time_zone(zone))
        case _:
            return _unknown([op, value])


def _path(node: list[Any]) -> tuple[str, ...] | None:
    match node:
        case ["column", str(name)]:
            return (name,)
        case ["field", inner, str(name)]:
            before = _path(inner)
            return None if before is None else (*before, name)
        case _:
            return None


def _literal(name: str, value: Any) -> _FilterConstant | None:
    """A literal, out of the form in which Spark computes with values of its type."""
    if value is None:
        return _FilterConstant(None)
    read = _LITERALS.get(name.partition("(")[0])
    try:
        return None if read is None else _FilterConstant(read(value))
    except (ValueError, TypeError, OverflowError, InvalidOperation):
        return None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError  # NaN and the infinities come as text
    return float(value)


def _exactly(kind: type) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError
        return value

    return checked


_OPS = {
    "EqualTo": Op.EQ,
    "LessThan": Op.LT,
    "LessThanOrEqual": Op.LE,
    "GreaterThan": Op.GT,
    "GreaterThanOrEqual": Op.GE,
}
_LITERALS: Mapping[str, Callable[[Any], Literal]] = {
    "boolean": _exactly(bool),
    "byte": _exactly(int),
    "short": _exactly(int),
    "integer": _exactly(int),
    "long": _exactly(int),
    "float": _number,
    "double": _number,
    "decimal": Decimal,
    "string": _exactly(str),
    "date": lambda days: _EPOCH_DAY + timedelta(days=days),
    "timestamp": lambda micros: (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=UTC),
    "timestamp_ntz": lambda micros: _EPOCH + timedelta(microseconds=micros),
}


def _unknown(node: list[Any]) -> Opaque:
    return Opaque(str(node))
