"""The schema in the log: what it says, and what is no schema."""

from typing import Any

import msgspec
import pytest

from headgate.errors import CorruptLog
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct, describe

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
    assert schema_json.plain(SCHEMA) == PLAIN
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
        '{"type":' * 9_999 + "1" + "}" * 9_999,
    ],
)  # fmt: skip
def test_what_is_no_schema_is_a_broken_log(text: str) -> None:
    with pytest.raises(CorruptLog, match="schema") as caught:
        schema_json.parse(text)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


def test_columns_are_found_ignoring_case() -> None:
    assert SCHEMA.find("A") == SCHEMA.fields[0]
    assert SCHEMA.find("x") is None


def test_types_are_described_as_people_write_them() -> None:
    assert describe(SCHEMA) == "struct<a: long, m: map<long, array<string>>, s: struct<X: long>>"
