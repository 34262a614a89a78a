"""Between ``schemaString`` and the types."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct

MAX_DEPTH = 100
"""How deep types may be nested: whoever walks them goes as deep, and no stack is without end."""


def parse(schema_string: str) -> Struct:
    """The columns a ``schemaString`` describes; refused if they are nested too deep to be worked with."""
    try:
        parsed = _type(msgspec.json.decode(schema_string), 0)
    except RecursionError as exc:
        raise too_deep_error() from exc
    except (msgspec.DecodeError, KeyError, TypeError) as exc:
        raise CorruptLog(f"the schema cannot be parsed: {exc!r}", code="DELTA_STATE_RECOVER_ERROR") from exc
    if not isinstance(parsed, Struct):
        raise CorruptLog("the schema is not a struct", code="DELTA_STATE_RECOVER_ERROR")
    return parsed


def too_deep_error() -> UnsupportedFeature:
    """The refusal of columns that are nested too deep."""
    return UnsupportedFeature(
        f"the schema is nested more than {MAX_DEPTH} levels deep, which is more than can be worked with: "
        "flatten the columns, or keep what is deeper as a string of JSON",
        code="HEADGATE_SCHEMA_TOO_DEEP",
    )


def render(schema: Struct) -> str:
    """The ``schemaString`` of these columns; refused if it could not be parsed again."""
    return msgspec.json.encode(to_json_value(schema)).decode()


def to_json_value(schema: Struct) -> Any:
    """The same as plain dicts and lists."""
    return _json(schema, 0)


def _type(node: Any, level: int) -> DataType:
    if isinstance(node, str):
        return Primitive(node)
    if level > MAX_DEPTH:
        raise too_deep_error()
    inner = level + 1
    match node["type"]:
        case "struct" if not isinstance(node["fields"], list):
            raise TypeError("the fields of a struct are no list")
        case "struct":
            return Struct(tuple(_field(part, inner) for part in node["fields"]))
        case "array":
            return Array(_type(node["elementType"], inner), bool(node["containsNull"]))
        case "map":
            key, value = _type(node["keyType"], inner), _type(node["valueType"], inner)
            return Map(key, value, bool(node["valueContainsNull"]))
        case other:
            raise KeyError(other)


def _field(node: Mapping[str, Any], level: int) -> Field:
    name, metadata = node["name"], node.get("metadata")
    if not isinstance(name, str):
        raise TypeError(f"a column is called {name!r}")
    # What is no object says nothing that anybody could look up.
    known = metadata if isinstance(metadata, dict) else {}
    return Field(name, _type(node["type"], level), bool(node["nullable"]), known)


def _json(data_type: DataType, level: int) -> Any:
    if level > MAX_DEPTH and not isinstance(data_type, Primitive):
        raise too_deep_error()
    inner = level + 1
    match data_type:
        case Primitive(name):
            return name
        case Array(element, contains_null):
            return {"type": "array", "elementType": _json(element, inner), "containsNull": contains_null}
        case Map(key, value, contains_null):
            return {
                "type": "map",
                "keyType": _json(key, inner),
                "valueType": _json(value, inner),
                "valueContainsNull": contains_null,
            }
        case Struct(fields):
            return {"type": "struct", "fields": [_json_field(part, inner) for part in fields]}


def _json_field(column: Field, level: int) -> Mapping[str, Any]:
    return {
        "name": column.name,
        "type": _json(column.type, level),
        "nullable": column.nullable,
        "metadata": dict(column.metadata),
    }
