"""Which files tell what a commit changed: those it recorded, or those that came and went."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from headgate.protocol.actions import CommitInfo, Protocol
from headgate.table.read.change_files import VersionRange
from tests.support.commits import add, metadata, remove
from tests.support.tables import open_filesystem
from tests.unit.table.read.test_time_travel import at

NO_ROW: Mapping[str, str] = dict.fromkeys(
    ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"), "0"
)


def told(folder: Path, operation: str, metrics: Mapping[str, str] | None) -> list[tuple[int, int]]:
    """How many files tell of rows that came and went in the second version."""
    feed = metadata(delta_enableChangeDataFeed="true")
    at(folder, 0, 1_000, Protocol(min_reader_version=1, min_writer_version=4), feed, add("old"))
    info = CommitInfo(operation=operation, operation_metrics=metrics)
    at(folder, 1, 2_000, info, remove("old"), add("new"))
    _, found = open_filesystem(str(folder)).changes(VersionRange(1))
    return [(len(changes.inserted), len(changes.deleted)) for changes in found]


def test_a_merge_that_only_copied_rows_changed_none(tmp_path: Path) -> None:
    """Delta Spark rewrites the files that a MERGE matched, whether or not a clause then holds for a row."""
    assert told(tmp_path, "MERGE", {**NO_ROW, "numTargetRowsCopied": "4"}) == [(0, 0)]


@pytest.mark.parametrize(
    ("operation", "metrics"),
    [
        ("MERGE", {**NO_ROW, "numTargetRowsUpdated": "1"}),
        ("MERGE", {"numTargetRowsInserted": "0", "numTargetRowsUpdated": "0"}),
        ("MERGE", {**NO_ROW, "numTargetRowsDeleted": "many"}),
        ("MERGE", None),
        ("UPDATE", NO_ROW),
    ],
    ids=["a row", "one missing", "no number", "no metrics", "no merge"],
)
def test_files_tell_unless_every_count_says_that_no_row_changed(
    tmp_path: Path, operation: str, metrics: Mapping[str, str] | None
) -> None:
    assert told(tmp_path, operation, metrics) == [(1, 1)]
