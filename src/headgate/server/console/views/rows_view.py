"""What is in a table? A few of its rows, as text, read in this process."""

from dataclasses import dataclass

import pyarrow as pa

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
    columns = [[cell_text(value) for value in column.to_pylist()] for column in rows.columns]
    return RowsView(version, tuple(rows.column_names), tuple(zip(*columns, strict=True)))


def cell_text(value: object) -> str | None:
    """A value as a cell shows it; long ones are cut."""
    if value is None:
        return None
    text = value.hex(" ") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
