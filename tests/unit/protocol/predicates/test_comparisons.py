"""A column beside a literal: what is known agrees with what Spark computes, and what is not is unknown."""

import operator
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from headgate.protocol.predicates import comparisons
from headgate.protocol.predicates.literals import Literal
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Column,
    Compare,
    Never,
    NotNull,
    Op,
    Opaque,
    Or,
    Predicate,
)
from headgate.protocol.schema.types import Array, DataType, Primitive

NEW_YORK = ZoneInfo("America/New_York")
INDIA = timezone(timedelta(hours=5, minutes=30))
DOES: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt,
    Op.LE: operator.le, Op.GT: operator.gt, Op.GE: operator.ge,
}  # fmt: skip


def column(data_type: str | DataType, *, plain: bool = True) -> Column:
    found = Primitive(data_type) if isinstance(data_type, str) else data_type
    return Column(("c",), found, plain=plain)


def compare(data_type: str, op: str, literal: Literal, session: tzinfo | None = UTC) -> Predicate:
    return comparisons.compare(column(data_type), Op(op), literal, session)


def may_hold(predicate: Predicate, value: Any) -> bool:
    """Whether a predicate may be true for a value of its only column."""
    match predicate:
        case Always() | Opaque() | NotNull():
            return True
        case Compare(_, op, beside):
            return DOES[op](value, beside)
        case And(parts):
            return all(may_hold(part, value) for part in parts)
        case _:
            return False


def values_in(predicate: Predicate) -> Iterable[Any]:
    match predicate:
        case And(parts):
            return [value for part in parts for value in values_in(part)]
        case Compare(_, _, value):
            return [value]
        case _:
            return []


LONGS = (-(2**63), -(2**53) - 1, -3, -2, -1, 0, 1, 2, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1)
BESIDE_LONGS: tuple[Any, ...] = (
    0, 1, -2, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**20, -(10**20), 10**37,
    *map(Decimal, (
        "1.5", "-1.5", "0.5", "-0.5", "2.00", "-1", "9223372036854775806.5", "9223372036854775807.5",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775808.5", "1E+37", "-1E+37",
        "1.000000000000000001", "0.000000000000000001",
    )),
    0.1, 1.5, -1.5, 2.0, -0.0, 5e-324, float(2**53 - 1), -float(2**53 - 1),
)  # fmt: skip


def is_true_of_nulls(op: Op, literal: Any) -> bool:
    """Spark has the answer before it looks at the column, where no long is beyond the literal."""
    below, above = literal < -(2**63), literal > 2**63 - 1
    return (below and op in (Op.GT, Op.GE)) or (above and op in (Op.LT, Op.LE))


@pytest.mark.parametrize("literal", BESIDE_LONGS, ids=repr)
def test_a_long_compares_as_the_numbers_do(literal: Any) -> None:
    for op in Op:
        found = compare("long", op, literal)

        if is_true_of_nulls(op, literal):
            assert isinstance(found, Opaque)
            continue
        assert isinstance(found, Compare | NotNull | Never)
        assert [may_hold(found, value) for value in LONGS] == [DOES[op](value, literal) for value in LONGS], (
            op
        )
        assert all(type(value) is int and value in range(-(2**63), 2**63) for value in values_in(found))


DECIMALS = tuple(
    map(Decimal, ("-99999999.99", "-1.51", "-1.50", "0.00", "0.01", "1.49", "1.50", "99999999.99"))
)
BESIDE_DECIMALS = (
    0, 1, -100_000_000, 100_000_000, 10**30,
    *map(Decimal, (
        "1.5", "1.505", "-1.505", "1.4999999999", "0.001", "-0.001", "99999999.99", "99999999.991",
        "100000000", "-99999999.99", "-99999999.991", "-99999999.995", "-100000000", "1E+8", "1E-18",
    )),
)  # fmt: skip


@pytest.mark.parametrize("literal", BESIDE_DECIMALS, ids=repr)
def test_a_decimal_compares_as_the_numbers_do(literal: int | Decimal) -> None:
    for op in Op:
        found = compare("decimal(10,2)", op, literal)

        assert isinstance(found, Compare | NotNull | Never)
        spark = [DOES[op](value, literal) for value in DECIMALS]
        assert [may_hold(found, value) for value in DECIMALS] == spark, op
        assert all(Decimal("-1e8") < value < Decimal("1e8") for value in values_in(found))
        assert all(value.as_tuple().exponent == -2 for value in values_in(found))


@pytest.mark.parametrize(
    "literal", [0.0, 1.5, -1.5, 1.501, 99999999.99, -99999999.99, 1e8, -1e8, 1e300, -1e300, 5e-324], ids=repr
)
@pytest.mark.parametrize("op", Op)
def test_a_double_beside_a_decimal_leaves_out_what_spark_does_and_proves_nothing(
    op: Op, literal: float
) -> None:
    found = compare("decimal(10,2)", op, literal)
    spark = [value for value in DECIMALS if DOES[op](float(value), literal)]

    assert set(spark) <= {value for value in DECIMALS if may_hold(found, value)}
    assert found == Never() or isinstance(found, And)
    assert found == Never() or any(isinstance(part, Opaque) for part in found.parts)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("op", "literal", "left_out"),
    [
        ("<", 1.0, ["1.49"]), ("<=", 1.0, ["1.49"]), ("<", -1.6, ["-1.50"]), ("<=", 0.005, ["0.01"]),
        (">", 1.495, ["1.49"]), (">=", 1.495, ["1.49"]), (">", 1e8, ["99999999.99"]), (">=", 0.005, ["0.00"]),
        ("=", 1.495, ["1.49", "1.50"]), ("=", 1e8, ["99999999.99"]), ("=", -1e8, ["-99999999.99"]),
        ("<", -1e8, ["-99999999.99"]),
    ],
)  # fmt: skip
def test_a_double_beside_a_decimal_leaves_out_what_is_not_next_to_it(
    op: str, literal: float, left_out: list[str]
) -> None:
    found = compare("decimal(10,2)", op, literal)

    assert not any(may_hold(found, Decimal(value)) for value in left_out)


def test_decimals_that_are_one_double_are_all_beside_it() -> None:
    wide, literal = "decimal(38,18)", 12345678901234567890.0
    near = Decimal("12345678901234567890.000000000000000001")
    assert float(near) == literal
    assert Fraction(near) != Fraction(literal)

    assert all(may_hold(compare(wide, op, literal), near) for op in ("=", "<=", ">="))
    assert not any(may_hold(compare(wide, op, literal), near + 5000) for op in ("=", "<=", "<"))
    assert not any(may_hold(compare(wide, op, literal), near - 5000) for op in ("=", ">=", ">"))


@pytest.mark.parametrize(
    ("data_type", "literal", "known"),
    [
        ("long", float(2**53), False), ("long", -float(2**53), False), ("integer", float("nan"), False),
        ("long", float("inf"), False), ("long", Decimal("NaN"), False), ("long", Decimal("Infinity"), False),
        ("long", Decimal("1.0000000000000000001"), False),  # 20 digits before the point, and 19 after it
        ("long", 10**38, False), ("long", Decimal("1E+38"), False),
        ("byte", "127", True), ("byte", "-128", True), ("byte", "128", False), ("byte", "-129", False),
        ("short", "32767", True), ("short", "32768", False), ("integer", "-2147483648", True),
        ("integer", "3000000000", False), ("long", "3000000000", True), ("long", "9223372036854775807", True),
        ("long", "9223372036854775808", False), ("long", "-9223372036854775808", True), ("long", "-0", False),
        ("long", "+1", False), ("long", "1.0", False), ("long", " 1", False), ("long", "٣", False),
        ("long", "1" * 5000, False), ("long", date(2024, 1, 1), False),
        # Of what type a literal was made is not known, and a long has 20 digits before the point.
        ("decimal(38,18)", Decimal("12345678.5"), True), ("decimal(38,18)", 1, True),
        ("decimal(38,19)", Decimal("0.5"), False), ("decimal(38,19)", 1, False),
        ("decimal(10,2)", Decimal("1E-19"), False),
        ("decimal(38,0)", Decimal("0.5"), False), ("decimal(38,0)", 10**37, True),
        ("decimal(38,10)", Decimal("1234567890123456789012345678.0123456789"), True),
        ("decimal(10,2)", "1.5", False), ("decimal(10,2)", Decimal("NaN"), False),
        ("decimal(10,2)", float("nan"), False), ("decimal(10,2)", float("inf"), False),
        ("decimal(10,2)", sys.float_info.max, False), ("decimal(10,2)", -sys.float_info.max, False),
        ("double", 10**400, False), ("double", Decimal("1E+400"), False), ("double", float("inf"), False),
        ("double", float("nan"), False), ("double", 2**53 + 1, True), ("double", 16777217, True),
        ("double", "1.5", False), ("float", 16777216, True), ("float", 16777217, False),
        ("float", 2**60 + 1, False), ("float", 10**39, False), ("float", 10**400, False),
        ("float", Decimal("0.1"), True), ("float", 0.1, True), ("float", 1e300, True),
        ("string", "a", True), ("string", "a\ud800", False), ("string", "a\U0010ffff", False),
        ("string", "\ue000", True), ("string", 1, False), ("boolean", True, True), ("boolean", 1, False),
        ("integer", True, False), ("string", False, False), ("double", True, False), ("binary", "a", False),
        ("date", "2024-02-29", True), ("date", "2023-02-29", False), ("date", 5, False),
        ("timestamp", 5, False), ("timestamp", "x", False), ("timestamp_ntz", "x", False),
        ("timestamp_ntz", 5, False), ("timestamp", datetime(1, 1, 1), True),
    ],
)  # fmt: skip
def test_which_literals_are_known_beside_a_column(data_type: str, literal: Literal, known: bool) -> None:
    found = compare(data_type, "<", literal)

    assert isinstance(found, Opaque) is not known
    assert isinstance(compare(data_type, "=", literal), Opaque) is not known
    assert found is not None


@pytest.mark.parametrize(
    ("data_type", "literal", "value"),
    [
        ("integer", "-12", -12), ("float", 16777216, 16777216.0), ("double", 2**53 + 1, 2.0**53),
        ("double", Decimal("0.1"), 0.1), ("float", Decimal("0.1"), 0.1),
        ("decimal(38,10)", Decimal("1234567890123456789012345678.5"),
         Decimal("1234567890123456789012345678.5000000000")),
        ("decimal", 1234567890, Decimal(1234567890)),
        ("date", datetime(2024, 2, 29), date(2024, 2, 29)), ("date", date(2024, 2, 29), date(2024, 2, 29)),
        ("date", datetime(2024, 2, 28, 18, 30, tzinfo=UTC), date(2024, 2, 29)),
        ("timestamp", date(2024, 2, 29), datetime(2024, 2, 28, 18, 30)),
        ("timestamp_ntz", datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 2, 29, 5, 30)),
    ],
)  # fmt: skip
def test_the_value_that_a_column_is_compared_with(data_type: str, literal: Literal, value: object) -> None:
    found = compare(data_type, ">=", literal, INDIA)

    assert found == Compare(column(data_type), Op.GE, value)  # type: ignore[arg-type]  # any value
    assert type(found.value) is type(value)


def test_a_decimal_without_digits_is_that_of_spark() -> None:
    assert comparisons.precision_and_scale(column("decimal")) == (10, 0)
    assert comparisons.precision_and_scale(column("decimal(38, 9)")) == (38, 9)
    assert compare("decimal", "<", 10**10) == NotNull(column("decimal"))


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("=", Never()), ("<>", NotNull(column("date"))),
        ("<", Compare(column("date"), Op.LE, date(2024, 2, 29))),
        (">=", Compare(column("date"), Op.GT, date(2024, 2, 29))),
    ],
)  # fmt: skip
def test_a_day_beside_a_moment_within_it(op: str, expected: Predicate) -> None:
    assert compare("date", op, datetime(2024, 2, 29, 12)) == expected
    assert compare("date", op, datetime(2024, 2, 29, 12), NEW_YORK) == expected
    assert isinstance(compare("date", op, datetime(2024, 2, 29, 12, tzinfo=UTC), NEW_YORK), Opaque)


def test_nothing_equals_null_and_what_has_its_own_order_is_unknown() -> None:
    assert comparisons.compare(column("string", plain=False), Op.EQ, None, UTC) == Never()
    assert isinstance(comparisons.compare(column("string", plain=False), Op.EQ, "a", UTC), Opaque)
    assert isinstance(comparisons.compare(column(Array(Primitive("long"), True)), Op.EQ, 1, UTC), Opaque)


TS, WALL = column("timestamp"), column("timestamp_ntz")


def _at(beside: Column, op: str, moment: datetime) -> Compare:
    return Compare(beside, Op(op), moment)


@pytest.mark.parametrize(("beside", "session"), [(TS, UTC), (WALL, UTC), (WALL, NEW_YORK), (WALL, None)])
def test_the_day_of_a_timestamp_is_exact_where_days_are_in_order(
    beside: Column, session: tzinfo | None
) -> None:
    begin, end = datetime(2024, 7, 2), datetime(2024, 7, 3)
    expected = {
        "=": And((_at(beside, ">=", begin), _at(beside, "<", end))),
        "<>": Or((_at(beside, "<", begin), _at(beside, ">=", end))),
        "<": _at(beside, "<", begin), "<=": _at(beside, "<", end),
        ">": _at(beside, ">=", end), ">=": _at(beside, ">=", begin),
    }  # fmt: skip

    for literal in ("2024-07-02", date(2024, 7, 2)):
        found = {op: comparisons.compare_day(beside, Op(op), literal, session) for op in expected}
        assert found == expected


@pytest.mark.parametrize("op", Op)
def test_elsewhere_the_day_leaves_out_what_is_far_from_it_and_proves_nothing(op: Op) -> None:
    found = comparisons.compare_day(TS, op, "2024-07-02", NEW_YORK)
    moments = [datetime(2024, 6, 29) + timedelta(hours=hours) for hours in range(24 * 7)]
    shown = [moment.replace(tzinfo=UTC).astimezone(NEW_YORK).date() for moment in moments]
    spark = {moment for moment, day in zip(moments, shown, strict=True) if DOES[op](day, date(2024, 7, 2))}

    kept = {moment for moment in moments if may_hold(found, moment)}

    assert spark <= kept
    assert isinstance(found, And)
    assert isinstance(found.parts[-1], Opaque)
    assert op is Op.NE or kept < set(moments)


def test_the_day_where_clocks_change_has_a_day_of_slack_on_either_side() -> None:
    begin, end = datetime(2024, 7, 1, 4), datetime(2024, 7, 4, 4)
    found = {op: comparisons.compare_day(TS, Op(op), "2024-07-02", NEW_YORK) for op in Op}

    assert {op: each.parts[:-1] for op, each in found.items() if isinstance(each, And)} == {
        "=": (_at(TS, ">=", begin), _at(TS, "<", end)), "<>": (NotNull(TS),),
        "<": (_at(TS, "<", end),), "<=": (_at(TS, "<", end),),
        ">": (_at(TS, ">=", begin),), ">=": (_at(TS, ">=", begin),),
    }  # fmt: skip


@pytest.mark.parametrize(
    "literal", [5, True, "tomorrow", datetime(2024, 7, 2), date.max, date.min, "9999-12-31"]
)
def test_days_that_are_not_known(literal: Literal) -> None:
    assert isinstance(comparisons.compare_day(TS, Op.EQ, literal, NEW_YORK), Opaque)


def test_no_day_is_null_and_the_first_and_the_last_have_no_neighbours() -> None:
    assert comparisons.compare_day(TS, Op.EQ, None, UTC) == Never()
    assert comparisons.compare_day(TS, Op.GE, date.min, UTC) == _at(TS, ">=", datetime.min)
    assert isinstance(comparisons.compare_day(TS, Op.LE, date.max, UTC), Opaque)
