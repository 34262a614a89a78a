"""Which columns an expression is about, so that nobody drops one that a constraint needs."""

import pytest

from headgate.protocol.schema import expression_columns


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("A > 1 AND `odd name` IS NULL", {"a", "odd name"}),
        ("address.City = 'x'", {"address"}),
        ("upper(a) <> concat(b, b)", {"a", "b"}),
        ("1 = 1", set()),
    ],
)
def test_columns_are_named_by_their_outermost_part_in_lower_case(expression: str, columns: set[str]) -> None:
    assert expression_columns.top_level_columns(expression) == frozenset(columns)


def test_of_what_cannot_be_parsed_nothing_is_claimed() -> None:
    assert expression_columns.top_level_columns("a >") is None
    assert expression_columns.top_level_columns("(" * 5_000) is None
    assert expression_columns.top_level_columns("(" * 11 + "a" + ")" * 11) is None
    assert expression_columns.top_level_columns("NOT " * 5_000 + "a") is None
