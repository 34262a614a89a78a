"""Do two actions say the same? Their normal form: what writers may write in several ways, in one."""

from typing import Any

import msgspec

from headgate.protocol.actions import Metadata, Protocol

_SETS = ("readerFeatures", "writerFeatures")
_NOTHING: tuple[object, ...] = (None, [], {}, ())


def normal_form(action: Protocol | Metadata) -> dict[str, Any]:
    """Features in one order, the schema without its spaces, and what is empty as if it were absent."""
    plain: dict[str, Any] = msgspec.to_builtins(action)
    for name in _SETS:
        if name in plain:
            plain[name] = sorted(set(plain[name]))
    if "schemaString" in plain:
        plain["schemaString"] = _parsed(plain["schemaString"])
    return {name: value for name, value in plain.items() if value not in _NOTHING}


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
