"""Do the rows fit?"""

import pytest

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol.schema import enforce, json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct, leaves

LONG, TEXT = Primitive("long"), Primitive("string")
TABLE = Struct(
    (Field("id", LONG, nullable=False), Field("tags", Array(TEXT, contains_null=True)), Field("note", TEXT))
)


def test_a_column_that_must_have_a_value_must_be_there() -> None:
    enforce.check_present(Struct((Field("ID", LONG),)), TABLE)
    computed = Field("id", LONG, nullable=False, metadata={"delta.generationExpression": "1"})
    enforce.check_present(Struct((Field("note", TEXT),)), Struct((computed,)))

    with pytest.raises(SchemaMismatch, match="'id' is NOT NULL in the table and missing") as caught:
        enforce.check_present(Struct((Field("note", TEXT),)), TABLE)

    assert caught.value.code == "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"


def test_texts_of_a_declared_length_are_strings_that_remember_it() -> None:
    declared = enforce.declared(Struct((Field("c", Primitive("char(3)")), Field("id", LONG))))

    assert declared.fields[0] == Field("c", TEXT, metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(3)"})
    assert declared.fields[1] == Field("id", LONG)


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
