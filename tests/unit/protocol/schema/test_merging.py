"""What becomes of columns when rows with others arrive."""

import pytest

from headgate.errors import SchemaMismatch
from headgate.protocol.schema import merging
from headgate.protocol.schema.merging import MergeOptions
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

INT, LONG, TEXT, VOID = (Primitive(name) for name in ("integer", "long", "string", "void"))
BYTE, SHORT, DOUBLE = Primitive("byte"), Primitive("short"), Primitive("double")
WIDENING, CASTS = MergeOptions(widening=True), MergeOptions(casts=True)


def struct(**columns: DataType) -> Struct:
    return Struct(tuple(Field(name, data_type) for name, data_type in columns.items()))


def one(table: DataType, rows: DataType, allowed: MergeOptions = MergeOptions()) -> DataType:  # noqa: B008
    return merging.merge_schemas(struct(c=table), struct(c=rows), allowed).fields[0].type


def test_the_table_keeps_spelling_order_nullability_and_comments() -> None:
    """S285, S286, S292"""
    comment = {"comment": "who"}
    table = Struct((Field("Id", LONG, nullable=False, metadata=comment), Field("name", TEXT)))

    found = merging.merge_schemas(table, struct(extra=INT, NAME=TEXT, iD=LONG, more=TEXT))

    assert found.fields[:2] == table.fields
    assert found.fields[2:] == (Field("extra", INT), Field("more", TEXT))


def test_new_columns_are_nullable_and_missing_ones_stay() -> None:
    """S281, S286"""
    found = merging.merge_schemas(struct(a=LONG, b=LONG), Struct((Field("c", LONG, nullable=False),)))

    assert found == struct(a=LONG, b=LONG, c=LONG)


@pytest.mark.parametrize(
    "inside",
    [
        lambda parts: parts,
        lambda parts: Array(parts, contains_null=False),
        lambda parts: Map(TEXT, parts, value_contains_null=False),
        lambda parts: Array(Map(parts, TEXT, value_contains_null=True), contains_null=True),
    ],
    ids=["struct", "array", "map value", "map key in an array"],
)
def test_new_fields_are_appended_where_they_are(inside: object) -> None:
    """S287"""
    assert callable(inside)
    table, rows = inside(struct(a=LONG, b=TEXT)), inside(struct(new=INT, B=TEXT))

    assert one(table, rows) == inside(struct(a=LONG, b=TEXT, new=INT))


@pytest.mark.parametrize(
    ("table", "rows", "code"),
    [
        (TEXT, INT, "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        (INT, TEXT, "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        (LONG, INT, "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        (INT, LONG, "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        (struct(a=INT), Map(TEXT, INT, value_contains_null=True), "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        (
            Map(TEXT, INT, value_contains_null=True),
            Map(INT, INT, value_contains_null=True),
            "DELTA_MERGE_INCOMPATIBLE_DATATYPE",
        ),
        (Primitive("decimal(10,2)"), Primitive("decimal(11,2)"), "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE"),
        (Primitive("decimal(10,2)"), Primitive("decimal(10,3)"), "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE"),
        (Primitive("date"), Primitive("timestamp"), "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
    ],
)
def test_types_that_do_not_go_together_are_refused_by_name(
    table: DataType, rows: DataType, code: str
) -> None:
    """S288"""
    with pytest.raises(SchemaMismatch, match="column 'c") as caught:
        one(table, rows)

    assert caught.value.code == "DELTA_FAILED_TO_MERGE_FIELDS"
    assert caught.value.fields["causes"] == (code,)
    assert "DELTA" not in caught.value.message, "one mistake has one code"


def test_every_pair_that_does_not_go_together_is_told() -> None:
    with pytest.raises(SchemaMismatch) as caught:
        merging.merge_schemas(
            struct(a=INT, s=struct(b=TEXT), d=TEXT), struct(a=TEXT, s=struct(b=INT), d=TEXT)
        )

    assert caught.value.fields["fields"] == ("a", "s.b")


def test_small_integers_become_the_wider_of_the_two() -> None:
    """S290"""
    for table, rows, wider in (
        (BYTE, INT, INT),
        (INT, BYTE, INT),
        (SHORT, BYTE, SHORT),
        (BYTE, SHORT, SHORT),
    ):
        assert one(table, rows) == wider
        in_array = one(Array(table, contains_null=True), Array(rows, contains_null=True))
        assert in_array == Array(wider, contains_null=True)
        in_map = one(Map(table, rows, value_contains_null=True), Map(rows, table, value_contains_null=True))
        assert in_map == Map(wider, wider, value_contains_null=True)


def test_void_gives_way_to_any_type() -> None:
    """S293"""
    nested = struct(a=LONG)
    assert one(VOID, nested) == one(nested, VOID) == nested
    assert one(struct(a=VOID, b=VOID), struct(a=LONG)) == struct(a=LONG, b=VOID)
    assert one(LONG, VOID) == one(VOID, LONG) == LONG


def test_widening_is_recorded_where_it_happened() -> None:
    """S306"""
    table = Struct(
        (
            Field("a", INT),
            Field("l", Array(INT, contains_null=True)),
            Field("m", Map(BYTE, Primitive("float"), value_contains_null=True)),
            Field("s", struct(x=Primitive("decimal(5,2)"))),
        )
    )
    rows = struct(
        a=LONG,
        l=Array(DOUBLE, contains_null=True),
        m=Map(INT, DOUBLE, value_contains_null=True),
        s=struct(x=Primitive("decimal(8,3)")),
    )

    a, items, m, s = merging.merge_schemas(table, rows, WIDENING).fields

    assert (a.type, a.metadata) == (LONG, {merging.TYPE_CHANGES: [{"fromType": "integer", "toType": "long"}]})
    assert items.metadata[merging.TYPE_CHANGES] == [
        {"fromType": "integer", "toType": "double", "fieldPath": "element"}
    ]
    assert m.metadata[merging.TYPE_CHANGES] == [
        {"fromType": "byte", "toType": "integer", "fieldPath": "key"},
        {"fromType": "float", "toType": "double", "fieldPath": "value"},
    ]
    assert merging.TYPE_CHANGES not in s.metadata
    assert isinstance(s.type, Struct)
    assert s.type.fields[0].metadata[merging.TYPE_CHANGES][0]["toType"] == "decimal(8,3)"


def test_a_second_widening_is_added_to_the_history() -> None:
    once = merging.merge_schemas(struct(c=SHORT), struct(c=INT), WIDENING)

    (twice,) = merging.merge_schemas(
        once, struct(c=LONG), MergeOptions(widening=True, preview_version=7)
    ).fields

    assert twice.metadata[merging.TYPE_CHANGES] == [
        {"fromType": "short", "toType": "integer"},
        {"fromType": "integer", "toType": "long", "tableVersion": 7},
    ]


def test_widening_never_makes_a_type_narrower() -> None:
    """S306"""
    for table, rows in (
        (LONG, INT),
        (DOUBLE, Primitive("float")),
        (Primitive("decimal(5,2)"), Primitive("decimal(5,3)")),
    ):
        with pytest.raises(SchemaMismatch):
            one(table, rows, WIDENING)


def test_with_casts_the_table_keeps_its_types() -> None:
    for table, rows in (
        (LONG, INT),
        (INT, LONG),
        (TEXT, INT),
        (SHORT, INT),
        (Primitive("date"), Primitive("timestamp")),
    ):
        assert one(table, rows, CASTS) == table
    for table, rows in ((INT, TEXT), (Primitive("boolean"), INT), (TEXT, Primitive("binary"))):
        with pytest.raises(SchemaMismatch):
            one(table, rows, CASTS)


def test_a_name_with_a_dot_is_not_a_nested_field() -> None:
    found = merging.merge_schemas(Struct((Field("a", struct(b=LONG)),)), Struct((Field("a.b", LONG),)))

    assert [column.name for column in found.fields] == ["a", "a.b"]
    assert list(
        merging.added_columns(struct(a=struct(b=LONG)), struct(a=struct(b=LONG, c=TEXT), d=TEXT))
    ) == [
        "a.c",
        "d",
    ]
