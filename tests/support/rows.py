"""Rows as plain Python values, in one order, so that engines can be compared."""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

Rows = list[dict[str, Any]]


def of_frame(df: DataFrame, by: str = "id") -> Rows:
    """The rows of a DataFrame, sorted by a column."""
    return of_arrow(df.toArrow(), by)


def of_arrow(table: pa.Table, by: str = "id") -> Rows:
    """The rows of an Arrow table, sorted by a column."""
    return sorted(table.to_pylist(), key=lambda row: row[by])
