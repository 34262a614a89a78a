"""The schema in the log: what it says, and what is no schema."""

from typing import Any

import msgspec
import pytest

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct, describe_type

LONG = Primitive("long")
TEXTS = Array(Primitive("string"), contains_null=False)
NUMBERS = Map(LONG, TEXTS, value_contains_null=True)
SCHEMA = Struct(
    (
        Field("a", LONG, nullable=False, metadata={"comment": "c"}),
        Field("m", NUMBERS),
        Field("s", Struct((Field("X", LONG),))),
    )
)
PLAIN: dict[str, Any] = {
    "type": "struct",
    "fields": [
        {"name": "a", "type": "long", "nullable": False, "metadata": {"comment": "c"}},
        {
            "name": "m",
            "type": {
                "type": "map",
                "keyType": "long",
                "valueType": {"type": "array", "elementType": "string", "containsNull": False},
                "valueContainsNull": True,
            },
            "nullable": True,
            "metadata": {},
        },
        {
            "name": "s",
            "type": {
                "type": "struct",
                "fields": [{"name": "X", "type": "long", "nullable": True, "metadata": {}}],
            },
            "nullable": True,
            "metadata": {},
        },
    ],
}


def test_a_schema_is_written_with_the_names_of_the_log() -> None:
    assert schema_json.to_json_value(SCHEMA) == PLAIN
    assert msgspec.json.decode(schema_json.render(SCHEMA)) == PLAIN
    assert schema_json.parse(msgspec.json.encode(PLAIN).decode()) == SCHEMA


@pytest.mark.parametrize("metadata", ['"metadata":null', '"comment":"x"'])
def test_a_column_need_not_say_anything_of_itself(metadata: str) -> None:
    column = f'{{"name":"a","type":"long","nullable":true,{metadata}}}'
    text = f'{{"type":"struct","fields":[{column}]}}'

    assert schema_json.parse(text) == Struct((Field("a", LONG),))


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "1", '"long"', '{"type":"union"}', '{"type":"struct"}', '{"fields":[]}',
        '{"type":"array","elementType":"long","containsNull":true}',
        '{"type":"struct","fields":[{"name":"a","type":{"type":"union"},"nullable":true}]}',
        '{"type":"struct","fields":[{"name":"a","type":"long"}]}', '{"type":"struct","fields":[1]}',
        '{"type":"struct","fields":{}}',
        '{"type":"struct","fields":[{"name":1,"type":"long","nullable":true}]}',
        '{"type":"struct","fields":[{"name":"a","type":{"type":"struct","fields":{}},"nullable":true}]}',
    ],
)  # fmt: skip
def test_what_is_no_schema_is_a_broken_log(text: str) -> None:
    with pytest.raises(CorruptLog, match="schema") as caught:
        schema_json.parse(text)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


def nested(kind: str, levels: int) -> DataType:
    """A long in so many types of a kind."""
    found: DataType = LONG
    for _ in range(levels):
        match kind:
            case "struct":
                found = Struct((Field("a", found),))
            case "array":
                found = Array(found, contains_null=True)
            case _:
                found = Map(found, LONG, value_contains_null=True)
    return found


def text_of(kind: str, levels: int) -> str:
    """A schema with a column of so many types of a kind, however many."""
    before, after = {
        "struct": (
            '{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":', "}]}"
        ),
        "array": ('{"type":"array","containsNull":true,"elementType":', "}"),
        "map": ('{"type":"map","valueContainsNull":true,"valueType":"long","keyType":', "}"),
    }[kind]  # fmt: skip
    column = before * levels + '"long"' + after * levels
    return f'{{"type":"struct","fields":[{{"name":"d","nullable":true,"metadata":{{}},"type":{column}}}]}}'


@pytest.mark.parametrize("kind", ["struct", "array", "map"])
def test_a_schema_is_parsed_and_written_as_deep_as_can_be_worked_with(kind: str) -> None:
    deepest = Struct((Field("d", nested(kind, schema_json.MAX_DEPTH)),))

    assert schema_json.parse(text_of(kind, schema_json.MAX_DEPTH)) == deepest
    assert msgspec.json.decode(schema_json.render(deepest)) == msgspec.json.decode(
        text_of(kind, schema_json.MAX_DEPTH)
    )
    with pytest.raises(UnsupportedFeature, match="nested more than 100 levels deep") as caught:
        schema_json.render(Struct((Field("d", nested(kind, schema_json.MAX_DEPTH + 1)),)))
    assert caught.value.code == "HEADGATE_SCHEMA_TOO_DEEP"


@pytest.mark.parametrize("levels", [101, 150, 400, 20_000])
@pytest.mark.parametrize("kind", ["struct", "array", "map"])
def test_a_deeper_schema_is_refused_by_name(kind: str, levels: int) -> None:
    with pytest.raises(UnsupportedFeature, match="nested more than 100 levels deep") as caught:
        schema_json.parse(text_of(kind, levels))

    assert caught.value.code == "HEADGATE_SCHEMA_TOO_DEEP"


def test_columns_are_found_ignoring_case() -> None:
    assert SCHEMA.find("A") == SCHEMA.fields[0]
    assert SCHEMA.find("x") is None


def test_types_are_described_as_people_write_them() -> None:
    assert describe_type(SCHEMA) == "struct<a: long, m: map<long, array<string>>, s: struct<X: long>>"
