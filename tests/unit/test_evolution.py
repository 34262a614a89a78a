"""Which columns a table may get with its files left as they are."""

import itertools

import pytest

from headgate.protocol.schema import evolution

ORDER = ("byte", "short", "integer", "long")
TYPES = (
    *ORDER,
    "float",
    "double",
    "date",
    "timestamp",
    "timestamp_ntz",
    "string",
    "boolean",
    "decimal(10,2)",
    "decimal(20,0)",
)
WIDER = {
    *itertools.combinations(ORDER, 2),
    ("float", "double"),
    ("date", "timestamp_ntz"),
    *((small, "double") for small in ORDER[:3]),
    *((number, "decimal(20,0)") for number in ORDER),
}


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(TYPES, 2)))
def test_a_type_is_widened_or_it_is_not(old: str, new: str) -> None:
    assert evolution.is_widening(old, new) is ((old, new) in WIDER)


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(10,1)", False),
        ("integer", "decimal(10,0)", True),
        ("integer", "decimal(10,1)", False),
        ("long", "decimal(19,0)", False),
        ("long", "decimal(22,2)", True),
    ],
)
def test_a_decimal_keeps_its_digits_on_both_sides(old: str, new: str, wider: bool) -> None:
    assert evolution.is_widening(old, new) is wider
