"""How predicates are put together, and which column a name stands for."""

from typing import Any

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import tree
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Column,
    Compare,
    IsNull,
    Never,
    NotNull,
    Op,
    Opaque,
    Or,
    Predicate,
)
from headgate.protocol.schema.types import Array, Field, Primitive, Struct

LONG, TEXT = Primitive("long"), Primitive("string")
INNER = Struct((Field("Zip", LONG), Field("deep", Struct((Field("x", LONG),)))))
SCHEMA = Struct(
    (
        Field("Id", LONG),
        Field("address", INNER),
        Field("l", Array(INNER, contains_null=True)),
        Field("code", TEXT, metadata={"__CHAR_VARCHAR_TYPE_STRING": "CHAR(5)"}),
        Field("name", TEXT, metadata={"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}),
        Field("word", TEXT, metadata={"__COLLATIONS": {"word": "ICU.UNICODE_CI"}}),
        Field("grown", Primitive("double"), metadata={"delta.typeChanges": [{"fromType": "float"}]}),
        Field("wide", LONG, metadata={"delta.typeChanges": [{"fromType": "integer"}]}),
    )
)
A, B, C = (IsNull(Column((name,), LONG)) for name in "abc")
BOTH, EITHER = And((A, B)), Or((A, B))


@pytest.mark.parametrize(
    ("parts", "every", "some"),
    [
        ([], Always(), Never()),
        ([A], A, A),
        ([A, B], BOTH, EITHER),
        ([Always(), A], A, Always()),
        ([A, Never()], Never(), A),
        ([Always()], Always(), Always()),
        ([Never(), Always()], Never(), Always()),
        ([BOTH, C], And((A, B, C)), Or((BOTH, C))),
        ([C, EITHER], And((C, EITHER)), Or((C, A, B))),
    ],
)
def test_parts_are_joined_without_needless_levels(
    parts: list[Predicate], every: Predicate, some: Predicate
) -> None:
    assert tree.all_of(parts) == every
    assert tree.any_of(parts) == some


def test_the_columns_of_a_predicate_are_those_of_all_its_parts() -> None:
    found = And((A, Or((Compare(B.column, Op.EQ, 1), Opaque("c"))), Always(), Never(), NotNull(C.column)))

    assert [column.path for column in tree.referenced_columns(found)] == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize(
    ("op", "negated", "mirrored"),
    [
        ("=", "<>", "="),
        ("<>", "=", "<>"),
        ("<", ">=", ">"),
        (">=", "<", "<="),
        (">", "<=", "<"),
        ("<=", ">", ">="),
    ],
)
def test_comparisons_turned_round(op: str, negated: str, mirrored: str) -> None:
    assert (Op(op).negated, Op(op).mirrored) == (negated, mirrored)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("id", Column(("Id",), LONG)),
        ("ADDRESS.zip", Column(("address", "Zip"), LONG)),
        ("address.deep.X", Column(("address", "deep", "x"), LONG)),
        ("address", None),
        ("address.deep", None),
        ("l", Column(("l",), SCHEMA.fields[2].type)),
        ("l.zip", None),
        ("", None),
        ("code", Column(("code",), TEXT, plain=False)),
        ("word", Column(("word",), TEXT, plain=False)),
        ("name", Column(("name",), TEXT)),
        ("grown", Column(("grown",), Primitive("double"), was_float=True)),
        ("wide", Column(("wide",), LONG)),
    ],
)
def test_which_column_a_name_stands_for(name: str, column: Column | None) -> None:
    assert tree.resolve_column(SCHEMA, tuple(name.split(".")) if name else ()) == column


def test_a_part_of_what_does_not_compare_by_its_bytes_does_not_either() -> None:
    padded: dict[str, Any] = {"__COLLATIONS": {}}
    schema = Struct((Field("s", Struct((Field("x", TEXT), Field("n", LONG))), metadata=padded),))

    assert tree.resolve_column(schema, ("s", "x")) == Column(("s", "x"), TEXT, plain=False)
    assert tree.resolve_column(schema, ("s", "n")) == Column(("s", "n"), LONG)


@pytest.mark.parametrize("name", ["no", "address.no", "id.x", "address.zip.x", "t.no"])
def test_a_name_without_a_column_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="no column") as caught:
        tree.resolve_column(SCHEMA, tuple(name.split(".")), alias="t")

    assert caught.value.code == "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("idd", "did you mean 'Id' or"),
        ("address.zipp", "did you mean 'address.Zip'?"),
        ("zip", "did you mean 'address.Zip'?"),
        ("address.deep.qqq", "it has 'x'"),
        ("id.x", "it has no fields"),
    ],
)
def test_a_mistake_is_answered_with_what_was_probably_meant(name: str, hint: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        tree.resolve_column(SCHEMA, tuple(name.split(".")))

    assert hint in caught.value.message


def test_the_name_of_the_table_may_stand_in_front_unless_a_column_has_it() -> None:
    assert tree.resolve_column(SCHEMA, ("T", "id"), alias="t") == Column(("Id",), LONG)
    assert tree.resolve_column(SCHEMA, ("address", "zip"), alias="address") == Column(
        ("address", "Zip"), LONG
    )
    with pytest.raises(InvalidRequest):
        tree.resolve_column(SCHEMA, ("u", "id"), alias="t")
    with pytest.raises(InvalidRequest):
        tree.resolve_column(SCHEMA, ("t",), alias="t")
