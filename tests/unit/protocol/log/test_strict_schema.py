"""Which schemas every reader can parse."""

import json

import pytest

from headgate.protocol.log import strict_schema


def schema(kind: object, name: object = "a", nullable: object = True, metadata: object = None) -> str:
    column = {
        "name": name,
        "type": kind,
        "nullable": nullable,
        "metadata": {} if metadata is None else metadata,
    }
    return json.dumps({"type": "struct", "fields": [column]})


@pytest.mark.parametrize(
    "kind",
    [
        *("binary", "boolean", "byte", "date", "double", "float", "integer", "long", "short", "string"),
        *("timestamp", "timestamp_ntz", "variant", "void", "decimal(38,38)", "decimal(1, 0)"),
        *("interval year to month", "interval day"),
        {"type": "struct", "fields": []},
        {"type": "array", "elementType": "long", "containsNull": False},
        {"type": "map", "keyType": "string", "valueType": "date", "valueContainsNull": True},
    ],
)
def test_every_type_of_the_protocol_can_be_read(kind: object) -> None:
    assert strict_schema.schema_breach(schema(kind)) is None


_TEXTS = (
    *("comment", "CURRENT_DEFAULT", "EXISTS_DEFAULT", "__CHAR_VARCHAR_TYPE_STRING"),
    *("delta.generationExpression", "delta.invariants", "delta.columnMapping.physicalName"),
)
_NUMBERS = (
    *("delta.columnMapping.id", "delta.identity.start", "delta.identity.step"),
    "delta.identity.highWaterMark",
)
_FLAGS = ("delta.identity.allowExplicitInsert",)


@pytest.mark.parametrize(
    ("keys", "fitting", "others"),
    [
        (_TEXTS, "x", (1, True, ["x"], {})),
        (_NUMBERS, 7, ("7", 7.5, True, [7])),
        (_FLAGS, False, (0, "false")),
    ],
)
def test_what_a_column_says_of_itself_has_the_type_readers_expect(
    keys: tuple[str, ...], fitting: object, others: tuple[object, ...]
) -> None:
    for key in keys:
        assert strict_schema.schema_breach(schema("long", metadata={key: fitting, "acme": [{}]})) is None
        assert strict_schema.schema_breach(schema("long", metadata={key: None})) is None
        for other in others:
            assert key in (strict_schema.schema_breach(schema("long", metadata={key: other})) or ""), other


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '"long"',
        '{"type":"struct","fields":{}}',
        '{"type":"struct","type":"struct","fields":[]}',
        schema("bogus"),
        schema("long\n"),
        schema("LONG"),
        schema("decimal"),
        schema("decimal(0,0)"),
        schema("decimal(39,1)"),
        schema("decimal(3,4)"),
        schema("decimal(3,-1)"),
        schema("decimal(\u0663,0)"),
        schema(None),
        schema({"type": "udt"}),
        schema({"type": "array", "elementType": "long"}),
        schema({"type": "map", "keyType": "string", "valueType": "none", "valueContainsNull": True}),
        schema("long", name=1),
        schema("long", name="a\0"),
        schema("long", nullable=None),
        schema("long", metadata=[]),
        schema("long", metadata="x"),
    ],
)
def test_what_some_reader_cannot_parse_is_told(text: str) -> None:
    assert strict_schema.schema_breach(text)


def test_a_column_has_a_name_of_255_characters_at_most() -> None:
    assert strict_schema.schema_breach(schema("long", name="é" * 255)) is None
    assert strict_schema.schema_breach(schema("long", name="é" * 256))


def test_a_schema_is_nested_only_so_deep() -> None:
    kind: object = "long"
    for _ in range(200):
        kind = {"type": "array", "elementType": kind, "containsNull": True}

    assert "levels deep" in str(strict_schema.schema_breach(schema(kind)))
