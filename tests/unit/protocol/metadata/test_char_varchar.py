"""What a column remembers of the lengths of its texts, and what becomes of that when the column changes."""

from dataclasses import replace

import msgspec
import pytest

from headgate.errors import InvalidRequest
from headgate.protocol import property_values
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_columns, char_varchar, column_ddl, implicit_changes
from headgate.protocol.metadata.alter_columns import First
from headgate.protocol.metadata.char_varchar import TYPE_STRING_KEY
from headgate.protocol.metadata.implicit_changes import WriteIntent
from headgate.protocol.schema import column_ids
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from tests.support import attempts

TEXT, LONG = Primitive("string"), Primitive("long")
NESTED = "STRUCT<e: VARCHAR(2) COMMENT 'x', f: CHAR(3), `g h`: INT, i: DECIMAL(10, 2)>"
"""With the type of each column as Spark has it in the metadata."""
REMEMBERED = (
    ("CHAR(3)", "char(3)"),
    ("CHARACTER(3)", "char(3)"),
    ("ARRAY<CHAR(2)>", "array<char(2)>"),
    ("MAP<CHAR(2), VARCHAR(3)>", "map<char(2),varchar(3)>"),
    (NESTED, "struct<e:varchar(2),f:char(3),`g h`:int,i:decimal(10,2)>"),
    ("ARRAY<STRUCT<a: CHAR(3), b: ARRAY<VARCHAR(2)>>>", "array<struct<a:char(3),b:array<varchar(2)>>>"),
)


def columns(text: str) -> Struct:
    return column_ddl.parse_columns(text, is_ntz=False).schema


def state(text: str) -> State:
    plain = attempts.table()
    schema = schema_json.render(char_varchar.as_strings(columns(text)))
    metadata = msgspec.structs.replace(plain.metadata, schema_string=schema, partition_columns=())
    named = {**metadata.configuration, property_values.COLUMN_MAPPING_MODE: "name"}
    mapped = column_ids.assign_on_mode_change(
        metadata, msgspec.structs.replace(metadata, configuration=named)
    )
    return replace(plain, metadata=mapped)


def told(schema_string: str, name: str = "d") -> object:
    column = schema_json.parse(schema_string).find(name)
    assert column is not None
    return column.metadata.get(TYPE_STRING_KEY)


def test_a_column_that_is_a_text_is_a_string_that_remembers_its_length() -> None:
    others = Field("id", LONG), Field("tags", Array(TEXT, contains_null=True))
    sized = Field("c", Primitive("char(3)"), nullable=False, metadata={"comment": "x"})

    stored = char_varchar.as_strings(Struct((sized, *others)))

    said = {"comment": "x", TYPE_STRING_KEY: "char(3)"}
    assert stored == Struct((Field("c", TEXT, nullable=False, metadata=said), *others))


@pytest.mark.parametrize(("declared", "text"), REMEMBERED)
def test_a_column_remembers_what_it_was_declared_as(declared: str, text: str) -> None:
    given = columns(f"d {declared}, n INT")

    stored = char_varchar.as_strings(given)

    assert "char" not in str([column.type for column in stored.fields])
    assert stored.fields[0].metadata == {TYPE_STRING_KEY: text}
    assert char_varchar.declared_type(stored.fields[0]) == given.fields[0].type
    assert char_varchar.as_declared(stored) == given


@pytest.mark.parametrize("text", ["struct<g h:char(3)>", "char(x)", "", "array<char(3)> x", "string"])
def test_what_cannot_be_understood_limits_nothing(text: str) -> None:
    assert char_varchar.declared_type(Field("d", TEXT, metadata={TYPE_STRING_KEY: text})) is None


@pytest.mark.parametrize(
    ("said", "fields", "found"),
    [
        ("struct<e:varchar(2),f:char(3)>", "e f", "varchar(2) char(3)"),
        ("struct<e:varchar(2),f:char(3)>", "E ff", "varchar(2) char(3)"),
        ("struct<e:varchar(2),f:char(3)>", "f e", "char(3) varchar(2)"),
        ("struct<e:varchar(2),f:char(3)>", "f", "char(3)"),
        ("struct<e:varchar(2),f:char(3)>", "g f h", "string char(3) string"),
    ],
    ids=["as it is", "renamed", "moved", "dropped", "added"],
)
def test_a_text_that_an_older_column_left_is_read_by_names_and_places(
    said: str, fields: str, found: str
) -> None:
    """Delta Spark changes the fields of a struct, and not what the column remembers of them."""
    struct = Struct(tuple(Field(name, TEXT) for name in fields.split()))

    declared = char_varchar.declared_type(Field("d", struct, metadata={TYPE_STRING_KEY: said}))

    assert isinstance(declared, Struct)
    assert declared == Struct(
        tuple(Field(name, Primitive(kind)) for name, kind in zip(fields.split(), found.split(), strict=True))
    )


def test_changes_of_a_struct_are_remembered() -> None:
    table = state("d STRUCT<e: VARCHAR(2), f: CHAR(3)>, n INT")

    renamed = alter_columns.rename_column(table, ("d", "f"), "g")
    added = alter_columns.add_columns(table, ("d",), columns("h VARCHAR(4), i INT").fields)
    moved = alter_columns.move_column(table, ("d", "f"), First())
    dropped = alter_columns.drop_columns(table, [("d", "e")])
    mixed = state("d STRUCT<e: VARCHAR(2), f: CHAR(3), i: INT>")
    none = alter_columns.drop_columns(mixed, [("d", "e"), ("d", "f")])

    assert told(renamed.schema_string) == "struct<e:varchar(2),g:char(3)>"
    assert told(added.schema_string) == "struct<e:varchar(2),f:char(3),h:varchar(4),i:int>"
    assert told(moved.schema_string) == "struct<f:char(3),e:varchar(2)>"
    assert told(dropped.schema_string) == "struct<f:char(3)>"
    assert told(none.schema_string) is None


def test_rows_with_another_field_leave_the_lengths_as_they_are() -> None:
    metadata = state("d STRUCT<e: VARCHAR(2)>, n INT").metadata
    rows = Struct((Field("d", Struct((Field("e", TEXT), Field("f", LONG)))),))

    plan = implicit_changes.plan_metadata(metadata, WriteIntent(rows, can_merge=True), uuid=str)

    assert plan.metadata is not None
    assert told(plan.metadata.schema_string) == "struct<e:varchar(2),f:bigint>"


@pytest.mark.parametrize(
    ("before", "path", "to", "after"),
    [
        ("VARCHAR(3)", "d", "VARCHAR(5)", "varchar(5)"),
        ("CHAR(3)", "d", "VARCHAR(3)", "varchar(3)"),
        ("CHAR(3)", "d", "STRING", None),
        ("ARRAY<CHAR(3)>", "d.element", "VARCHAR(4)", "array<varchar(4)>"),
        ("ARRAY<CHAR(3)>", "d", "ARRAY<STRING>", None),
        ("STRUCT<e: VARCHAR(2), f: CHAR(3)>", "d.e", "VARCHAR(9)", "struct<e:varchar(9),f:char(3)>"),
        ("MAP<CHAR(2), INT>", "d.key", "VARCHAR(2)", "map<varchar(2),int>"),
    ],
)
def test_texts_may_become_longer(before: str, path: str, to: str, after: str | None) -> None:
    wanted = columns(f"d {to}").fields[0].type

    metadata = alter_columns.change_column_type(state(f"d {before}, n INT"), tuple(path.split(".")), wanted)

    assert told(metadata.schema_string) == after


@pytest.mark.parametrize(
    ("before", "to"),
    [
        ("VARCHAR(3)", "VARCHAR(2)"), ("VARCHAR(3)", "CHAR(3)"), ("CHAR(3)", "CHAR(5)"),
        ("CHAR(3)", "BINARY"), ("STRING", "VARCHAR(9)"), ("CHAR(3)", "ARRAY<CHAR(3)>"),
        ("ARRAY<CHAR(3)>", "ARRAY<CHAR(2)>"),
    ],
)  # fmt: skip
def test_texts_do_not_become_shorter_or_padded(before: str, to: str) -> None:
    wanted = columns(f"d {to}").fields[0].type

    with pytest.raises(InvalidRequest):
        alter_columns.change_column_type(state(f"d {before}"), ("d",), wanted)
