"""DuckDB as an independent reader: its delta extension, and catalog-managed tables on a catalog's word."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from duckdb_extensions import import_extension


def connect() -> Any:
    """A DuckDB that can read Delta tables, without a network."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    import_extension("delta", con=connection)
    connection.load_extension("delta")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def read_managed(location: str, latest: int, tail: Sequence[Path]) -> list[tuple[Any, ...]]:
    """The rows of a catalog-managed table, given what its catalog would answer."""
    # The extension wants the newest commit first.
    files = ", ".join(
        f"{{'file_name': '{path.as_uri()}', 'timestamp': 1, 'file_size': {path.stat().st_size}}}"
        for path in reversed(tail)
    )
    with connect() as connection:
        log_tail = f", LOG_TAIL [{files}]" if tail else ""
        connection.execute(f"ATTACH '{location}' AS t (TYPE delta, MAX_CATALOG_VERSION {latest}{log_tail})")
        found: list[tuple[Any, ...]] = connection.sql("SELECT * FROM t ORDER BY id").fetchall()
        return found
