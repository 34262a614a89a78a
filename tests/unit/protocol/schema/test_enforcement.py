"""Do the rows fit?"""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headgate.errors import InvalidRequest, SchemaMismatch
from headgate.protocol.schema import enforcement, json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, leaf_columns

LONG, TEXT, VARIANT = Primitive("long"), Primitive("string"), Primitive("variant")
TABLE = Struct(
    (Field("id", LONG, nullable=False), Field("tags", Array(TEXT, contains_null=True)), Field("note", TEXT))
)


def test_a_column_that_must_have_a_value_must_be_there() -> None:
    enforcement.check_required_columns(Struct((Field("ID", LONG),)), TABLE)
    computed = Field("id", LONG, nullable=False, metadata={"delta.generationExpression": "1"})
    enforcement.check_required_columns(Struct((Field("note", TEXT),)), Struct((computed,)))

    with pytest.raises(SchemaMismatch, match="'id' is NOT NULL in the table and missing") as caught:
        enforcement.check_required_columns(Struct((Field("note", TEXT),)), TABLE)

    assert caught.value.code == "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"


def deep(kind: str, levels: int, inmost: DataType = LONG) -> DataType:
    """A type in so many others of a kind."""
    found = inmost
    for _ in range(levels):
        found = {
            "struct": Struct((Field("a", found),)),
            "array": Array(found, contains_null=True),
            "map": Map(LONG, found, value_contains_null=True),
        }[kind]
    return found


def test_a_table_without_columns_is_refused_as_such() -> None:
    with pytest.raises(InvalidRequest, match="a table needs at least one column") as caught:
        enforcement.check_new_schema(Struct(()))
    assert caught.value.code == "DELTA_EMPTY_DATA"


@pytest.mark.parametrize(
    ("schema", "code"),
    [
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
        (Struct((Field("v", Primitive("interval year")),)), "DELTA_UNSUPPORTED_DATA_TYPES"),
        (
            Struct(
                (
                    Field(
                        "v", Primitive("variant"), metadata={"delta.generationExpression": "parse_json('1')"}
                    ),
                )
            ),
            "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN",
        ),
        (Struct((Field("", LONG),)), "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
        (
            Struct((Field("m", Map(Struct((Field("a=b", LONG),)), LONG, value_contains_null=True)),)),
            "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
        ),
        (
            Struct((Field("m", Map(LONG, Struct((Field("a;b", LONG),)), value_contains_null=True)),)),
            "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
        ),
        (
            Struct((Field("l", Array(Struct((Field("x", LONG, nullable=False),)), contains_null=True)),)),
            "DELTA_NESTED_NOT_NULL_CONSTRAINT",
        ),
        (Struct((Field("s", Struct(())),)), "DELTA_EMPTY_DATA"),
        (Struct((Field("l", Array(Struct(()), contains_null=True)),)), "DELTA_EMPTY_DATA"),
        (Struct((Field("m", Map(LONG, Struct(()), value_contains_null=True)),)), "DELTA_EMPTY_DATA"),
        (Struct((Field("s", deep("struct", 99)),)), "HEADGATE_SCHEMA_TOO_DEEP"),
        (Struct((Field("l", deep("array", 50)),)), "HEADGATE_SCHEMA_TOO_DEEP"),
        (Struct((Field("m", deep("map", 50)),)), "HEADGATE_SCHEMA_TOO_DEEP"),
        (Struct((Field("v", deep("struct", 98, VARIANT)),)), "HEADGATE_SCHEMA_TOO_DEEP"),
        (
            Struct((Field("s", Struct((Field("a", LONG), Field("b", deep("struct", 98))))),)),
            "HEADGATE_SCHEMA_TOO_DEEP",
        ),
        (
            Struct((Field("v", VARIANT, metadata={"delta.generationExpression": "1"}),)),
            "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN",
        ),
    ],
)
def test_a_schema_no_table_may_have_is_refused(schema: Struct, code: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        enforcement.check_new_schema(schema)

    assert caught.value.code == code


def test_a_variant_takes_one_level_and_may_have_a_default() -> None:
    """In a file it is a group of two columns."""
    default = Field("w", VARIANT, metadata={"CURRENT_DEFAULT": "parse_json('{}')"})
    generated = Field("g", LONG, metadata={"delta.generationExpression": "1"})

    enforcement.check_new_schema(Struct((Field("v", deep("struct", 97, VARIANT)), default, generated)))


@pytest.mark.parametrize(("kind", "levels"), [("struct", 98), ("array", 49), ("map", 49)])
def test_columns_may_be_as_deep_as_files_can_be(kind: str, levels: int) -> None:
    schema, content = Struct((Field("d", deep(kind, levels)),)), pa.BufferOutputStream()
    arrow: pa.DataType = pa.int64()
    for _ in range(levels):
        arrow = {
            "struct": pa.struct([("a", arrow)]), "array": pa.list_(arrow), "map": pa.map_(pa.int64(), arrow)
        }[kind]  # fmt: skip
    pq.write_table(pa.table({"d": pa.nulls(1, arrow)}), content)

    enforcement.check_new_schema(schema)

    assert pq.read_metadata(pa.BufferReader(content.getvalue())).num_rows == 1


def test_names_of_mapped_columns_may_be_any_but_empty() -> None:
    nested = Map(LONG, Struct((Field("a b", LONG),)), value_contains_null=True)
    odd = Struct((Field("a b", LONG), Field("l", Array(nested, contains_null=True)), Field("k", nested)))

    enforcement.check_new_schema(odd, mapped=True)
    enforcement.check_new_schema(TABLE)
    for empty in (Struct((Field("", LONG),)), Struct((Field("s", Struct((Field("", LONG),))),))):
        with pytest.raises(InvalidRequest) as caught:
            enforcement.check_new_schema(empty, mapped=True)
        assert caught.value.code == "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"


VOID = Primitive("void")
TWICE = Struct((Field("x", LONG), Field("X", LONG)))


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (Field("ID", LONG), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (Field("s", TWICE), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (Field("l", Array(TWICE, contains_null=True)), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (Field("m", Map(TWICE, LONG, value_contains_null=True)), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (Field("m", Map(LONG, TWICE, value_contains_null=True)), "DELTA_DUPLICATE_COLUMNS_FOUND"),
        (Field("l", Array(VOID, contains_null=True)), "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE"),
        (
            Field("l", Array(Struct((Field("x", VOID),)), contains_null=True)),
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
        ),
        (
            Field("m", Map(VOID, LONG, value_contains_null=True)),
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
        ),
        (
            Field("m", Map(LONG, VOID, value_contains_null=True)),
            "DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE",
        ),
    ],
)
def test_rows_that_no_table_can_take_are_refused(column: Field, code: str) -> None:
    with pytest.raises(SchemaMismatch) as caught:
        enforcement.check_row_schema(Struct((Field("id", LONG), column)))

    assert caught.value.code == code


def test_rows_may_have_a_void_column_outside_of_lists_and_maps() -> None:
    rows = Struct((Field("n", VOID), Field("s", Struct((Field("x", VOID), Field("y", LONG))))))

    assert enforcement.check_row_schema(rows) is rows


@pytest.mark.parametrize("key", ["delta.generationExpression", "CURRENT_DEFAULT", "delta.identity.start"])
def test_a_column_that_gets_its_value_by_itself_may_be_missing(key: str) -> None:
    table = Struct((Field("id", LONG, nullable=False, metadata={key: "1"}), Field("note", TEXT)))

    enforcement.check_required_columns(Struct(()), table)


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

    assert [path for path, _ in leaf_columns(nested)] == [("a", "b"), ("a", "c", "d"), ("e",)]


ROW = Struct((Field("a", LONG), Field("b", Struct((Field("c", TEXT), Field("d", LONG))))))
LIST, BY_NAME = Array(ROW, contains_null=True), Map(TEXT, ROW, value_contains_null=True)
FEWER, OTHER = Struct(ROW.fields[:1]), Struct((*ROW.fields, Field("e", LONG)))
DEEPER = Struct(
    (Field("A", LONG), Field("b", Struct((Field("c", TEXT), Field("D", LONG), Field("e", TEXT)))))
)


@pytest.mark.parametrize("found", [Primitive("void"), ROW, Struct(tuple(reversed(ROW.fields)))])
def test_a_value_with_the_fields_of_the_column_is_whole_in_it(found: DataType) -> None:
    enforcement.check_assignable("s", found, ROW)
    enforcement.check_assignable("s", Array(found, contains_null=True), LIST)
    enforcement.check_assignable("s", Map(LONG, found, value_contains_null=True), BY_NAME)
    enforcement.check_assignable("s", found, TEXT)
    enforcement.check_assignable("s", TEXT, LONG)


@pytest.mark.parametrize(
    ("found", "wanted", "says"),
    [
        (FEWER, ROW, "column 's' .* the value lacks 'b' of the fields"),
        (OTHER, ROW, "column 's' .* the value has 'e' beyond the fields"),
        (Struct(OTHER.fields[1:]), ROW, "the value has 'e' beyond and lacks 'a' of the fields"),
        (DEEPER, ROW, "column 's.b' .* has 'e' beyond"),
        (Array(FEWER, contains_null=True), LIST, "column 's.element' .* lacks 'b'"),
        (Map(TEXT, OTHER, value_contains_null=True), BY_NAME, "column 's.value' .* has 'e'"),
        (Map(OTHER, TEXT, value_contains_null=True), Map(ROW, TEXT, value_contains_null=True), "'s.key'"),
        (TEXT, ROW, "the value is string"),
        (LIST, BY_NAME, "the value is array"),
        (LONG, Primitive("void"), "of type void cannot be set"),
        (ROW, Primitive("void"), "of type void cannot be set"),
    ],
)
def test_a_value_that_would_lose_something_is_refused(found: DataType, wanted: DataType, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says) as caught:
        enforcement.check_assignable("s", found, wanted)
    assert caught.value.code == "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"


def test_a_value_may_lack_fields_where_columns_evolve_but_loses_none() -> None:
    enforcement.check_assignable("s", FEWER, ROW, may_lack=True)
    enforcement.check_assignable("s", Array(FEWER, contains_null=True), LIST, may_lack=True)
    enforcement.check_assignable("s", Map(TEXT, FEWER, value_contains_null=True), BY_NAME, may_lack=True)
    enforcement.check_assignable("s", Struct((Field("t", FEWER),)), Struct((Field("t", ROW),)), may_lack=True)
    keyed = (Map(kind, TEXT, value_contains_null=True) for kind in (FEWER, ROW))
    enforcement.check_assignable("s", *keyed, may_lack=True)
    for found in (OTHER, DEEPER, Struct(OTHER.fields[1:])):
        with pytest.raises(InvalidRequest, match="the value has 'e' beyond the fields"):
            enforcement.check_assignable("s", found, ROW, may_lack=True)
