"""What is in a table? A few of its rows, as text, read in this process."""

from dataclasses import dataclass

import msgspec
import pyarrow as pa

from headgate.arrow import json_values

MOST_ROWS = 50
_LONGEST_CELL = 300


@dataclass(frozen=True, slots=True)
class RowsView:
    """Some rows of a version; a cell is None where the value is null."""

    version: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]


def rows_view(version: int, rows: pa.Table) -> RowsView:
    """These rows as text."""
    columns = [[cell_text(value, column.type) for value in column.to_pylist()] for column in rows.columns]
    return RowsView(version, tuple(rows.column_names), tuple(zip(*columns, strict=True)))


def cell_text(value: object, kind: pa.DataType) -> str | None:
    """A value as a cell shows it, in the words of JSON; long ones are cut."""
    plain = json_values.json_value(value, kind)
    if plain is None:
        return None
    text = plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
