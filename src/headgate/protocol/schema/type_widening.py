"""The history of a column's type, which the preview of type widening keeps with versions."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.protocol.actions import Metadata, Version

PREVIEW = "typeWidening-preview"
_CHANGES, _VERSION = "delta.typeChanges", "tableVersion"


def renumber_type_changes(metadata: Metadata, old: Version, new: Version) -> Metadata:
    """The same metadata, changes of version ``old`` said to be of version ``new``."""
    if _CHANGES not in metadata.schema_string:
        return metadata
    schema = _renumber(msgspec.json.decode(metadata.schema_string), old, new)
    return msgspec.structs.replace(metadata, schema_string=msgspec.json.encode(schema).decode())


def _renumber(node: Any, old: Version, new: Version) -> Any:  # any JSON: a change may be of a nested column
    match node:
        case list():
            return [_renumber(part, old, new) for part in node]
        case dict():
            return {
                key: [_renumber_change(change, old, new) for change in value]
                if key == _CHANGES
                else _renumber(value, old, new)
                for key, value in node.items()
            }
        case _:
            return node


def _renumber_change(change: Mapping[str, Any], old: Version, new: Version) -> Mapping[str, Any]:
    return {**change, _VERSION: int(new)} if change.get(_VERSION) == old else change
