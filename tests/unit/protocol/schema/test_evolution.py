"""Which columns a table may get with its files left as they are."""

import itertools
from dataclasses import replace

import msgspec
import pytest

from headgate.protocol import property_values, protocol_upgrade
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.schema import column_mapping, evolution
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from tests.support import commits

ORDER = ("byte", "short", "integer", "long")
TYPES = (
    *ORDER,
    "float",
    "double",
    "date",
    "timestamp",
    "timestamp_ntz",
    "string",
    "boolean",
    "decimal(10,2)",
    "decimal(20,0)",
)
WIDER = {
    *itertools.combinations(ORDER, 2),
    ("float", "double"),
    ("date", "timestamp_ntz"),
    *((small, "double") for small in ORDER[:3]),
    *((number, "decimal(20,0)") for number in ORDER),
}


@pytest.mark.parametrize(("old", "new"), list(itertools.permutations(TYPES, 2)))
def test_a_type_is_widened_or_it_is_not(old: str, new: str) -> None:
    assert evolution.is_widening(old, new) is ((old, new) in WIDER)


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(12,4)", True),
        ("decimal(10,2)", "decimal(11,4)", False),
        ("decimal(10,2)", "decimal(10,1)", False),
        *((small, "decimal(10,0)", True) for small in ORDER[:3]),
        *((small, "decimal(9,0)", False) for small in ORDER[:3]),
        ("integer", "decimal(10,1)", False),
        ("long", "decimal(19,0)", False),
        ("long", "decimal(22,2)", True),
    ],
)
def test_a_decimal_keeps_its_digits_on_both_sides(old: str, new: str, wider: bool) -> None:
    assert evolution.is_widening(old, new) is wider


PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
LONG, INT, TEXT = Primitive("long"), Primitive("integer"), Primitive("string")


def metadata(*fields: Field, partitioned: tuple[str, ...] = (), **configuration: str) -> Metadata:
    return msgspec.structs.replace(
        commits.metadata(schema_json.render(Struct(fields))),
        partition_columns=partitioned,
        configuration=configuration,
    )


def mapped(*fields: Field, most: str = "9", mode: str = "name") -> Metadata:
    return metadata(
        *fields, **{property_values.COLUMN_MAPPING_MODE: mode, property_values.MAX_COLUMN_ID: most}
    )


def column(name: str, number: object, data_type: DataType = LONG, physical: object = None) -> Field:
    keys = {column_mapping.COLUMN_ID: number, column_mapping.PHYSICAL_NAME: physical or f"p{number}"}
    return Field(name, data_type, metadata=keys)


def breach(before: Metadata, after: Metadata, *features: str) -> str | None:
    return evolution.schema_change_breach(before, after, protocol_upgrade.with_features(PLAIN, features))


def inside(data_type: DataType) -> tuple[Field, ...]:
    """Columns that have the type inside, in every way."""
    return (
        Field("s", Struct((Field("x", data_type),))),
        Field("l", Array(data_type, contains_null=True)),
        Field("k", Map(data_type, LONG, value_contains_null=True)),
        Field("v", Map(LONG, data_type, value_contains_null=True)),
    )


def test_columns_may_come_and_stay() -> None:
    before = metadata(Field("a", LONG), Field("s", Struct((Field("x", LONG),))))
    after = metadata(
        Field("new", TEXT),
        Field("s", Struct((Field("y", LONG), Field("x", LONG)))),
        Field("a", LONG),
    )

    assert breach(before, after) is None
    assert breach(before, before) is None


@pytest.mark.parametrize("data_type", [LONG, Struct((Field("x", LONG, nullable=False),))])
def test_what_may_be_null_stays_so_and_what_is_new_too(data_type: DataType) -> None:
    """Rows that are there would break the promise, and readers rely on it."""
    given, new = Field("a", data_type), Field("b", data_type)
    required = [replace(column, nullable=False) for column in (given, new)]

    assert breach(metadata(given), metadata(required[0]))
    assert breach(metadata(given), metadata(given, required[1]))
    assert breach(metadata(required[0]), metadata(given, new)) is None
    for one, other in zip(inside(data_type), _never_null(data_type), strict=True):
        assert breach(metadata(one), metadata(other)), other
        assert breach(metadata(other), metadata(one)) is None


def _never_null(data_type: DataType) -> tuple[Field, ...]:
    return (
        Field("s", Struct((Field("x", data_type, nullable=False),))),
        Field("l", Array(data_type, contains_null=False)),
        Field("k", Map(data_type, LONG, value_contains_null=False)),
        Field("v", Map(LONG, data_type, value_contains_null=False)),
    )


def test_what_is_inside_lists_and_maps_stays_as_it_may_be_null_too() -> None:
    loose, strict = (Struct((Field("x", LONG, nullable=nullable),)) for nullable in (True, False))

    for one, other in zip(inside(loose), inside(strict), strict=True):
        assert (breach(metadata(one), metadata(other)) is None) is (one.name == "k"), one
        assert breach(metadata(other), metadata(one)) is None
    for column in (*_never_null(LONG), *_never_null(loose)):
        assert breach(metadata(column), metadata(column, Field("new", LONG))) is None


def test_a_column_stays_not_null_under_another_name() -> None:
    plain = (Field("a", LONG, nullable=False), Field("b", LONG))
    kept, free = (
        replace(column(name, number, physical=name), nullable=nullable)
        for name, number, nullable in (("a", 1, False), ("b", 2, True))
    )
    renamed = replace(kept, name="b"), replace(free, name="a")

    assert breach(metadata(*plain), metadata(*plain, Field("c", LONG))) is None
    assert breach(metadata(*plain), mapped(kept, free)) is None
    assert breach(metadata(*plain), mapped(*renamed)) is None
    assert breach(mapped(kept, free), mapped(*renamed)) is None
    assert breach(mapped(kept, free), mapped(kept, replace(free, name="c", nullable=False)))


def test_an_id_is_given_once_and_so_is_a_physical_name() -> None:
    before = mapped(column("a", 1), column("b", 2))

    assert breach(before, mapped(column("a", 1), column("b", 2), most="8"))
    assert breach(before, mapped(column("a", 1), column("c", 10, physical="p2"), most="10"))
    assert breach(before, mapped(column("a", 1), column("c", 10), most="10")) is None


@pytest.mark.parametrize(
    "after",
    [
        metadata(Field("b", LONG)),
        metadata(Field("A", LONG), Field("b", LONG)),
        metadata(Field("a", TEXT), Field("b", LONG)),
        metadata(Field("a", Array(LONG, contains_null=True)), Field("b", LONG)),
        metadata(Field("a", LONG), Field("b", LONG), partitioned=("b",)),
        mapped(column("a", 1), column("b", 2, physical="b")),
        mapped(column("a", 1, physical="a"), column("b", 2, physical="b"), mode="id"),
    ],
)
def test_without_mapping_a_column_keeps_its_name_and_its_type(after: Metadata) -> None:
    assert breach(metadata(Field("a", LONG), Field("b", LONG)), after)


def test_columns_are_mapped_later_under_the_names_that_files_have() -> None:
    before = metadata(Field("a", LONG), Field("s", Struct((Field("x", LONG),))))
    kept = column("s", 2, Struct((column("x", 3, physical="x"),)), physical="s")
    lost = column("s", 2, Struct((column("x", 3),)), physical="s")

    assert breach(before, mapped(column("a", 1, physical="a"), kept, column("new", 4))) is None
    assert breach(before, mapped(column("renamed", 1, physical="a"), kept)) is None
    assert breach(before, mapped(column("a", 1, physical="a"), lost))


@pytest.mark.parametrize("mode", ["none", "id"])
def test_a_mapping_is_not_given_up_or_changed(mode: str) -> None:
    assert breach(mapped(column("a", 1)), mapped(column("a", 1), mode=mode))


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_are_known_by_their_ids(mode: str) -> None:
    inner = Struct((column("x", 3),))
    before = mapped(column("a", 1), column("s", 2, inner), mode=mode)

    for after in (
        [column("renamed", 1), column("s", 2, inner)],
        [column("s", 2, inner)],
        [column("a", 1), column("s", 2, Struct((column("y", 3), column("z", 11))))],
        [column("a", 10), column("s", 2, inner)],
    ):
        assert breach(before, mapped(*after, mode=mode)) is None
    for wrong in (
        [column("a", 4), column("s", 2, inner)],
        [column("a", 9), column("s", 2, inner)],
        [column("a", 1, physical="other"), column("s", 2, inner)],
        [column("a", 1, TEXT), column("s", 2, inner)],
        [column("a", 1), column("s", 2, Struct((column("x", 3, TEXT),)))],
        [column("a", 1), column("s", 2, Struct((column("w", 12),))), column("x", 3)],
        [column("a", 1), column("s", 2)],
    ):
        assert breach(before, mapped(*wrong, mode=mode)), wrong


def test_a_partition_column_may_get_another_name() -> None:
    """The log knows it by its physical name, as files know others."""
    columns = column("a", 1), column("b", 2)
    before = msgspec.structs.replace(mapped(*columns), partition_columns=("b",))
    plain = metadata(Field("a", LONG), Field("b", LONG), partitioned=("b",))

    def renamed(*partitioned: str, physical: str = "p2") -> Metadata:
        after = mapped(column("a", 1, physical="a"), column("c", 2, physical=physical))
        return msgspec.structs.replace(after, partition_columns=partitioned)

    same = msgspec.structs.replace(mapped(columns[0], column("c", 2)), partition_columns=("c",))
    assert breach(before, same) is None
    assert breach(plain, renamed("c", physical="b")) is None
    assert breach(plain, renamed("a", physical="b"))
    assert breach(before, msgspec.structs.replace(same, partition_columns=("a",)))
    assert breach(before, msgspec.structs.replace(same, partition_columns=()))


def test_types_inside_others_are_widened_or_not_like_any() -> None:
    for field, wider, other in zip(inside(INT), inside(LONG), inside(TEXT), strict=True):
        before = metadata(field)
        assert breach(before, metadata(wider), "typeWidening") is None
        assert breach(before, metadata(wider), "typeWidening-preview") is None
        assert breach(before, metadata(wider))
        assert breach(before, metadata(other), "typeWidening")


def test_small_numbers_are_widened_without_the_feature() -> None:
    for old, new in (("byte", "short"), ("byte", "integer"), ("short", "integer")):
        assert breach(metadata(Field("a", Primitive(old))), metadata(Field("a", Primitive(new)))) is None
    decimals = (
        metadata(Field("a", Primitive("decimal(4,2)"))),
        metadata(Field("a", Primitive("decimal(5,2)"))),
    )
    assert breach(*decimals)
    assert breach(*decimals, "typeWidening") is None


def test_a_column_of_no_type_may_become_any() -> None:
    void = metadata(Field("a", Primitive("void")))

    assert breach(void, metadata(Field("a", Struct((Field("x", LONG),))))) is None
    assert breach(metadata(Field("a", LONG)), void)


def test_old_files_are_read_in_wider_types_and_in_no_others() -> None:
    for field, wider, other in zip(inside(INT), inside(LONG), inside(TEXT), strict=True):
        assert evolution.unreadable_column(metadata(field), metadata(wider, Field("new", TEXT))) is None
        assert evolution.unreadable_column(metadata(wider), metadata(field)), field
        assert evolution.unreadable_column(metadata(field), metadata(other)), field
        assert evolution.unreadable_column(metadata(field), metadata(Field("new", TEXT))) is None


def test_old_files_are_read_by_the_names_they_have() -> None:
    was = metadata(Field("A", LONG))
    here, there = mapped(column("b", 1, TEXT, physical="a")), mapped(column("a", 1, TEXT))

    assert evolution.unreadable_column(was, metadata(Field("a", TEXT)))
    assert evolution.unreadable_column(was, here) == "the column 'b' changes from long to string"
    assert evolution.unreadable_column(was, there) is None
    assert evolution.unreadable_column(here, was)
    assert evolution.unreadable_column(there, was) is None
    inner = column("s", 2, Struct((column("x", 3),)))
    assert evolution.unreadable_column(mapped(inner), mapped(column("s", 2, Struct((column("y", 3, TEXT),)))))


def test_a_name_is_there_once_in_its_struct() -> None:
    assert (
        evolution.duplicate_column(Struct((Field("a", LONG), *inside(Struct((Field("a", LONG),)))))) is None
    )
    assert evolution.duplicate_column(Struct((Field("a", LONG), Field("A", LONG)))) == "A"
    for field, where in zip(inside(Struct((Field("x", LONG), Field("X", LONG)))), _PLACES, strict=True):
        assert evolution.duplicate_column(Struct((field,))) == f"{where}.X"


_PLACES = ("s.x", "l.element", "k.key", "v.value")


@pytest.mark.parametrize(
    "wrong",
    [
        mapped(column("a", 1), column("b", 1, physical="q")),
        mapped(column("a", 1), column("b", 2, physical="p1")),
        mapped(column("a", 1), column("s", 2, Struct((column("x", 1, physical="q"),)))),
        mapped(column("a", 3), most="2"),
        mapped(column("a", 1), most="many"),
        mapped(column("a", 1), most="\u0663"),
        mapped(column("a", 1), most="9" * 19),
        mapped(column("a", 1), column("b", 2, physical="P1")),
        mapped(column("a", "1")),
        mapped(column("a", None, physical="p")),
        mapped(column("a", 1, physical=2)),
        mapped(Field("a", LONG, metadata={column_mapping.COLUMN_ID: 1, column_mapping.PHYSICAL_NAME: ""})),
        mapped(Field("a", LONG)),
    ],
)
def test_what_is_wrong_with_a_mapping(wrong: Metadata) -> None:
    assert evolution.column_mapping_breach(wrong)


def test_a_mapping_in_which_every_column_has_its_own() -> None:
    inner = Struct((column("x", 3, physical="p1"), column("y", 9)))

    assert evolution.column_mapping_breach(mapped(column("a", 1), column("s", 2, inner))) is None
    assert evolution.column_mapping_breach(metadata(Field("a", LONG))) is None


def test_structs_without_fields_are_named_wherever_they_are() -> None:
    nothing = Struct(())
    inner = Struct((Field("a", LONG), Field("deep", nothing)))

    assert evolution.empty_structs(Struct((Field("a", LONG), Field("s", Struct((Field("a", LONG),)))))) == ()
    assert evolution.empty_structs(Struct((Field("s", nothing), Field("t", inner)))) == ("s", "t.deep")
    assert evolution.empty_structs(Struct((Field("l", Array(nothing, contains_null=True)),))) == (
        "l.element",
    )
    assert evolution.empty_structs(nothing) == ()
