"""Do the rows fit?"""

import pytest

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol.schema import enforce, json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct, leaves

LONG, TEXT = Primitive("long"), Primitive("string")
TABLE = Struct(
    (Field("id", LONG, nullable=False), Field("tags", Array(TEXT, contains_null=True)), Field("note", TEXT))
)


def test_order_and_case_do_not_matter_and_nullable_columns_may_be_missing() -> None:
    enforce.check_fits(Struct((Field("TAGS", Array(TEXT, contains_null=False)), Field("Id", LONG))), TABLE)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (Struct((Field("id", LONG), Field("extra", TEXT))), "'extra' is not in the table"),
        (Struct((Field("id", Primitive("integer")),)), "'id' is long in the table but integer in the rows"),
        (Struct((Field("note", TEXT),)), "'id' is NOT NULL in the table and missing"),
        (Struct((Field("id", LONG), Field("tags", TEXT))), "'tags' is array<string> in the table"),
    ],
)
def test_each_difference_is_named(rows: Struct, says: str) -> None:
    with pytest.raises(SchemaMismatch) as caught:
        enforce.check_fits(rows, TABLE)

    assert says in caught.value.message
    assert caught.value.code == "DELTA_METADATA_MISMATCH"


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (Struct(()), "DELTA_EMPTY_DATA"),
        (Struct((Field("a b", LONG),)), "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        (Struct((Field("a", LONG), Field("A", TEXT))), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (
            Struct((Field("s", Struct((Field("x", LONG), Field("X", LONG)))),)),
            "DELTA_DUPLICATE_COLUMNS_FOUND",
        ),
        (
            Struct((Field("s", Struct((Field("x", LONG, nullable=False),))),)),
            "DELTA_NESTED_NOT_NULL_CONSTRAINT",
        ),
        (Struct((Field("v", Primitive("void")),)), "DELTA_UNSUPPORTED_DATA_TYPES"),
        (
            Struct((Field("v", Array(Primitive("char(3)"), contains_null=True)),)),
            "DELTA_UNSUPPORTED_DATA_TYPES",
        ),
        (Struct((Field("v", Primitive("variant")),)), "DELTA_UNSUPPORTED_DATA_TYPES"),
    ],
)
def test_a_schema_no_table_may_have_is_refused(schema: Struct, code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        enforce.check_new(schema)

    assert caught.value.code == code


def test_a_schema_survives_the_way_to_its_string_and_back() -> None:
    nested = Struct(
        (
            *TABLE.fields,
            Field("m", Map(TEXT, Struct((Field("x", LONG, metadata={"k": 1}),)), value_contains_null=True)),
        )
    )

    assert json.parse(json.render(nested)) == nested


def test_leaves_are_the_columns_that_are_not_structs() -> None:
    nested = Struct(
        (Field("a", Struct((Field("b", LONG), Field("c", Struct((Field("d", TEXT),)))))), Field("e", LONG))
    )

    assert [path for path, _ in leaves(nested)] == [("a", "b"), ("a", "c", "d"), ("e",)]
