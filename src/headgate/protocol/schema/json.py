"""Between ``schemaString`` and the types."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.errors import CorruptLog
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct


def parse(schema_string: str) -> Struct:
    """The columns a ``schemaString`` describes."""
    try:
        parsed = _type(msgspec.json.decode(schema_string))
    except (msgspec.DecodeError, KeyError, TypeError, RecursionError) as exc:
        raise CorruptLog(f"the schema cannot be parsed: {exc!r}", code="DELTA_STATE_RECOVER_ERROR") from exc
    if not isinstance(parsed, Struct):
        raise CorruptLog("the schema is not a struct", code="DELTA_STATE_RECOVER_ERROR")
    return parsed


def render(schema: Struct) -> str:
    """The ``schemaString`` of these columns."""
    return msgspec.json.encode(plain(schema)).decode()


def plain(schema: Struct) -> Any:
    """The same as plain dicts and lists."""
    return _json(schema)


def _type(node: Any) -> DataType:
    if isinstance(node, str):
        return Primitive(node)
    match node["type"]:
        case "struct":
            return Struct(tuple(_field(part) for part in node["fields"]))
        case "array":
            return Array(_type(node["elementType"]), bool(node["containsNull"]))
        case "map":
            return Map(_type(node["keyType"]), _type(node["valueType"]), bool(node["valueContainsNull"]))
        case other:
            raise KeyError(other)


def _field(node: Mapping[str, Any]) -> Field:
    return Field(node["name"], _type(node["type"]), bool(node["nullable"]), node.get("metadata") or {})


def _json(data_type: DataType) -> Any:
    match data_type:
        case Primitive(name):
            return name
        case Array(element, contains_null):
            return {"type": "array", "elementType": _json(element), "containsNull": contains_null}
        case Map(key, value, contains_null):
            return {
                "type": "map",
                "keyType": _json(key),
                "valueType": _json(value),
                "valueContainsNull": contains_null,
            }
        case Struct(fields):
            return {"type": "struct", "fields": [_json_field(part) for part in fields]}


def _json_field(column: Field) -> Mapping[str, Any]:
    return {
        "name": column.name,
        "type": _json(column.type),
        "nullable": column.nullable,
        "metadata": dict(column.metadata),
    }
