"""The history of a column's type, which the preview of type widening keeps with versions."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.protocol.actions import Metadata, Version

PREVIEW = "typeWidening-preview"
_CHANGES, _VERSION = "delta.typeChanges", "tableVersion"


def moved(metadata: Metadata, old: Version, new: Version) -> Metadata:
    """The same metadata, changes of version ``old`` said to be of version ``new``."""
    if _CHANGES not in metadata.schema_string:
        return metadata
    schema = _moved(msgspec.json.decode(metadata.schema_string), old, new)
    return msgspec.structs.replace(metadata, schema_string=msgspec.json.encode(schema).decode())


def _moved(node: Any, old: Version, new: Version) -> Any:  # any JSON: a change may be of a nested column
    match node:
        case list():
            return [_moved(part, old, new) for part in node]
        case dict():
            return {
                key: [_redated(change, old, new) for change in value]
                if key == _CHANGES
                else _moved(value, old, new)
                for key, value in node.items()
            }
        case _:
            return node


def _redated(change: Mapping[str, Any], old: Version, new: Version) -> Mapping[str, Any]:
    return {**change, _VERSION: int(new)} if change.get(_VERSION) == old else change
