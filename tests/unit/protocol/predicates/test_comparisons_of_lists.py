"""Lists, prefixes and patterns beside a column, and conditions that are a literal or a column alone."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from headgate.protocol.predicates import comparisons
from headgate.protocol.predicates.literals import Literal
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
)
from headgate.protocol.schema.types import Primitive


def column(data_type: str, *, plain: bool = True) -> Column:
    return Column(("c",), Primitive(data_type), plain=plain)


@pytest.mark.parametrize(
    ("data_type", "literals", "expected"),
    [
        ("long", (16, 8, 3, -5, 3, None), In(column("long"), (-5, 3, 8, 16))),
        ("long", (1, Decimal("1.5")), Compare(column("long"), Op.EQ, 1)),
        ("long", (10**37, 1), Compare(column("long"), Op.EQ, 1)),
        ("long", (1, Decimal("1E-18")), Compare(column("long"), Op.EQ, 1)),
        ("decimal(30,8)", (2, 1), In(column("decimal(30,8)"), (Decimal(1), Decimal(2)))),
        ("double", (10**37, Decimal("0.5")), In(column("double"), (0.5, 1e37))),
        ("long", (None,), Never()), ("long", ("1", "2"), In(column("long"), (1, 2))),
        ("string", ("b", "a"), In(column("string"), ("a", "b"))),
        ("date", ("2024-02-29", "2024-01-01"), In(column("date"), (date(2024, 1, 1), date(2024, 2, 29)))),
        ("timestamp", (date(2024, 1, 2), date(2024, 1, 1)),
         In(column("timestamp"), (datetime(2024, 1, 1), datetime(2024, 1, 2)))),
        ("timestamp_ntz", (datetime(2024, 1, 1),),
         Compare(column("timestamp_ntz"), Op.EQ, datetime(2024, 1, 1))),
    ],
)  # fmt: skip
def test_lists(data_type: str, literals: tuple[Literal, ...], expected: Predicate) -> None:
    assert comparisons.is_in(column(data_type), literals, UTC, negated=False) == expected


@pytest.mark.parametrize(
    ("data_type", "literals"),
    [
        ("long", (1, "1")), ("long", (1, 1.0)), ("timestamp", ("2024-01-01",)),
        ("timestamp_ntz", ("2024-01-01",)), ("timestamp", (date(2024, 1, 1), datetime(2024, 1, 1))),
        ("long", (10**37, Decimal("0.10"))), ("decimal(10,4)", (10**37, Decimal("1.0"))),
        ("decimal(38,30)", (1, 2)), ("decimal(10,2)", (None, Decimal("1E-10"), 10**29)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("negated", [False, True])
def test_lists_that_spark_compares_in_another_type(
    data_type: str, literals: tuple[Literal, ...], negated: bool
) -> None:
    assert isinstance(comparisons.is_in(column(data_type), literals, UTC, negated=negated), Opaque)


def test_what_is_in_no_list() -> None:
    long = column("long")

    assert comparisons.is_in(long, (2, 1), UTC, negated=True) == And(
        (Compare(long, Op.NE, 2), Compare(long, Op.NE, 1))
    )
    assert comparisons.is_in(long, (1, None), UTC, negated=True) == Never()


def test_only_equalities_become_a_list() -> None:
    long = column("long")
    one = Compare(long, Op.EQ, 1)

    for other in (Compare(long, Op.GT, 5), IsNull(long), Opaque("rand() < 1")):
        assert comparisons.one_of(long, [one, other]) == Or((one, other))
    assert comparisons.one_of(long, [one]) == one
    assert comparisons.one_of(long, [one, Always()]) == Always()


STRING = column("string")


@pytest.mark.parametrize(
    ("beside", "prefix", "expected"),
    [
        (STRING, "ab", StartsWith(STRING, "ab")), (STRING, "", NotNull(STRING)), (STRING, None, Never()),
        (STRING, 1, Opaque), (STRING, "a\U0010ffff", Opaque), (STRING, "\udfff", Opaque),
        (column("long"), "1", Opaque), (column("string", plain=False), "a", Opaque),
    ],
)  # fmt: skip
def test_prefixes(beside: Column, prefix: Literal, expected: Any) -> None:
    found = comparisons.starts_with(beside, prefix)

    assert type(found) is expected if isinstance(expected, type) else found == expected


@pytest.mark.parametrize(
    ("prefix", "expected"), [("ab", NotStartsWith(STRING, "ab")), ("", Never()), (None, Never())]
)
def test_no_prefix(prefix: Literal, expected: Predicate) -> None:
    assert comparisons.starts_with(STRING, prefix, negated=True) == expected


def _begins(prefix: str) -> tuple[Predicate, Predicate]:
    return StartsWith(STRING, prefix), NotStartsWith(STRING, prefix)


def _is(text: str) -> tuple[Predicate, Predicate]:
    return Compare(STRING, Op.EQ, text), Compare(STRING, Op.NE, text)


@pytest.mark.parametrize(
    ("pattern", "escape", "liked", "not_liked"),
    [
        ("ab%", "\\", *_begins("ab")), ("ab%%", "\\", *_begins("ab")), ("a\\_b%", "\\", *_begins("a_b")),
        ("a\\\\%", "\\", *_begins("a\\")), ("a!!%", "!", *_begins("a!")), ("a\\!_%", "!", *_begins("a\\_")),
        ("ab", "\\", *_is("ab")), ("a\\%", "\\", *_is("a%")), ("a%%", "%", *_is("a%")), ("", "\\", *_is("")),
        ("%", "\\", NotNull(STRING), Never()), (None, "\\", Never(), Never()),
    ],
)  # fmt: skip
def test_patterns_that_are_a_prefix_or_a_text(
    pattern: Literal, escape: str, liked: Predicate, not_liked: Predicate
) -> None:
    assert comparisons.like(STRING, pattern, escape, negated=False) == liked
    assert comparisons.like(STRING, pattern, escape, negated=True) == not_liked


@pytest.mark.parametrize("pattern", ["ab%c", "ab_", "ab_%", "ab%\\%", "ab%%_"])
def test_other_patterns_leave_out_what_does_not_begin_so_and_prove_nothing(pattern: str) -> None:
    found = comparisons.like(STRING, pattern, "\\", negated=False)

    assert isinstance(found, And)
    assert found.parts[0] == StartsWith(STRING, "ab")
    assert isinstance(found.parts[1], Opaque)
    assert isinstance(comparisons.like(STRING, pattern, "\\", negated=True), Opaque)


@pytest.mark.parametrize(
    ("beside", "pattern"),
    [
        (STRING, "_b"), (STRING, "%b"), (STRING, "a\\b"), (STRING, "a\\"), (STRING, 1), (column("long"), "1"),
        (column("long"), "1%"), (column("string", plain=False), "a%b"), (column("string", plain=False), "a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("negated", [False, True])
def test_patterns_that_are_not_known(beside: Column, pattern: Literal, negated: bool) -> None:
    found = comparisons.like(beside, pattern, "\\", negated=negated)

    parts = found.parts if isinstance(found, And) else (found,)
    assert all(isinstance(part, Opaque) for part in parts)


@pytest.mark.parametrize(
    ("value", "true", "false"),
    [(True, Always(), Never()), (False, Never(), Always()), (None, Never(), Never()),
     (1, Opaque("1"), Opaque("1")), ("x", Opaque("'x'"), Opaque("'x'"))],
)  # fmt: skip
def test_a_literal_as_a_condition(value: Literal, true: Predicate, false: Predicate) -> None:
    assert comparisons.constant_condition(value, negated=False) == true
    assert comparisons.constant_condition(value, negated=True) == false


def test_a_column_as_a_condition() -> None:
    flag = column("boolean")

    assert comparisons.is_true(flag, negated=False) == Compare(flag, Op.EQ, True)
    assert comparisons.is_true(flag, negated=True) == Compare(flag, Op.EQ, False)
    assert isinstance(comparisons.is_true(column("string"), negated=False), Opaque)
