"""Ids and physical names of columns: given once, kept for ever, and found again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec
import pytest

from headgate.errors import CorruptLog, InvalidRequest, UnsupportedFeature
from headgate.protocol.actions import Metadata
from headgate.protocol.property_values import COLUMN_MAPPING_MODE as MODE
from headgate.protocol.property_values import MAX_COLUMN_ID as HIGHEST
from headgate.protocol.schema import column_ids, column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import COLUMN_ID, PHYSICAL_NAME, ColumnMappingMode
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from tests.support import commits

LONG, TEXT = Primitive("long"), Primitive("string")


def column(name: str, number: int | None = None, data_type: DataType = LONG, **more: Any) -> Field:
    mapped = {} if number is None else {COLUMN_ID: number, PHYSICAL_NAME: f"p{number}"}
    return Field(name, data_type, metadata={**mapped, **more})


def listed(element: DataType) -> Array:
    return Array(element, contains_null=False)


def paired(key: DataType, value: DataType) -> Map:
    return Map(key, value, value_contains_null=False)


def metadata(schema: Struct, **configuration: str) -> Metadata:
    return msgspec.structs.replace(commits.metadata(schema_json.render(schema)), configuration=configuration)


def by_name(*fields: Field, **configuration: str) -> Metadata:
    return metadata(Struct(fields), **{MODE: "name", **configuration})


def schema(found: Metadata) -> Struct:
    return schema_json.parse(found.schema_string)


def names() -> Callable[[], str]:
    numbers = count()
    return lambda: f"n{next(numbers)}"


def everywhere(*numbers: int | None) -> Struct:
    """Columns at every place where there can be one."""
    ids = iter(numbers)
    inner = [Struct((column("x", next(ids)),)) for _ in range(4)]
    return Struct(
        (
            column("s", next(ids), inner[0]),
            column("l", next(ids), listed(inner[1])),
            column("m", next(ids), paired(inner[2], inner[3])),
        )
    )


def test_a_table_without_mapping_gets_no_ids() -> None:
    plain = metadata(Struct((column("a"),)))

    assert column_ids.assign_column_ids(plain, names()) is plain


def test_columns_get_ids_after_the_highest_and_names_that_nobody_had() -> None:
    before = by_name(column("a"), column("b", 3), column("c", 4), **{HIGHEST: "7"})

    after = column_ids.assign_column_ids(before, names())

    assert schema(after).fields[0].metadata == {COLUMN_ID: 8, PHYSICAL_NAME: "col-n0"}
    assert schema(after).fields[1:] == schema(before).fields[1:]
    assert after.configuration == {MODE: "name", HIGHEST: "8"}
    assert column_ids.assign_column_ids(after, names()) is after


def test_what_is_there_of_an_id_or_a_name_is_kept() -> None:
    half = Field("a", LONG, metadata={COLUMN_ID: 5}), Field("b", LONG, metadata={PHYSICAL_NAME: "pb"})

    found = schema(column_ids.assign_column_ids(by_name(*half), names())).fields

    assert [field.metadata for field in found] == [
        {COLUMN_ID: 5, PHYSICAL_NAME: "col-n0"},
        {COLUMN_ID: 6, PHYSICAL_NAME: "pb"},
    ]


def test_what_is_missing_is_added_even_if_nothing_else_is() -> None:
    unnamed = by_name(Field("a", LONG, metadata={COLUMN_ID: 5}), **{HIGHEST: "5"})
    uncounted = by_name(column("a", 5))

    assert (
        schema(column_ids.assign_column_ids(unnamed, names())).fields[0].metadata[PHYSICAL_NAME] == "col-n0"
    )
    assert column_ids.assign_column_ids(uncounted, names()) == by_name(column("a", 5), **{HIGHEST: "5"})
    empty = column_ids.assign_column_ids(by_name(column("s", None, Struct(()))), names())
    assert schema(empty).fields[0].metadata[COLUMN_ID] == 1


def test_columns_inside_others_get_ids_too() -> None:
    after = schema(column_ids.assign_column_ids(by_name(*everywhere(*[None] * 7).fields), names()))

    expected = schema_json.render(everywhere(2, 4, 6, 7, 1, 3, 5))
    for number in range(1, 8):
        expected = expected.replace(f'"p{number}"', f'"col-n{number - 1}"')
    assert after == schema_json.parse(expected)


@pytest.mark.parametrize("at", range(7))
def test_the_highest_id_counts_wherever_it_is(at: int) -> None:
    numbers = [1, 2, 3, 4, 5, 6, 7]
    numbers[at] = 40

    after = column_ids.assign_column_ids(by_name(*everywhere(*numbers).fields, column("new")), names())

    assert schema(after).fields[-1].metadata[COLUMN_ID] == 41
    assert after.configuration[HIGHEST] == "41"


def test_a_table_that_is_mapped_later_keeps_the_names_of_its_files() -> None:
    before = metadata(Struct((column("a", 9), column("s", None, Struct((column("x"),))))))
    after = msgspec.structs.replace(before, configuration={MODE: "name"})

    changed = column_ids.assign_on_mode_change(before, after)

    inner = Struct((Field("x", LONG, metadata={COLUMN_ID: 3, PHYSICAL_NAME: "x"}),))
    assert schema(changed) == Struct(
        (
            Field("a", LONG, metadata={COLUMN_ID: 1, PHYSICAL_NAME: "a"}),
            Field("s", inner, metadata={COLUMN_ID: 2, PHYSICAL_NAME: "s"}),
        )
    )
    assert changed.configuration == {MODE: "name", HIGHEST: "3"}


@pytest.mark.parametrize(
    ("old", "new"),
    [("name", "none"), ("id", "none"), ("none", "id"), ("name", "id"), ("id", "name")],
)
def test_no_other_change_of_the_mode_is_possible(old: str, new: str) -> None:
    before, after = (metadata(Struct((column("a", 1),)), **{MODE: mode}) for mode in (old, new))

    with pytest.raises(InvalidRequest) as refused:
        column_ids.assign_on_mode_change(before, after)
    assert refused.value.code == "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    assert column_ids.assign_on_mode_change(before, before) is before


def test_columns_that_were_there_keep_what_they_had_and_others_say_nothing() -> None:
    """By their names, and whatever another table called them."""
    mine, theirs = everywhere(1, 2, 3, 4, 5, 6, 7), everywhere(11, 12, 13, 14, 15, 16, 17)
    extra = column("new", 18, **{"comment": "mine"})
    upper = Struct(
        tuple(Field(field.name.upper(), field.type, metadata=field.metadata) for field in theirs.fields)
    )

    kept = column_ids.keep_column_ids(Struct((*upper.fields, extra)), mine)

    assert [field.metadata for field in kept.fields[:3]] == [field.metadata for field in mine.fields]
    assert [field.type for field in kept.fields[:3]] == [field.type for field in mine.fields]
    assert kept.fields[3] == extra


def test_a_column_of_another_type_gets_another_id_and_keeps_what_it_says_of_itself() -> None:
    now = Struct((column("a", 9, Struct((column("x", 8),)), comment="c"),))

    (kept,) = column_ids.keep_column_ids(now, Struct((column("a", 1, comment="old"),))).fields

    assert kept == column("a", None, Struct((column("x", 8),)), comment="c")


def test_fields_of_a_struct_with_other_fields_keep_their_ids_and_it_does_not() -> None:
    before = Struct((column("a", 1, Struct((column("x", 2), column("y", 3)))),))
    now = Struct((column("a", None, Struct((column("X", None), column("z", None)))),))

    (kept,) = column_ids.keep_column_ids(now, before).fields

    assert kept == column("a", None, Struct((column("X", 2), column("z", None))))


@pytest.mark.parametrize(
    ("now", "before"),
    [
        (Struct((column("x"), column("y"))), Struct((column("x"),))),
        (Struct((column("x"),)), Struct((column("x", None, TEXT),))),
        (paired(LONG, LONG), paired(TEXT, LONG)),
        (paired(LONG, LONG), paired(LONG, TEXT)),
        (listed(LONG), listed(TEXT)),
    ],
)
def test_a_column_that_differs_in_one_part_gets_another_id(now: DataType, before: DataType) -> None:
    (kept,) = column_ids.keep_column_ids(
        Struct((column("a", None, now),)), Struct((column("a", 1, before),))
    ).fields

    assert COLUMN_ID not in kept.metadata


def test_what_may_be_null_changes_no_id() -> None:
    strict = Array(Map(LONG, LONG, value_contains_null=False), contains_null=False)
    loose = Array(Map(LONG, LONG, value_contains_null=True), contains_null=True)

    (kept,) = column_ids.keep_column_ids(
        Struct((column("a", None, loose),)), Struct((column("a", 1, strict),))
    ).fields
    (other,) = column_ids.keep_column_ids(
        Struct((column("a", None, Array(LONG, contains_null=True)),)), Struct((column("a", 1, strict),))
    ).fields

    assert COLUMN_ID in kept.metadata and COLUMN_ID not in other.metadata


def test_ids_and_names_of_another_table_are_taken_away_everywhere() -> None:
    parquet = {"parquet.field.id": 1, "parquet.field.nested.ids": {}}
    mapped = Struct((*everywhere(1, 2, 3, 4, 5, 6, 7).fields, column("a", 8, comment="c", **parquet)))

    assert column_ids.without_column_ids(mapped) == Struct(
        (*everywhere(*[None] * 7).fields, column("a", comment="c"))
    )


@pytest.mark.parametrize(
    ("text", "mode"),
    [(None, ColumnMappingMode.NONE), ("NAME", ColumnMappingMode.NAME), ("id", ColumnMappingMode.ID)],
)
def test_the_mode_of_a_table(text: str | None, mode: ColumnMappingMode) -> None:
    assert column_mapping.mapping_mode(metadata(Struct(()), **({} if text is None else {MODE: text}))) is mode


def test_a_mode_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnsupportedFeature, match="by 'colour'") as refused:
        column_mapping.mapping_mode(metadata(Struct(()), **{MODE: "colour"}))
    assert refused.value.fields["features"] == ("columnMapping",)


def test_files_have_the_physical_names_and_allow_null_everywhere() -> None:
    stored = column_mapping.physical_schema(everywhere(1, 2, 3, 4, 5, 6, 7), ColumnMappingMode.NAME)

    inner = [Struct((Field(f"p{number}", LONG),)) for number in range(1, 5)]
    assert stored == Struct(
        (
            Field("p5", inner[0]),
            Field("p6", Array(inner[1], contains_null=True)),
            Field("p7", Map(inner[2], inner[3], value_contains_null=True)),
        )
    )
    required = Struct((Field("a", LONG, nullable=False, metadata={PHYSICAL_NAME: "p"}),))
    assert column_mapping.physical_schema(required, ColumnMappingMode.NONE) == Struct((Field("a", LONG),))


def test_paths_of_columns_in_statistics() -> None:
    found = everywhere(1, 2, 3, 4, 5, 6, 7)

    assert column_mapping.physical_paths(found, ColumnMappingMode.ID) == {
        ("s",): ("p5",), ("s", "x"): ("p5", "p1"), ("l",): ("p6",), ("m",): ("p7",),
    }  # fmt: skip
    assert column_mapping.physical_paths(found, ColumnMappingMode.NONE) == {}


def test_a_mapped_column_without_its_name_or_id_is_a_broken_log() -> None:
    for broken in (
        lambda: column_mapping.physical_name(column("a"), ColumnMappingMode.NAME),
        lambda: column_mapping.physical_name(column("a", **{PHYSICAL_NAME: 1}), ColumnMappingMode.ID),
        lambda: column_mapping.field_id(column("a")),
        lambda: column_mapping.field_id(column("a", **{COLUMN_ID: "1"})),
    ):
        with pytest.raises(CorruptLog, match="'a' has no") as caught:
            broken()
        assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


def test_a_column_that_an_operation_adds_is_found_under_its_own_name() -> None:
    added = Field("_tmp", LONG, metadata=column_mapping.mapped_to_own_name("_tmp"))

    assert column_mapping.physical_name(added, ColumnMappingMode.ID) == "_tmp"
    assert column_mapping.field_id(added) is None
    assert column_mapping.field_id(column("a", 7)) == 7


NONE, NAME, ID = ColumnMappingMode.NONE, ColumnMappingMode.NAME, ColumnMappingMode.ID
PLAIN = Field("Day", Primitive("date"))
MAPPED = Field("Day", Primitive("date"), metadata={COLUMN_ID: 7, PHYSICAL_NAME: "col-7"})


@dataclass(frozen=True)
class Stored:
    """A field of a file."""

    name: str
    metadata: Mapping[bytes, bytes] | None = None


def numbered(name: str, number: int) -> Stored:
    return Stored(name, {b"PARQUET:field_id": str(number).encode()})


@pytest.mark.parametrize(
    ("field", "file", "mode", "place"),
    [
        (PLAIN, (Stored("id"), Stored("Day")), NONE, 1),
        (PLAIN, (Stored("day"), Stored("Day")), NONE, 1),
        (PLAIN, (Stored("id"), Stored("DAY")), NONE, 1),
        (PLAIN, (Stored("id"),), NONE, None),
        (MAPPED, (Stored("Day"), Stored("col-7")), NAME, 1),
        (MAPPED, (numbered("Day", 1), numbered("x", 7)), ID, 1),
        (MAPPED, (Stored("col-7"), numbered("x", 1)), ID, None),
    ],
    ids=["same", "same before alike", "alike", "absent", "physical", "by id", "name is no id"],
)
def test_a_column_is_found(
    field: Field, file: tuple[Stored, ...], mode: ColumnMappingMode, place: int | None
) -> None:
    assert column_mapping.find_field(field, file, mode, "a.parquet") == place


def test_a_column_that_a_file_has_twice_is_refused() -> None:
    with pytest.raises(CorruptLog, match=r"the data file a\.parquet has column 'Day' of the table 2 times"):
        column_mapping.find_field(PLAIN, (Stored("day"), Stored("DAY")), NONE, "a.parquet")


def test_a_file_without_ids_is_refused_where_columns_are_found_by_these() -> None:
    column_mapping.check_field_ids((Stored("a"),), NAME, "a.parquet")
    column_mapping.check_field_ids((Stored("a"), numbered("b", 7)), ID, "a.parquet")

    with pytest.raises(UnsupportedFeature, match=r"the data file a\.parquet has none"):
        column_mapping.check_field_ids((Stored("a"), Stored("b", {})), ID, "a.parquet")
