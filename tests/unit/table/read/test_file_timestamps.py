"""When versions without in-commit timestamps count as committed: by their files, made to increase."""

from pathlib import Path

import pytest

from headgate.protocol.actions import EpochMillis, Protocol, Version
from headgate.protocol.log import file_names
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import VersionRange
from tests.support.commits import add, metadata
from tests.support.tables import open_filesystem
from tests.unit.table.read.test_time_travel import STAMPED, at, promised, stamped

FILES = [5_000, 5_000, 4_000, 4_500, 9_000, 9_000]
"""Two versions of one millisecond, and a clock that went back."""
MOMENTS = [5_000, 5_001, 5_002, 5_003, 9_000, 9_001]


def by_files(folder: Path) -> OpenedTable:
    feed = metadata(delta_enableChangeDataFeed="true")
    at(folder, 0, FILES[0], Protocol(min_reader_version=1, min_writer_version=4), feed)
    for version, moment in list(enumerate(FILES))[1:]:
        at(folder, version, moment, add(f"{version}"))
    return open_filesystem(str(folder))


def test_history_shows_the_moments_that_time_travel_goes_by(tmp_path: Path) -> None:
    table = by_files(tmp_path)

    shown = [entry.timestamp for entry in table.history()][::-1]

    assert shown == MOMENTS
    assert [table.snapshot(timestamp=moment).version for moment in shown] == list(range(6))


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 9])
def test_a_part_of_the_history_shows_the_same(tmp_path: Path, limit: int) -> None:
    table = by_files(tmp_path)

    assert table.history(limit=limit) == table.history()[:limit]


def test_what_was_before_a_gap_counts_no_more(tmp_path: Path) -> None:
    table = by_files(tmp_path)
    table.checkpoint()
    (tmp_path / file_names.published_path(Version(1))).unlink()

    shown = {entry.version: entry.timestamp for entry in table.history()}

    assert shown == {2: 4_000, 3: 4_500, 4: 9_000, 5: 9_001}
    assert [entry.timestamp for entry in table.history(limit=3)] == [9_001, 9_000, 4_500]


@pytest.mark.parametrize("start", range(6))
def test_changes_are_dated_as_history_is(tmp_path: Path, start: int) -> None:
    table = by_files(tmp_path)

    _, found = table.changes(VersionRange(start))

    assert [change.timestamp for change in found] == MOMENTS[start:]


def test_below_an_enablement_files_are_made_to_increase_and_promises_are_kept(tmp_path: Path) -> None:
    feed = metadata(delta_enableChangeDataFeed="true")
    at(tmp_path, 0, 2_000, Protocol(min_reader_version=1, min_writer_version=4), feed)
    at(tmp_path, 1, 1_000, add("1"))
    enabling = promised(
        delta_inCommitTimestampEnablementVersion="2", delta_inCommitTimestampEnablementTimestamp="7000"
    )
    at(tmp_path, 2, 500, stamped(7_000), STAMPED, enabling)
    table = open_filesystem(str(tmp_path))

    assert [entry.timestamp for entry in table.history()] == [7_000, 2_001, 2_000]
    assert [entry.timestamp for entry in table.history(limit=2)] == [7_000, 2_001]
    assert [entry.timestamp for entry in table.history(limit=1)] == [7_000]
    assert table.snapshot(timestamp=EpochMillis(2_001)).version == 1
    assert [change.timestamp for change in table.changes(VersionRange(1))[1]] == [2_001, 7_000]
