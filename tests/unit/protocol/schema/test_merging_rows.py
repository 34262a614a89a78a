"""Every pair of types that a merge may meet, and what is recorded of it."""

import itertools

import pytest

from headgate.errors import SchemaMismatch
from headgate.protocol.schema import merging
from headgate.protocol.schema.merging import TYPE_CHANGES, MergeOptions
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

WIDENING, CASTS = MergeOptions(widening=True), MergeOptions(casts=True)
NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal(5,2)")
MOMENTS = ("date", "timestamp", "timestamp_ntz")
TYPES = (*NUMBERS, *MOMENTS, "string", "boolean", "binary", "variant")
BYTE, INT, LONG, TEXT = (Primitive(name) for name in ("byte", "integer", "long", "string"))


def column(data_type: DataType, **metadata: object) -> Struct:
    return Struct((Field("c", data_type, metadata=metadata),))


def merged(table: DataType, rows: DataType, allowed: MergeOptions = MergeOptions()) -> Field:  # noqa: B008
    return merging.merge_schemas(column(table), column(rows), allowed).fields[0]


def is_taken(table: str, rows: str) -> bool:
    """What SQL's store assignment says, by families of types."""
    if table in (rows, "variant"):
        return True
    if table == "string":
        return rows in (*NUMBERS, *MOMENTS, "boolean")
    return any(table in family and rows in family for family in (NUMBERS, MOMENTS))


@pytest.mark.parametrize(("table", "rows"), [*itertools.product(TYPES, TYPES)])
def test_with_casts_the_table_takes_what_sql_would_store(table: str, rows: str) -> None:
    if is_taken(table, rows):
        assert merged(Primitive(table), Primitive(rows), CASTS) == Field("c", Primitive(table))
    else:
        with pytest.raises(SchemaMismatch):
            merged(Primitive(table), Primitive(rows), CASTS)


@pytest.mark.parametrize(
    ("table", "rows", "code"),
    [
        ("decimal(5,2)", "decimal(6,2)", "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE"),
        ("decimal(5,2)", "long", "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        ("long", "decimal(5,2)", "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
        ("date", "timestamp", "DELTA_MERGE_INCOMPATIBLE_DATATYPE"),
    ],
)
def test_why_two_types_do_not_go_together_is_told_by_a_code(table: str, rows: str, code: str) -> None:
    with pytest.raises(SchemaMismatch) as caught:
        merged(Primitive(table), Primitive(rows))

    assert caught.value.fields["causes"] == (code,)


@pytest.mark.parametrize(("table", "rows"), [*itertools.product(("byte", "short", "integer"), repeat=2)])
def test_the_wider_of_two_small_integers_by_its_bytes_and_nothing_recorded(table: str, rows: str) -> None:
    """Parquet keeps them alike, so nobody needs to know that it was another."""
    order = ("byte", "short", "integer")

    assert merged(Primitive(table), Primitive(rows)) == Field(
        "c", Primitive(order[max(order.index(table), order.index(rows))])
    )


def test_a_widened_column_keeps_what_is_said_of_it() -> None:
    table = Struct((Field("c", INT, metadata={"comment": "how many"}),))

    (found,) = merging.merge_schemas(table, column(LONG), WIDENING).fields

    assert found.metadata == {
        "comment": "how many",
        TYPE_CHANGES: [{"fromType": "integer", "toType": "long"}],
    }


@pytest.mark.parametrize(
    ("table", "rows", "changes"),
    [
        (Primitive("void"), LONG, None),
        (Array(Primitive("void"), True), Array(LONG, True), None),
        (
            Map(INT, INT, True), Map(INT, LONG, True),
            [{"fromType": "integer", "toType": "long", "fieldPath": "value"}],
        ),
        (
            Map(INT, INT, True), Map(LONG, INT, True),
            [{"fromType": "integer", "toType": "long", "fieldPath": "key"}],
        ),
        (
            Array(Array(INT, True), True), Array(Array(LONG, True), True),
            [{"fromType": "integer", "toType": "long", "fieldPath": "element.element"}],
        ),
        (
            Array(Map(BYTE, INT, True), True), Array(Map(INT, LONG, True), True),
            [
                {"fromType": "byte", "toType": "integer", "fieldPath": "element.key"},
                {"fromType": "integer", "toType": "long", "fieldPath": "element.value"},
            ],
        ),
    ],
)  # fmt: skip
def test_a_change_of_type_is_recorded_where_it_happened_and_nowhere_else(
    table: DataType, rows: DataType, changes: list[dict[str, str]] | None
) -> None:
    found = merged(table, rows, WIDENING)

    assert found.type == rows
    assert found.metadata.get(TYPE_CHANGES) == changes


def test_new_columns_are_told_by_their_paths() -> None:
    def within(*names: str) -> DataType:
        parts = Struct(tuple(Field(name, TEXT) for name in names))
        return Struct(
            (
                Field("listed", Array(parts, contains_null=True)),
                Field("mapped", Map(parts, parts, value_contains_null=True)),
                Field("parted", parts),
            )
        )

    new = merging.added_columns(column(within("a")), column(within("A", "b")))

    assert list(new) == ["c.listed.element.b", "c.mapped.key.b", "c.mapped.value.b", "c.parted.b"]


def test_what_stands_in_the_way_can_be_asked_beforehand() -> None:
    assert merging.incompatible_types(column(LONG), column(LONG)) == ()

    (found,) = merging.incompatible_types(
        column(Array(LONG, contains_null=True)), column(Array(TEXT, contains_null=True))
    )

    assert (found.path, found.table, found.rows) == ("c.element", LONG, TEXT)
    assert found.code == "DELTA_MERGE_INCOMPATIBLE_DATATYPE"
