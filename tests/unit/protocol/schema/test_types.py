"""What columns and their types are, looked up and changed."""

from dataclasses import replace

import pytest

from headgate.protocol.schema.types import (
    Array,
    DataType,
    Field,
    Map,
    Primitive,
    Struct,
    as_nullable,
    leaf_columns,
    parquet_depth,
    with_structs,
)

LONG, TEXT, VARIANT = Primitive("long"), Primitive("string"), Primitive("variant")


def everywhere(inner: Struct) -> Struct:
    """A struct at every place where there can be one, all of them required."""
    return Struct(
        (
            Field("s", inner, nullable=False),
            Field("l", Array(inner, contains_null=False), nullable=False, metadata={"comment": "c"}),
            Field("m", Map(inner, inner, value_contains_null=False), nullable=False),
            Field("n", LONG, nullable=False),
        )
    )


def test_a_column_is_found_by_its_own_name_before_one_that_differs_by_case() -> None:
    twice = Struct((Field("A", TEXT), Field("a", LONG), Field("B", LONG), Field("b", TEXT)))
    wanted = {"a": twice.fields[1], "A": twice.fields[0], "B": twice.fields[2], "c": None}

    assert {name: twice.find(name) for name in wanted} == wanted
    assert twice.find_all(wanted) == tuple(wanted.values())
    assert (
        Struct(twice.fields[:1]).find("a") == Struct(twice.fields[:1]).find_all(["a"])[0] == Field("A", TEXT)
    )


def test_a_column_can_be_looked_up_whatever_it_says_of_itself() -> None:
    said = Field("a", LONG, metadata={"delta.identity": [1]})

    assert {said: "found"}[Field("a", LONG, metadata={"delta.identity": [1]})] == "found"


def test_leaves_have_their_paths() -> None:
    inner = Struct((Field("x", LONG), Field("y", Struct((Field("z", TEXT),)))))

    assert list(leaf_columns(Struct((Field("s", inner), Field("l", Array(inner, contains_null=True)))))) == [
        (("s", "x"), LONG), (("s", "y", "z"), TEXT), (("l",), Array(inner, contains_null=True)),
    ]  # fmt: skip


def test_every_struct_in_a_type_is_changed() -> None:
    before, after = Struct((Field("x", LONG),)), Struct((Field("y", TEXT),))

    changed = [with_structs(field.type, lambda _: after) for field in everywhere(before).fields]

    assert changed == [field.type for field in everywhere(after).fields]


def test_every_part_of_a_column_can_be_null() -> None:
    required, optional = (Struct((Field("x", LONG, nullable=nullable),)) for nullable in (False, True))
    struct, array, pairs, number = everywhere(optional).fields

    assert as_nullable(everywhere(required)) == Struct(
        (
            replace(struct, nullable=True),
            replace(array, nullable=True, type=Array(optional, contains_null=True)),
            replace(pairs, nullable=True, type=Map(optional, optional, value_contains_null=True)),
            replace(number, nullable=True),
        )
    )


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        (LONG, 0),
        (VARIANT, 1),
        (Struct(()), 1),
        (Struct((Field("a", LONG), Field("b", Array(LONG, contains_null=True)))), 3),
        (Map(LONG, VARIANT, value_contains_null=True), 3),
        (Map(Struct((Field("a", VARIANT),)), LONG, value_contains_null=True), 4),
    ],
)
def test_how_deep_a_type_is_in_a_file(kind: DataType, levels: int) -> None:
    assert parquet_depth(kind) == levels
