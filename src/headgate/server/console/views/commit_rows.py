"""How many rows did a commit add, change and remove? By its writer's word, operation by operation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headgate.protocol.actions import CommitInfo


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows that a commit added, changed and removed; None where its writer did not say."""

    added: int | None = None
    changed: int | None = None
    removed: int | None = None


@dataclass(frozen=True, slots=True)
class RowMetrics:
    """Which metrics count rows, in commits that have the first of them that is named."""

    added: str | None
    changed: str | None
    removed: str | None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in (self.added, self.changed, self.removed) if name is not None)


METRICS: tuple[RowMetrics, ...] = (
    RowMetrics("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
    RowMetrics(None, "numUpdatedRows", None),
    RowMetrics(None, None, "numDeletedRows"),
    RowMetrics("numOutputRows", None, None),
)
"""The first row whose metrics a commit has tells its rows: MERGE, UPDATE, DELETE, WRITE."""


def row_counts(info: CommitInfo | None) -> RowCounts:
    """The rows of a commit by its own word."""
    said = {} if info is None else info.operation_metrics or {}
    row = next((each for each in METRICS if any(name in said for name in each.names)), None)
    if row is None:
        return RowCounts()
    return RowCounts(_number(said, row.added), _number(said, row.changed), _number(said, row.removed))


def took_ms(info: CommitInfo | None) -> int | None:
    """How long the operation took by its writer's word."""
    return _number({} if info is None else info.operation_metrics or {}, "executionTimeMs")


def _number(said: Mapping[str, Any], name: str | None) -> int | None:
    value = None if name is None else said.get(name)
    text = str(value)
    return int(text) if value is not None and text.isascii() and text.isdecimal() and len(text) < 20 else None
