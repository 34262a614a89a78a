"""How are columns spelled on the wire? Like a schema string, with hyphens in the names of nested types.

    {"type": "array", "element-type": "long", "contains-null": true}     the API
    {"type": "array", "elementType": "long", "containsNull": true}       the log, and some clients

Both are read; the first is written. What is nobody's name of a part of a type stays as it is: the metadata
of a column may have any.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.errors import CorruptLog, InvalidRequest, UnsupportedFeature
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct

_TO_WIRE = {
    "elementType": "element-type",
    "containsNull": "contains-null",
    "keyType": "key-type",
    "valueType": "value-type",
    "valueContainsNull": "value-contains-null",
}
_FROM_WIRE = {theirs: ours for ours, theirs in _TO_WIRE.items()}
_NESTED = ("elementType", "keyType", "valueType", "type")


def columns_to_wire(schema: Struct) -> Any:
    """The columns as the API has them."""
    return _respelled(schema_json.to_json_value(schema), _TO_WIRE)


def columns_from_wire(columns: Any) -> Struct:
    """The columns that an API's body names, in either spelling; ``InvalidRequest`` if they are none."""
    try:
        return schema_json.parse(msgspec.json.encode(_respelled(columns, _FROM_WIRE)).decode())
    except (CorruptLog, UnsupportedFeature, RecursionError) as exc:
        raise InvalidRequest(f"the columns cannot be read: {getattr(exc, 'message', 'too deep')}") from exc


def _respelled(node: Any, names: Mapping[str, str]) -> Any:
    """A type with the parts of nested ones named otherwise; columns and their metadata keep their names."""
    if not isinstance(node, dict):
        return node
    known = {names.get(key, key): part for key, part in node.items()}
    for key in (*_NESTED, *_TO_WIRE.values()):
        if isinstance(known.get(key), dict):
            known[key] = _respelled(known[key], names)
    fields = known.get("fields")
    if isinstance(fields, list):
        known["fields"] = [_respelled(part, names) if isinstance(part, dict) else part for part in fields]
    return known
