"""What did a commit do to rows and files, by its own word? What ``operationMetrics`` say, ours too.

Each operation has names of its own for much the same counts: a DELETE says ``numDeletedRows`` and
``numRemovedFiles``, a MERGE ``numTargetRowsDeleted`` and ``numTargetFilesRemoved``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.protocol.actions import AddFile


@dataclass(frozen=True, slots=True)
class Metric:
    """One row: what became of rows or files, and the names under which writers count it, the best first."""

    verb: str
    names: tuple[str, ...]
    unless: str = ""
    """Another metric that says the same in more detail."""


ROW_METRICS: tuple[Metric, ...] = (
    Metric("written", ("numOutputRows",), unless="numTargetRowsInserted"),
    Metric("inserted", ("numTargetRowsInserted",)),
    Metric("updated", ("numUpdatedRows", "numTargetRowsUpdated")),
    Metric("deleted", ("numDeletedRows", "numTargetRowsDeleted")),
)
FILE_METRICS: tuple[Metric, ...] = (
    Metric("added", ("numAddedFiles", "numTargetFilesAdded", "numFiles")),
    Metric("converted", ("numConvertedFiles",)),
    Metric("restored", ("numRestoredFiles",)),
    Metric("copied", ("numCopiedFiles",)),
    Metric("marked", ("numDeletionVectorsAdded", "numTargetDeletionVectorsAdded")),
    Metric("marked again", ("numDeletionVectorsUpdated", "numTargetDeletionVectorsUpdated")),
    Metric("removed", ("numRemovedFiles", "numTargetFilesRemoved")),
    Metric("deleted", ("numDeletedFiles",)),
)


@dataclass(frozen=True, slots=True)
class MetricCount:
    """So many rows or files, and what became of them."""

    verb: str
    number: int


def written_metrics(adds: Sequence[AddFile], rows: int) -> dict[str, str]:
    """What a write says of the files with its rows, in Delta's names."""
    return {
        "numFiles": str(len(adds)),
        "numOutputRows": str(rows),
        "numOutputBytes": str(sum(add.size for add in adds)),
    }


def metric_counts(metrics: Mapping[str, Any], rows: Sequence[Metric]) -> tuple[MetricCount, ...]:
    """What a commit counted, in the order of the rows; () if it says nothing of them.

    A count of nothing is left out beside others.
    """
    found = [
        MetricCount(row.verb, number)
        for row in rows
        if row.unless not in metrics and (number := _first(metrics, row.names)) is not None
    ]
    return tuple(count for count in found if count.number) or tuple(found[:1])


def _first(metrics: Mapping[str, Any], names: Sequence[str]) -> int | None:
    return next((number for name in names if (number := _number(metrics.get(name))) is not None), None)


def _number(value: object) -> int | None:
    """A count as writers put it, as text or as a number; others may have put anything there."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None
