"""How is a value of an answer written? As a cell of a table, or as JSON.

A cell is one line, and holds nothing that steers the terminal of whoever looks (``visible_text.py``).
"""

from collections.abc import Mapping
from typing import Any

import msgspec
import pyarrow as pa

from headgate.cli.json_scalars import json_scalar
from headgate.cli.visible_text import visible_line

NULL = "NULL"


def cell_text(value: Any, kind: pa.DataType) -> str:
    """A value as one line of text."""
    plain = plain_value(value, kind)
    match plain:
        case None:
            return NULL
        case str():
            text = plain.replace("T", " ", 1) if pa.types.is_timestamp(kind) else plain
        case msgspec.Raw():
            text = bytes(plain).decode()
        case _:
            text = msgspec.json.encode(plain).decode()
    return visible_line(text)


def plain_value(value: Any, kind: pa.DataType) -> Any:
    """A value as JSON has it: moments with their zone, bytes in base64, what is no number as a text."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: plain_value(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, Mapping) else value
        return {_key(key, kind.key_type): plain_value(item, kind.item_type) for key, item in pairs}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [plain_value(item, kind.value_type) for item in value]
    return json_scalar(value)


def _key(value: Any, kind: pa.DataType) -> str:
    plain = plain_value(value, kind)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
