"""What each operation says it did, as the history shows it."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from headgate.protocol.stats.operation_metrics import (
    FILE_METRICS,
    ROW_METRICS,
    Metric,
    metric_counts,
    written_metrics,
)
from tests.support import commits

OPERATIONS: dict[str, tuple[Mapping[str, object], str, str]] = {
    "WRITE": ({"numFiles": "2", "numOutputRows": "10"}, "10 written", "2 added"),
    "STREAMING UPDATE": (
        {"numOutputRows": "7", "numAddedFiles": "1", "numRemovedFiles": "0"},
        "7 written",
        "1 added",
    ),
    "WRITE, of Delta's replaceWhere": (
        {"numFiles": "2", "numAddedFiles": "2", "numOutputRows": "9", "numDeletedRows": "4"},
        "9 written, 4 deleted",
        "2 added",
    ),
    "DELETE": (
        {"numDeletedRows": "3", "numAddedFiles": "1", "numRemovedFiles": "2"},
        "3 deleted",
        "1 added, 2 removed",
    ),
    "DELETE, of whole files that do not say how many rows they have": (
        {"numAddedFiles": "0", "numRemovedFiles": "2"},
        "",
        "2 removed",
    ),
    "DELETE, by deletion vectors": (
        {
            "numDeletedRows": "3",
            "numAddedFiles": "0",
            "numRemovedFiles": "0",
            "numDeletionVectorsAdded": "2",
            "numDeletionVectorsUpdated": "1",
        },
        "3 deleted",
        "2 marked, 1 marked again",
    ),
    "UPDATE": (
        {"numUpdatedRows": "5", "numAddedFiles": "1", "numRemovedFiles": "1", "numCopiedRows": "9"},
        "5 updated",
        "1 added, 1 removed",
    ),
    "MERGE": (
        {
            "numOutputRows": "8",
            "numTargetRowsInserted": "3",
            "numTargetRowsUpdated": "5",
            "numTargetRowsDeleted": "0",
            "numTargetFilesAdded": "2",
            "numTargetFilesRemoved": "1",
        },
        "3 inserted, 5 updated",
        "2 added, 1 removed",
    ),
    "MERGE, by deletion vectors": (
        {
            "numTargetRowsDeleted": "4",
            "numTargetDeletionVectorsAdded": "2",
            "numTargetDeletionVectorsUpdated": "1",
        },
        "4 deleted",
        "2 marked, 1 marked again",
    ),
    "MERGE that changed nothing, and says so of everything": (
        {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0"},
        "0 inserted",
        "",
    ),
    "OPTIMIZE": ({"numAddedFiles": "1", "numRemovedFiles": "8"}, "", "1 added, 8 removed"),
    "RESTORE": ({"numRestoredFiles": "2", "numRemovedFiles": "1"}, "", "2 restored, 1 removed"),
    "CONVERT": ({"numConvertedFiles": "12"}, "", "12 converted"),
    "CLONE": ({"numRemovedFiles": "0", "numCopiedFiles": "3"}, "", "3 copied"),
    "VACUUM END": ({"numDeletedFiles": "6", "numVacuumedDirectories": "1"}, "", "6 deleted"),
    "MERGE that changed nothing": ({"numTargetRowsInserted": "0"}, "0 inserted", ""),
    "CREATE TABLE": ({}, "", ""),
    "numbers instead of texts": ({"numDeletedRows": 3, "numRemovedFiles": 1}, "3 deleted", "1 removed"),
    "what is no count": (
        {"numDeletedRows": "-3", "numRemovedFiles": None, "numOutputRows": "²", "numFiles": {"a": 1}},
        "",
        "",
    ),
    "a number without end": ({"numDeletedRows": "9" * 10_000}, "", ""),
    "the largest number": ({"numDeletedRows": "9" * 19}, f"{'9' * 19} deleted", ""),
    "a number that is larger": ({"numDeletedRows": "1" * 20}, "", ""),
    "digits of another script": ({"numDeletedRows": "\u0663"}, "", ""),
}


def told(metrics: Mapping[str, object], rows: tuple[Metric, ...]) -> str:
    return ", ".join(f"{count.number} {count.verb}" for count in metric_counts(metrics, rows))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_tells_what_became_of_rows_and_files(operation: str) -> None:
    metrics, rows, files = OPERATIONS[operation]

    assert (told(metrics, ROW_METRICS), told(metrics, FILE_METRICS)) == (rows, files)


def test_a_write_counts_its_files_rows_and_bytes() -> None:
    adds = [replace(commits.add("a"), size=3), replace(commits.add("b"), size=4)]

    assert written_metrics(adds, 9) == {"numFiles": "2", "numOutputRows": "9", "numOutputBytes": "7"}
    assert written_metrics((), 0) == {"numFiles": "0", "numOutputRows": "0", "numOutputBytes": "0"}
