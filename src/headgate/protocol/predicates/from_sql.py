"""Which predicate a SQL condition is.

Every part that is not understood in full, down to an unexpected option of a node, becomes
``Opaque`` for that part alone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal

from sqlglot import exp

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import comparisons, literals, spark_strings, sql_casts, sql_conditions, tree
from headgate.protocol.predicates.literals import Literal
from headgate.protocol.predicates.tree import (
    Always,
    Column,
    IsNull,
    NotNull,
    Op,
    Opaque,
    Predicate,
    all_of,
    any_of,
)
from headgate.protocol.schema.types import Struct

_INTEGER = re.compile(r"\d{1,38}", re.ASCII)  # Spark has no longer ones
_DECIMAL = re.compile(r"\d+\.\d*|\.\d+", re.ASCII)
_DOUBLE = re.compile(r"(\d++\.?\d*+|\.\d++)[eE][+-]?\d+", re.ASCII)


def parse(sql: str, schema: Struct, *, time_zone: str = "UTC", alias: str | None = None) -> Predicate:
    """The predicate of a condition on a table of ``schema``, in a session of that time zone.

    Raises InvalidRequest for a column that the schema does not have. Whether the text is valid SQL
    is for Spark to say: what cannot be parsed is Opaque.
    """
    if not sql.strip():
        raise InvalidRequest("the condition is empty: write one like id = 1, or leave it out")
    detached = spark_strings.detach_strings(sql)
    tree = sql_conditions.parse_condition(detached)
    if tree is None:
        return Opaque(sql)
    try:
        return _Reader(schema, literals.parse_time_zone(time_zone), alias, detached).read(tree)
    except RecursionError:  # a name of a thousand parts
        return Opaque(sql)


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One side of a join: its alias, and its columns."""

    alias: str
    schema: Struct

    def qualifies(self, parts: tuple[str, ...]) -> bool:
        """Whether a name is one of its columns, behind its alias."""
        named = len(parts) > 1 and parts[0].lower() == self.alias.lower()
        return named and self.schema.find(parts[1]) is not None

    def owns(self, parts: tuple[str, ...], other: "JoinSide") -> bool:
        """Whether a name is a column of this side and cannot be one of the other; aliases come first."""
        if other.qualifies(parts):
            return False
        alone = self.schema.find(parts[0]) is not None and other.schema.find(parts[0]) is None
        return self.qualifies(parts) or alone


@dataclass(frozen=True, slots=True)
class JoinPart:
    """What a condition on two sides demands of the first: for all rows that it is true for."""

    own: Predicate
    equal: tuple[tuple[Column, tuple[str, ...]], ...] = ()
    """Columns of the first side that must equal a column of the second, by its name there."""


def parse_join(sql: str, first: JoinSide, second: JoinSide, *, time_zone: str = "UTC") -> JoinPart:
    """What a join condition says of its first side."""
    detached = spark_strings.detach_strings(sql)
    tree = sql_conditions.parse_condition(detached)
    try:
        return JoinPart(Always()) if tree is None else _parse_join(tree, detached, first, second, time_zone)
    except RecursionError:
        return JoinPart(Always())


def _parse_join(
    tree: exp.Expr, detached: spark_strings.DetachedSql, first: JoinSide, second: JoinSide, time_zone: str
) -> JoinPart:
    reader = _Reader(first.schema, literals.parse_time_zone(time_zone), first.alias, detached)
    own: list[Predicate] = []
    equal: list[tuple[Column, tuple[str, ...]]] = []
    bare = tree.unnest()
    for part in bare.flatten() if type(bare) is exp.And else (bare,):
        names = [_parts(column) for column in part.find_all(exp.Column)]
        if all(name is not None and first.owns(name, second) for name in names):
            own.append(reader.read(part))
        elif type(part) is exp.EQ:
            equal += _equi_keys(part, first, second)
    return JoinPart(all_of(own), tuple(equal))


def _equi_keys(part: exp.Expr, first: JoinSide, second: JoinSide) -> list[tuple[Column, tuple[str, ...]]]:
    left, right = _parts(part.this), _parts(part.expression)
    if left is None or right is None:
        return []
    for mine, theirs in ((left, right), (right, left)):
        if first.owns(mine, second) and second.owns(theirs, first):
            column = tree.resolve_column(first.schema, mine, alias=first.alias)
            name = theirs[1:] if second.qualifies(theirs) else theirs
            return [] if column is None else [(column, name)]
    return []


@dataclass(frozen=True, slots=True)
class _Constant:
    value: Literal


@dataclass(frozen=True, slots=True)
class _Day:
    """The day of a timestamp column."""

    column: Column


_Operand = _Constant | Column | _Day


@dataclass(frozen=True, slots=True)
class _Reader:
    schema: Struct
    zone: tzinfo | None
    alias: str | None
    detached: spark_strings.DetachedSql

    def read(self, node: exp.Expr, *, negated: bool = False) -> Predicate:
        """The rows for which ``node`` is true, or false if ``negated``."""
        node_type = type(node)
        found: Predicate | None = None
        if node_type in _READERS and _is_bare(node):
            found = _READERS[node_type](self, node, negated)
        return Opaque(node.sql("spark")) if found is None else found

    def _paren(self, node: exp.Expr, negated: bool) -> Predicate:  # noqa: FBT001 - one of a table
        return self.read(node.this, negated=negated)

    def _not(self, node: exp.Expr, negated: bool) -> Predicate:  # noqa: FBT001
        return self.read(node.this, negated=not negated)

    def _connector(self, node: exp.Expr, negated: bool) -> Predicate:  # noqa: FBT001
        parts = [self.read(part, negated=negated) for part in node.flatten()]
        if isinstance(node, exp.And) is not negated:
            return all_of(parts)
        found = any_of(parts)
        shared = set(tree.referenced_columns(found))
        return comparisons.one_of(shared.pop(), parts) if len(shared) == 1 else found

    def _comparison(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        op = _OPS[type(node)]
        left, right = self._operand(node.this), self._operand(node.expression)
        if isinstance(left, _Constant):
            left, right, op = right, left, op.mirrored
        if not isinstance(right, _Constant):
            return None
        return self._compare(left, op.negated if negated else op, right.value)

    def _compare(self, left: _Operand | None, op: Op, value: Literal) -> Predicate | None:
        match left:
            case Column():
                return comparisons.compare(left, op, value, self.zone)
            case _Day(column):
                return comparisons.compare_day(column, op, value, self.zone)
            case _:
                return None

    def _null_safe(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        differs = isinstance(node, exp.NullSafeNEQ) is not negated
        left, right = self._operand(node.this), self._operand(node.expression)
        if isinstance(left, _Constant):
            left, right = right, left
        if not isinstance(right, _Constant) or not isinstance(left, Column):
            return None
        if right.value is None:
            return NotNull(left) if differs else IsNull(left)
        found = comparisons.compare(left, Op.NE if differs else Op.EQ, right.value, self.zone)
        # A text that is no value of the column's type is null in some sessions, and then no null differs.
        return any_of((found, IsNull(left))) if differs and not isinstance(found, Opaque) else found

    def _between(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        tested = self._operand(node.this)
        low, high = self._operand(node.args["low"]), self._operand(node.args["high"])
        ends = (
            self._compare(tested, op.negated if negated else op, end.value)
            if isinstance(end, _Constant)
            else None
            for op, end in ((Op.GE, low), (Op.LE, high))
        )
        parts = [Opaque(node.sql("spark")) if part is None else part for part in ends]
        return any_of(parts) if negated else all_of(parts)

    def _in(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        tested = self._operand(node.this)
        listed = [self._operand(part) for part in node.expressions]
        values = [part.value for part in listed if isinstance(part, _Constant)]
        if not listed or len(values) < len(listed):
            return None
        match tested:
            case Column():
                return comparisons.is_in(tested, values, self.zone, negated=negated)
            case _Day(column):
                op = Op.NE if negated else Op.EQ
                parts = [comparisons.compare_day(column, op, value, self.zone) for value in values]
                return all_of(parts) if negated else any_of(parts)
            case _:
                return None

    def _is(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        tested, wanted = self._operand(node.this), node.expression
        if not isinstance(tested, Column):
            return None
        match wanted:
            case exp.Null():
                return NotNull(tested) if negated else IsNull(tested)
            case exp.Boolean():
                found = comparisons.compare(tested, Op.EQ, wanted.this is not negated, None)
                return any_of((found, IsNull(tested))) if negated else found
            case _:
                return None

    def _like(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        escape: _Operand | None = _Constant("\\")
        if isinstance(node, exp.Escape):
            escape, node = self._operand(node.expression), node.this
            if type(node) is not exp.Like or not _is_bare(node):
                return None
        tested, pattern = self._operand(node.this), self._operand(node.expression)
        if not isinstance(tested, Column) or not isinstance(pattern, _Constant):
            return None
        if not isinstance(escape, _Constant) or not isinstance(escape.value, str) or len(escape.value) != 1:
            return None
        # sqlglot marks NOT LIKE on the node itself, other negations with a node of their own.
        reverse = bool(node.args.get("negate"))
        return comparisons.like(tested, pattern.value, escape.value, negated=negated is not reverse)

    def _starts_with(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        tested, prefix = self._operand(node.this), self._operand(node.expression)
        if not isinstance(tested, Column) or not isinstance(prefix, _Constant):
            return None
        return comparisons.starts_with(tested, prefix.value, negated=negated)

    def _function(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        name = str(node.this).lower()
        if name not in ("isnull", "isnotnull") or len(node.expressions) != 1:
            return None
        (argument,) = node.expressions
        tested = self._operand(argument)
        if not isinstance(tested, Column):
            return None
        return IsNull(tested) if (name == "isnull") is not negated else NotNull(tested)

    def _alone(self, node: exp.Expr, negated: bool) -> Predicate | None:  # noqa: FBT001
        match self._operand(node):
            case _Constant(value):
                return comparisons.constant_condition(value, negated=negated)
            case Column() as column:
                return comparisons.is_true(column, negated=negated)
            case _:
                return None

    def _operand(self, node: exp.Expr) -> _Operand | None:
        if not _is_bare(node):
            return None
        match node:
            case exp.Paren():
                return self._operand(node.this)
            case exp.Null():
                return _Constant(None)
            case exp.Boolean():
                return _Constant(bool(node.this))
            case exp.Literal():
                return self._literal(node)
            case exp.Neg():
                inner = self._operand(node.this)
                match inner:
                    case _Constant(int() | float() | Decimal() as value) if not isinstance(value, bool):
                        return _Constant(-value)
                    case _:
                        return None
            case exp.Column() | exp.Dot():
                parts = _parts(node)
                return None if parts is None else tree.resolve_column(self.schema, parts, alias=self.alias)
            case exp.Cast() | exp.TsOrDsToDate():
                return self._cast(node)
            case _:
                return None

    def _literal(self, node: exp.Literal) -> _Constant | None:
        text = str(node.this)
        if node.is_string:
            said = self.detached.text(text)
            return None if said is None else _Constant(said)
        if _INTEGER.fullmatch(text):
            return _Constant(int(text))
        if _DECIMAL.fullmatch(text):
            return _Constant(Decimal(text))
        return _Constant(float(text)) if _DOUBLE.fullmatch(text) else None

    def _cast(self, node: exp.Expr) -> _Operand | None:
        target = sql_casts.cast_target(node)
        if target is None:
            return None
        match self._operand(node.this):
            case _Constant(value):
                known, result = sql_casts.cast_literal(value, target, self.zone)
                return _Constant(result) if known else None
            case Column() as column:
                if sql_casts.preserves_order(column.type, target):
                    return column
                return _Day(column) if sql_casts.is_timestamp_to_date(column.type, target) else None
            case _:
                return None


def _parts(node: exp.Expr) -> tuple[str, ...] | None:
    """The names of a column reference, outermost first."""
    if type(node) is exp.Dot:
        before = _parts(node.this)
        if before is None or not isinstance(node.expression, exp.Identifier):
            return None
        return *before, node.expression.this
    if type(node) is not exp.Column or not all(isinstance(part, exp.Identifier) for part in node.parts):
        return None
    return tuple(part.this for part in node.parts)


_OPS: dict[type[exp.Expr], Op] = {
    exp.EQ: Op.EQ,
    exp.NEQ: Op.NE,
    exp.LT: Op.LT,
    exp.LTE: Op.LE,
    exp.GT: Op.GT,
    exp.GTE: Op.GE,
}
_READERS: dict[type[exp.Expr], Callable[[_Reader, exp.Expr, bool], Predicate | None]] = {
    **dict.fromkeys(_OPS, _Reader._comparison),
    exp.Paren: _Reader._paren,
    exp.Not: _Reader._not,
    exp.And: _Reader._connector,
    exp.Or: _Reader._connector,
    exp.NullSafeEQ: _Reader._null_safe,
    exp.NullSafeNEQ: _Reader._null_safe,
    exp.Between: _Reader._between,
    exp.In: _Reader._in,
    exp.Is: _Reader._is,
    exp.Like: _Reader._like,
    exp.Escape: _Reader._like,
    exp.StartsWith: _Reader._starts_with,
    exp.Anonymous: _Reader._function,
    exp.Boolean: _Reader._alone,
    exp.Null: _Reader._alone,
    exp.Column: _Reader._alone,
    exp.Dot: _Reader._alone,
}
_PLAIN = frozenset({"this", "expression"})
_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "safe"}),
    exp.TsOrDsToDate: frozenset({"this", "safe"}),
}


def _is_bare(node: exp.Expr) -> bool:
    """Whether the node has no option beyond those read here; parsers keep negations in such."""
    known = _ARGUMENTS.get(type(node), _PLAIN)
    return all(name in known for name, value in node.args.items() if value)
