"""How is a value of an answer written as a cell of a table?

A cell is one line, and holds nothing that steers the terminal of whoever looks (``visible_text.py``).
"""

from typing import Any

import msgspec
import pyarrow as pa

from headgate.arrow.json_values import json_value
from headgate.cli.visible_text import visible_line

NULL = "NULL"


def cell_text(value: Any, kind: pa.DataType) -> str:
    """A value as one line of text."""
    plain = json_value(value, kind)
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
