"""What comparing a column with a literal means in Spark.

The literal is brought into the column's own type, where that says the same: ``id > 1.5`` is
``id > 1``. Where Spark would compare in another type and the answers could differ, the result is
``Unknown``, or a predicate that is true for more rows and ``Unknown``: enough to leave out files,
and never a proof that a row is selected.
"""

import math
import re
import struct
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta, timezone, tzinfo
from decimal import ROUND_FLOOR, Context, Decimal
from functools import partial

from headgate.protocol.predicates.literals import (
    Literal,
    as_timestamp,
    as_timestamp_ntz,
    literal_kind,
    parse_date,
)
from headgate.protocol.predicates.tree import (
    Always,
    Column,
    Compare,
    In,
    Never,
    NotNull,
    NotStartsWith,
    Op,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    Value,
    all_of,
    any_of,
)
from headgate.protocol.schema.types import Primitive

MAX_CHARACTER = "\U0010ffff"
INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
"""How wide the types of integers are, from the narrowest on."""
_LONGEST = (1 << 63) - 1
_EXACT_IN_DOUBLE = 1 << 53
_MAX_PRECISION = 38
INTEGRAL_DIGITS = 20
"""How many digits before the point the type of a number may have, as that of a long has.

Spark compares by types, and cuts digits off the column where the two together have too many.
"""
WIDE_CONTEXT = Context(prec=400)
"""For every double with the digits of every decimal."""
_DAY = timedelta(days=1)
_WHOLE = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
_OF_WHAT_IS_ABOVE = frozenset({Op.NE, Op.GT, Op.GE})
_OF_WHAT_IS_BELOW = frozenset({Op.NE, Op.LT, Op.LE})


def compare(column: Column, op: Op, literal: Literal, session: tzinfo | None) -> Predicate:
    """``column op literal``, as Spark would coerce the two."""
    if literal is None:
        return Never()
    unknown = Opaque(f"{'.'.join(column.path)} {op} {literal!r}")
    if not column.plain or not isinstance(column.type, Primitive):
        return unknown
    found: Predicate | None
    match column.type.name, literal:
        case "boolean", bool():
            return Compare(column, op, literal)
        case ("boolean", _) | (_, bool()):
            return unknown
        case "byte" | "short" | "integer" | "long" as name, _:
            found = _with_integer(column, op, literal, name)
        case "float" | "double" as name, int() | Decimal() | float():
            number = _as_double(literal, single=name == "float")
            found = None if number is None else Compare(column, op, number)
        case "string", str():
            found = Compare(column, op, literal) if _is_usable(literal) else None
        case "date", _:
            found = _with_day(column, op, literal, session)
        case "timestamp", str() | date():  # a datetime is a date too
            instant = as_timestamp(literal, session)
            found = None if instant is None else Compare(column, op, instant)
        case "timestamp_ntz", str() | date():
            shown = as_timestamp_ntz(literal, session)
            found = None if shown is None else Compare(column, op, shown)
        case name, int() | Decimal() | float() if name.startswith("decimal"):
            found = _with_decimal(column, op, literal, unknown)
        case _:
            found = None
    return unknown if found is None else found


def compare_day(column: Column, op: Op, literal: Literal, session: tzinfo | None) -> Predicate:
    """``CAST(column AS DATE) op literal`` of a timestamp column."""
    if literal is None:
        return Never()
    asked = parse_date(literal) if isinstance(literal, str) else literal
    unknown = Opaque(f"CAST({'.'.join(column.path)} AS DATE) {op} {literal!r}")
    if isinstance(asked, datetime) or not isinstance(asked, date):
        return unknown
    # Where clocks are set back over midnight a day comes twice, so days there are not in order.
    settled = column.type == Primitive("timestamp_ntz") or isinstance(session, timezone)
    slack = timedelta() if settled else _DAY
    against = partial(compare, column, session=session)
    try:
        begin, end = asked - slack, asked + _DAY + slack
    except OverflowError:
        return unknown
    match op:
        case Op.GE | Op.GT:
            found = against(Op.GE, begin if op is Op.GE or slack else end)
        case Op.LE | Op.LT:
            found = against(Op.LT, end if op is Op.LE or slack else begin)
        case Op.EQ:
            found = all_of((against(Op.GE, begin), against(Op.LT, end)))
        case Op.NE:
            found = NotNull(column) if slack else any_of((against(Op.LT, begin), against(Op.GE, end)))
    return all_of((found, unknown)) if slack else found


def is_in(column: Column, literals: Sequence[Literal], session: tzinfo | None, *, negated: bool) -> Predicate:
    """``column [NOT] IN (literals)``."""
    if not _are_alike(column, literals):
        return Opaque(f"{'.'.join(column.path)} IN a list of several types")
    if negated:
        return all_of(compare(column, Op.NE, literal, session) for literal in literals)
    return one_of(column, (compare(column, Op.EQ, literal, session) for literal in literals))


def one_of(column: Column, parts: Iterable[Predicate]) -> Predicate:
    """Any of ``parts``, as one list of values if all are equalities of ``column``."""
    kept = any_of(parts)
    if not isinstance(kept, Or):
        return kept
    values = [part.value for part in kept.parts if isinstance(part, Compare) and part.op is Op.EQ]
    if len(values) < len(kept.parts):
        return kept
    return In(column, tuple(sorted(set(values))))


def starts_with(column: Column, prefix: Literal, *, negated: bool = False) -> Predicate:
    """``startswith(column, prefix)``."""
    if prefix is None:
        return Never()
    usable = column.plain and column.type == Primitive("string")
    if not usable or not isinstance(prefix, str) or not _is_usable(prefix):
        return Opaque(f"startswith({'.'.join(column.path)}, {prefix!r})")
    if not prefix:
        return Never() if negated else NotNull(column)
    return NotStartsWith(column, prefix) if negated else StartsWith(column, prefix)


def like(column: Column, pattern: Literal, escape: str, *, negated: bool) -> Predicate:
    """``column [NOT] LIKE pattern``: known for a prefix and a plain text, else as far as its prefix."""
    if pattern is None:
        return Never()
    unknown = Opaque(f"{'.'.join(column.path)} LIKE {pattern!r}")
    if not isinstance(pattern, str) or column.type != Primitive("string"):
        return unknown
    prefix, rest = "", ""
    position = 0
    while position < len(pattern) and not rest:
        char = pattern[position]
        if char == escape:
            position += 1
            if pattern[position : position + 1] not in ("%", "_", escape):
                return unknown
            prefix += pattern[position]
        elif char in "%_":
            rest = pattern[position:]
        else:
            prefix += char
        position += 1
    if not rest:
        return compare(column, Op.NE if negated else Op.EQ, prefix, None)
    if rest.strip("%"):
        return unknown if negated or not prefix else all_of((starts_with(column, prefix), unknown))
    return starts_with(column, prefix, negated=negated)


def is_true(column: Column, *, negated: bool) -> Predicate:
    """A boolean column as a condition of its own."""
    return compare(column, Op.EQ, not negated, None)


def constant_condition(value: Literal, *, negated: bool) -> Predicate:
    """A literal as a condition."""
    if value is None:
        return Never()
    if not isinstance(value, bool):
        return Opaque(repr(value))
    return Always() if value is not negated else Never()


def fits_integer_type(name: str, number: int) -> bool:
    """Whether a type of integers has this one."""
    return -(1 << INTEGER_BITS[name] - 1) <= number < 1 << INTEGER_BITS[name] - 1


def _with_integer(column: Column, op: Op, literal: Value, name: str) -> Predicate | None:
    match literal:
        case str():
            # Beyond the column's type it is a wider number, null or an error, as the session has it.
            inside = _WHOLE.fullmatch(literal) and fits_integer_type(name, int(literal))
            return Compare(column, op, int(literal)) if inside else None
        case float():
            known = abs(literal) < _EXACT_IN_DOUBLE  # beyond, several integers are the same double
        case int() | Decimal():
            known = _fits((literal,), integral=INTEGRAL_DIGITS, scale=0)
        case _:
            return None
    if not known:
        return None
    floor = math.floor(literal)
    if (op in (Op.LT, Op.LE) and literal > _LONGEST) or (op in (Op.GT, Op.GE) and literal < ~_LONGEST):
        return None  # Spark takes that for true, of nulls too
    return _compare_within_type(column, op, floor, exact=floor == literal, ends=(~_LONGEST, _LONGEST))


def _with_decimal(
    column: Column, op: Op, literal: int | Decimal | float, unknown: Opaque
) -> Predicate | None:
    if isinstance(literal, float):
        return all_of((_with_rounded(column, op, literal), unknown))
    precision, scale = precision_and_scale(column)
    if not _fits((literal,), integral=precision - scale, scale=scale):
        return None
    floor = _floor(Decimal(literal), scale)
    return _compare_within_type(column, op, floor, exact=floor == literal, ends=_ends(precision, scale))


def _with_rounded(column: Column, op: Op, number: float) -> Predicate:
    """Spark rounds the column to doubles here; what rounds to a double lies between its neighbours."""
    if not abs(number) < sys.float_info.max:
        return Always()
    precision, scale = precision_and_scale(column)

    def beside(op: Op, neighbour: float) -> Predicate:
        exact = Decimal(neighbour)
        floor = _floor(exact, scale)
        return _compare_within_type(column, op, floor, exact=floor == exact, ends=_ends(precision, scale))

    below = beside(Op.GE, math.nextafter(number, -math.inf))
    above = beside(Op.LE, math.nextafter(number, math.inf))
    match op:
        case Op.LT | Op.LE:
            return above
        case Op.GT | Op.GE:
            return below
        case Op.EQ:
            return all_of((below, above))
        case Op.NE:
            return NotNull(column)


def _floor(number: Decimal, scale: int) -> Decimal:
    return number.quantize(Decimal(f"1E-{scale}"), ROUND_FLOOR, WIDE_CONTEXT)


def _ends(precision: int, scale: int) -> tuple[Decimal, Decimal]:
    """The lowest and the highest value of a decimal type."""
    highest = Decimal(f"{'9' * precision}E-{scale}")
    return highest.copy_negate(), highest


def precision_and_scale(column: Column) -> tuple[int, int]:
    """Of a decimal column; without any they are Spark's."""
    name = column.type.name if isinstance(column.type, Primitive) else ""
    precision, _, scale = name.removeprefix("decimal").strip("()").partition(",")
    return int(precision or 10), int(scale or 0)


def _fits(numbers: Iterable[int | Decimal], *, integral: int, scale: int) -> bool:
    """Whether Spark compares a column with all of them exactly, in a decimal wide enough for all."""
    integral = max(integral, INTEGRAL_DIGITS)
    for number in numbers:
        _, digits, exponent = Decimal(number).as_tuple()
        if not isinstance(exponent, int):
            return False
        integral, scale = max(len(digits) + exponent, integral), max(-exponent, scale)
    return integral + scale <= _MAX_PRECISION


def _compare_within_type(
    column: Column, op: Op, floor: int | Decimal, *, exact: bool, ends: tuple[int | Decimal, int | Decimal]
) -> Predicate:
    """The comparison with a value that may lie beyond the ends of the column's type."""
    lowest, highest = ends
    if floor < lowest:
        return NotNull(column) if op in _OF_WHAT_IS_ABOVE else Never()
    if floor > highest:
        return NotNull(column) if op in _OF_WHAT_IS_BELOW else Never()
    return _compare_with_floor(column, op, floor, exact=exact)


def _compare_with_floor(column: Column, op: Op, floor: int | Decimal | date, *, exact: bool) -> Predicate:
    """The comparison with a value of which ``floor`` is the next value of the column's type, downwards."""
    if exact:
        return Compare(column, op, floor)
    match op:
        case Op.EQ:
            return Never()
        case Op.NE:
            return NotNull(column)
        case Op.LT | Op.LE:
            return Compare(column, Op.LE, floor)
        case Op.GT | Op.GE:
            return Compare(column, Op.GT, floor)


def _as_double(literal: int | Decimal | float, *, single: bool) -> float | None:
    try:
        number = float(literal)
    except OverflowError:
        return None
    # Whether Spark rounds an integer to a float or to a double depends on the session.
    if single and isinstance(literal, int) and not (is_exact_float(number) and number == literal):
        return None
    return number if math.isfinite(number) else None


def is_exact_float(number: float) -> bool:
    """Whether a float can be just this number."""
    (rounded,) = struct.unpack("f", struct.pack("f", number))
    return bool(rounded == number)


def _is_usable(text: str) -> bool:
    # The highest character stands for the end of all strings in upper bounds.
    return MAX_CHARACTER not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _with_day(column: Column, op: Op, literal: Value, session: tzinfo | None) -> Predicate | None:
    match literal:
        case str():
            asked = parse_date(literal)
            return None if asked is None else Compare(column, op, asked)
        case datetime():
            shown = as_timestamp_ntz(literal, session)
            if shown is None:
                return None
            floor = shown.date()
            return _compare_with_floor(
                column, op, floor, exact=datetime.combine(floor, datetime.min.time()) == shown
            )
        case date():
            return Compare(column, op, literal)
        case _:
            return None


def _are_alike(column: Column, literals: Sequence[Literal]) -> bool:
    """Whether a list compares like its members would; Spark compares all in one common type."""
    kinds = {literal_kind(literal) for literal in literals if literal is not None}
    if len(kinds) > 1 or not _fit_together(column, literals):
        return False
    timestamps = (Primitive("timestamp"), Primitive("timestamp_ntz"))
    return column.type not in timestamps or kinds != {"text"}


def _fit_together(column: Column, literals: Iterable[Literal]) -> bool:
    name = column.type.name if isinstance(column.type, Primitive) else ""
    if name not in INTEGER_BITS and not name.startswith("decimal"):
        return True
    precision, scale = (INTEGRAL_DIGITS, 0) if name in INTEGER_BITS else precision_and_scale(column)
    numbers = [literal for literal in literals if isinstance(literal, int | Decimal)]
    return _fits(numbers, integral=precision - scale, scale=scale)
