"""What does a statement answer? Columns with names and types, rows, and whether there are more of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type

from headgate.arrow import json_values
from headgate.cli.shell import values

_TEXTS = (("plan",), ("createtab_stmt",))
"""The columns of EXPLAIN and of SHOW CREATE TABLE."""


@dataclass(frozen=True)
class StatementAnswer:
    """The rows of one statement; a statement without columns only did something."""

    names: tuple[str, ...] = ()
    rows: pa.Table | None = None
    """As many columns as there are names, in their order."""
    has_more: bool = False
    """Whether there are rows beyond the limit."""

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of the columns, as SQL writes them."""
        if self.rows is None:
            return ()
        return tuple(from_arrow_type(kind).simpleString() for kind in self.rows.schema.types)

    @property
    def count(self) -> int:
        """How many rows are here."""
        return 0 if self.rows is None else int(self.rows.num_rows)

    @property
    def unique_names(self) -> tuple[str, ...]:
        """The names, with a number behind those that an earlier column has."""
        found: list[str] = []
        for name in self.names:
            number, unique = 1, name
            while unique in found:
                number += 1
                unique = f"{name}_{number}"
            found.append(unique)
        return tuple(found)

    def cells(self) -> list[tuple[str, ...]]:
        """The rows as texts."""
        return [tuple(map(values.cell_text, row, self._kinds)) for row in self._values()]

    def plain_rows(self) -> list[dict[str, Any]]:
        """The rows as JSON has them, each by the names of the columns."""
        names = self.unique_names
        return [
            dict(zip(names, map(json_values.json_value, row, self._kinds), strict=True))
            for row in self._values()
        ]

    def is_right(self, index: int) -> bool:
        """Whether a column has numbers, which stand at the right."""
        kind = self._kinds[index]
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))

    def only_text(self) -> str | None:
        """The text of an answer that is one text of several lines: a plan, or a statement."""
        return str(next(self._values())[0]) if self.names in _TEXTS and self.count == 1 else None

    @cached_property
    def _kinds(self) -> tuple[pa.DataType, ...]:
        return () if self.rows is None else tuple(self.rows.schema.types)

    def _values(self) -> Iterator[tuple[Any, ...]]:
        if self.rows is None:
            return iter(())
        return zip(*(column.to_pylist() for column in self.rows.columns), strict=True)


def arrow_answer(rows: pa.Table, most_rows: int | None) -> StatementAnswer:
    """The answer that an Arrow table is, of which at most so many rows are shown."""
    has_more = most_rows is not None and rows.num_rows > most_rows
    return StatementAnswer(tuple(rows.column_names), rows.slice(0, most_rows) if has_more else rows, has_more)
