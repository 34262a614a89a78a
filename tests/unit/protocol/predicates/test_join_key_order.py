"""Of which keys the least and the greatest say something about another column."""

import pytest

from headgate.protocol.predicates import join_key_order
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema.types import Array, DataType, Primitive


def column(data_type: DataType) -> Column:
    return Column(("c",), data_type)


@pytest.mark.parametrize(
    ("mine", "theirs", "shared"),
    [
        ("integer", "long", True),
        ("byte", "decimal(38,0)", True),
        ("long", "string", False),
        ("long", "double", False),
        ("long", "date", False),
        ("float", "long", True),
        ("double", "decimal(38,18)", True),
        ("double", "string", False),
        ("decimal(10,2)", "integer", True),
        ("decimal(38,18)", "long", True),
        ("decimal(38,19)", "long", False),
        ("decimal(38,28)", "integer", True),
        ("decimal(38,29)", "integer", False),
        ("decimal(38,33)", "short", True),
        ("decimal(38,34)", "short", False),
        ("decimal(38,35)", "byte", True),
        ("decimal(38,36)", "byte", False),
        ("decimal(38,18)", "decimal(38,2)", False),
        ("decimal(38,2)", "decimal(38,18)", False),
        ("decimal(20,2)", "decimal(38,18)", True),
        ("long", "decimal(38,18)", True),
        ("long", "decimal(38,19)", False),
        ("string", "string", True),
        ("string", "integer", False),
        ("string", "date", False),
        ("date", "string", False),
        ("date", "date", True),
        ("date", "timestamp", False),
        ("timestamp", "date", True),
        ("timestamp_ntz", "date", True),
        ("timestamp", "string", False),
        ("timestamp", "timestamp", False),
        ("boolean", "integer", False),
    ],
)
def test_only_keys_in_one_order_bound_each_other(mine: str, theirs: str, *, shared: bool) -> None:
    assert join_key_order.is_order_shared(column(Primitive(mine)), column(Primitive(theirs))) is shared


def test_lists_bound_nothing() -> None:
    numbers = column(Array(Primitive("long"), contains_null=True))

    assert not join_key_order.is_order_shared(numbers, column(Primitive("long")))
    assert not join_key_order.is_order_shared(column(Primitive("long")), numbers)
