"""Tables whose rows are changed: made with the switches that decide how, and looked at from outside."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import StructType

from headgate import Lake, Table

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKED = {"delta.enableRowTracking": "true"}


def made(lake: Lake, name: str, columns: str | StructType, *switches: dict[str, str], **rest: Any) -> Table:
    """A new table with these properties."""
    properties = {key: value for some in switches for key, value in some.items()}
    return lake.create_table(name, columns, properties=properties, **rest)


def tuples(table: Table, *, version: int | None = None, where: str | None = None) -> list[tuple[Any, ...]]:
    """The rows of a table, sorted."""
    return in_order(tuple(row) for row in table.read(version=version, where=where).collect())


def in_order(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows in an order that nulls do not disturb."""
    return sorted(rows, key=lambda row: [(value is not None, str(type(value)), value) for value in row])


def changes(table: Table, since: int) -> list[tuple[Any, ...]]:
    """What the change data feed says, sorted, with the kind of change first."""
    found = table.changes(since).drop("_commit_version", "_commit_timestamp")
    return in_order((row["_change_type"], *tuple(row)[:-1]) for row in found.collect())


def files(table: Table) -> dict[str, Any]:
    """The live files by path."""
    return {row["path"]: row for row in table.log.snapshot().files.columns.to_pylist()}


def on_disk(table: Table) -> set[str]:
    """Every data, change and vector file below the table's location."""
    root = Path(table.location)
    kinds = ("*.parquet", "*.bin")
    return {str(path.relative_to(root)) for kind in kinds for path in root.rglob(kind)}


def before_commit(monkeypatch: pytest.MonkeyPatch, table: Table, act: Callable[[], object]) -> None:
    """Let ``act`` happen once, when the next change has written its files and before it is committed."""
    commit = table.log.commit

    def delayed(change: Any, *, base: Any) -> Any:
        monkeypatch.setattr(table.log, "commit", commit)
        act()
        return commit(change, base=base)

    monkeypatch.setattr(table.log, "commit", delayed)
