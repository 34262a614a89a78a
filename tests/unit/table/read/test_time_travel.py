"""Which version a moment means, on tables with in-commit timestamps from the start, later or broken."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from headgate.catalog.embedded import open_catalog
from headgate.errors import CorruptLog, InvalidRequest, VersionNotFound
from headgate.protocol.actions import Action, CommitInfo, EpochMillis, Metadata, Protocol, Version
from headgate.protocol.log import codec, file_names, timestamps
from headgate.settings import Settings
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import AtTimestamp, VersionRange
from tests.support.commits import add, metadata
from tests.support.tables import append_change, create_managed, named_file, open_filesystem, open_managed
from tests.support.versions import INLINE, STAGED, write_checkpoint
from tests.support.world import LogicalClock, SimulatedWorld

EARLY = "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"
LATE = "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
EITHER = pytest.mark.parametrize("settings", [STAGED, INLINE], ids=["staged", "inline"])
STAMPED = Protocol(
    min_reader_version=1, min_writer_version=7, writer_features=("changeDataFeed", "inCommitTimestamp")
)


def at(folder: Path, version: int, moment: int, *actions: Action) -> None:
    """A published version whose file is of that moment."""
    path = folder / file_names.published_path(Version(version))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(codec.encode(actions))
    os.utime(path, ns=(moment * 1_000_000, moment * 1_000_000))


def stamped(moment: int) -> CommitInfo:
    return CommitInfo(in_commit_timestamp=EpochMillis(moment), operation="WRITE")


def promised(**more: str) -> Metadata:
    return metadata(delta_enableInCommitTimestamps="true", delta_enableChangeDataFeed="true", **more)


def enabled_at_version_2(folder: Path) -> OpenedTable:
    """Files of 1000 and 2000, then in-commit timestamps 10000 and 11000, whose files' times mislead."""
    plain = CommitInfo(in_commit_timestamp=EpochMillis(77_777), operation="WRITE")  # promised by nobody yet
    enabling = promised(
        delta_inCommitTimestampEnablementVersion="2", delta_inCommitTimestampEnablementTimestamp="10000"
    )
    feed = metadata(delta_enableChangeDataFeed="true")
    at(folder, 0, 1_000, plain, Protocol(min_reader_version=1, min_writer_version=4), feed)
    at(folder, 1, 2_000, add("1"))
    at(folder, 2, 1_500, stamped(10_000), STAMPED, enabling)
    at(folder, 3, 99_000, stamped(11_000), add("3"))
    return open_filesystem(str(folder))


def meaning(table: OpenedTable, moment: int) -> int | str:
    """The version a moment means, or the code of the refusal."""
    try:
        return table.snapshot(timestamp=EpochMillis(moment)).version
    except VersionNotFound as exc:
        return exc.code


@EITHER
def test_moments_of_commits_that_nobody_published(tmp_path: Path, settings: Settings) -> None:
    """S034, S035, S036"""
    catalog = open_catalog(tmp_path)
    world = SimulatedWorld(random.Random(1), LogicalClock(), pause=lambda: None)
    staging = create_managed(catalog, world=world)
    table = open_managed(catalog, staging.table_id, staging.location, settings=settings, world=world)
    for number in range(3):
        table.commit(append_change(named_file(f"{number}")), base=table.newest_known())
    moments = [entry.timestamp for entry in table.history()][::-1]

    assert [meaning(table, moment) for moment in moments] == [0, 1, 2, 3]
    assert [meaning(table, moment + 1) for moment in moments] == [0, 1, 2, LATE]
    assert [meaning(table, moment - 1) for moment in moments] == [EARLY, 0, 1, 2]
    with pytest.raises(VersionNotFound, match=f"version 3 at {timestamps.format_timestamp(moments[-1])}"):
        table.snapshot(timestamp=EpochMillis(moments[-1] + 1))


def test_in_commit_timestamps_from_version_0_need_no_provenance(tmp_path: Path) -> None:
    """S154"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    first = Path(staging.location) / file_names.published_path(Version(0))
    os.utime(first, (1, 1))
    table = open_managed(catalog, staging.table_id, staging.location)

    state = table.snapshot().state

    said = codec.decode(Version(0), first.read_bytes()).info
    assert said is not None
    assert state.in_commit_timestamp == said.in_commit_timestamp == table.history()[0].timestamp
    assert state.in_commit_timestamp is not None
    assert meaning(table, state.in_commit_timestamp) == 0
    assert not any("Enablement" in key for key in state.metadata.configuration)


def far_back() -> SimulatedWorld:
    """A clock of long ago that goes back further at every look."""
    return SimulatedWorld(random.Random(2), LogicalClock(50_000_000, lambda: 5_000), pause=lambda: None)


@EITHER
def test_timestamps_increase_although_the_clock_goes_back(tmp_path: Path, settings: Settings) -> None:
    """S156"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location, settings=settings, world=far_back())
    for number in range(3):
        table.commit(append_change(named_file(f"{number}")), base=table.snapshot())

    moments = [entry.timestamp for entry in table.history()][::-1]

    assert moments == [moments[0] + number for number in range(4)]
    assert [meaning(table, moment) for moment in moments] == [0, 1, 2, 3]


@EITHER
def test_the_loser_of_a_race_is_stamped_after_the_winner(tmp_path: Path, settings: Settings) -> None:
    """S157"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    winner = open_managed(catalog, staging.table_id, staging.location, settings=settings)
    loser = open_managed(catalog, staging.table_id, staging.location, settings=settings, world=far_back())
    stale = loser.snapshot()
    for number in range(2):
        winner.commit(append_change(named_file(f"winner {number}")), base=winner.snapshot())

    assert loser.commit(append_change(named_file("loser")), base=stale) == 3

    third, second, *_ = loser.history()
    assert third.timestamp == second.timestamp + 1


MISSING = pytest.mark.parametrize(
    ("actions", "code"),
    [
        ((add("1"),), "DELTA_MISSING_COMMIT_INFO"),
        ((CommitInfo(operation="WRITE"), add("1")), "DELTA_MISSING_COMMIT_TIMESTAMP"),
    ],
    ids=["no commitInfo", "no inCommitTimestamp"],
)


@MISSING
@pytest.mark.parametrize(
    "ask",
    [
        OpenedTable.history,
        lambda table: table.snapshot(timestamp=EpochMillis(1_500)),
        lambda table: table.changes(VersionRange(1)),
        lambda table: table.changes(VersionRange(AtTimestamp(EpochMillis(1_000)))),
    ],
    ids=["history", "timestamp", "changes", "changes since"],
)
def test_a_promised_timestamp_that_is_missing_is_an_error_by_name(
    tmp_path: Path, actions: tuple[Action, ...], code: str, ask: Callable[[OpenedTable], object]
) -> None:
    """S167"""
    at(tmp_path, 0, 1_000, stamped(1_000), STAMPED, promised())
    at(tmp_path, 1, 2_000, *actions)
    at(tmp_path, 2, 3_000, stamped(3_000), add("2"))
    table = open_filesystem(str(tmp_path))

    with pytest.raises(CorruptLog, match="version 1") as caught:
        ask(table)

    assert caught.value.code == code
    assert table.snapshot().files.columns.num_rows == 2


@MISSING
def test_no_commit_follows_one_without_a_promised_timestamp(
    tmp_path: Path, actions: tuple[Action, ...], code: str
) -> None:
    """S167: its own timestamp could be before that of a version it follows (I8)."""
    at(tmp_path, 0, 1_000, stamped(1_000), STAMPED, promised())
    at(tmp_path, 1, 2_000, *actions)
    table = open_filesystem(str(tmp_path))

    with pytest.raises(CorruptLog, match="version 1") as caught:
        table.commit(append_change(named_file("2")), base=table.snapshot())

    assert caught.value.code == code


BOUNDARY = {
    999: EARLY, 1_000: 0, 1_001: 0,
    1_999: 0, 2_000: 1, 2_001: 1,
    9_999: 1, 10_000: 2, 10_001: 2,
    10_999: 2, 11_000: 3, 11_001: LATE,
}  # fmt: skip


@pytest.mark.parametrize(("moment", "meant"), BOUNDARY.items())
def test_time_travel_across_the_enablement(tmp_path: Path, moment: int, meant: int | str) -> None:
    """S168"""
    assert meaning(enabled_at_version_2(tmp_path), moment) == meant


@pytest.mark.parametrize(
    ("moment", "meant"), [(1_000, EARLY), (9_999, EARLY), (10_000, 2), (11_000, 3), (11_001, LATE)]
)
def test_moments_whose_commits_were_cleaned_up(tmp_path: Path, moment: int, meant: int | str) -> None:
    """S170"""
    enabled_at_version_2(tmp_path)
    table = cleaned_up_before(tmp_path, 2)

    assert meaning(table, moment) == meant
    assert [entry.version for entry in table.history()] == [3, 2]


def test_moments_of_stamped_commits_that_were_cleaned_up(tmp_path: Path) -> None:
    """S170"""
    enabled_at_version_2(tmp_path)
    table = cleaned_up_before(tmp_path, 3)

    assert [meaning(table, moment) for moment in (9_999, 10_000, 11_000)] == [EARLY, EARLY, 3]


def test_no_moment_means_anything_when_no_commit_is_left(tmp_path: Path) -> None:
    """S170: a checkpoint alone does not say when."""
    enabled_at_version_2(tmp_path)
    table = cleaned_up_before(tmp_path, 3)
    locate(str(tmp_path)).delete(file_names.published_path(Version(3)))

    assert [meaning(table, moment) for moment in (9_999, 10_000, 11_000)] == [EARLY, EARLY, EARLY]
    assert table.snapshot().files.columns.num_rows == 2


def earliest(table: OpenedTable, moment: int) -> int | str:
    """What a moment means if the earliest version will do."""
    try:
        return table.snapshot(timestamp=EpochMillis(moment), or_earliest=True).version
    except VersionNotFound as exc:
        return exc.code


def test_a_moment_before_every_version_means_the_first_one_if_allowed(tmp_path: Path) -> None:
    """S036: and every other moment means what it meant."""
    table = enabled_at_version_2(tmp_path)

    assert [earliest(table, moment) for moment in BOUNDARY] == [
        0 if meant == EARLY else meant for meant in BOUNDARY.values()
    ]
    assert earliest(table, -5) == 0


def test_a_moment_before_every_version_of_a_managed_table(tmp_path: Path) -> None:
    """S036"""
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    table = open_managed(catalog, staging.table_id, staging.location)
    table.commit(append_change(named_file("1")), base=table.snapshot())

    assert (meaning(table, 1), earliest(table, 1)) == (EARLY, 0)


@pytest.mark.parametrize("kept", [2, 3])
def test_a_moment_that_was_cleaned_up_means_the_earliest_version_if_allowed(
    tmp_path: Path, kept: int
) -> None:
    """S170"""
    enabled_at_version_2(tmp_path)
    table = cleaned_up_before(tmp_path, kept)

    assert [earliest(table, moment) for moment in (1_000, 9_999, 10_000, 11_000)] == [kept, kept, kept, 3]
    assert earliest(table, 11_001) == LATE


def test_the_earliest_version_is_the_earliest_that_can_be_read(tmp_path: Path) -> None:
    """S170: commits that are left over before the earliest checkpoint make no version."""
    enabled_at_version_2(tmp_path)
    write_checkpoint(tmp_path, open_filesystem(str(tmp_path)), 2)
    locate(str(tmp_path)).delete(file_names.published_path(Version(0)))
    table = open_filesystem(str(tmp_path))

    assert [earliest(table, moment) for moment in (1_000, 2_000, 10_000, 11_000)] == [2, 2, 2, 3]
    with pytest.raises(VersionNotFound, match="cleaned up to version 2"):
        table.snapshot(timestamp=EpochMillis(2_000))


def test_the_earliest_version_is_a_checkpoint_alone_if_no_commit_is_left(tmp_path: Path) -> None:
    """S170"""
    enabled_at_version_2(tmp_path)
    table = cleaned_up_before(tmp_path, 3)
    locate(str(tmp_path)).delete(file_names.published_path(Version(3)))

    assert earliest(table, 5) == 3


@pytest.mark.parametrize("asked", [{}, {"version": 1}], ids=str)
def test_the_earliest_version_is_an_answer_to_a_timestamp_only(tmp_path: Path, asked: dict[str, int]) -> None:
    """S036"""
    with pytest.raises(InvalidRequest, match="give one"):
        enabled_at_version_2(tmp_path).snapshot(or_earliest=True, **asked)  # type: ignore[arg-type]


SINCE_VERSION, SINCE_MOMENT = timestamps.ENABLEMENT_VERSION, timestamps.ENABLEMENT_TIMESTAMP


@pytest.mark.parametrize(
    "provenance",
    [
        {SINCE_VERSION: "1"},
        {SINCE_MOMENT: "2000"},
        {SINCE_VERSION: "one", SINCE_MOMENT: "2000"},
        {SINCE_VERSION: "1", SINCE_MOMENT: ""},
        {SINCE_VERSION: "-1", SINCE_MOMENT: "2000"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "ask",
    [
        OpenedTable.history,
        lambda table: table.snapshot(timestamp=EpochMillis(2_500)),
        lambda table: table.snapshot(timestamp=EpochMillis(5), or_earliest=True),
        lambda table: table.changes(VersionRange(1)),
    ],
    ids=["history", "timestamp", "earliest", "changes"],
)
def test_half_a_provenance_is_an_error_by_name(
    tmp_path: Path, provenance: dict[str, str], ask: Callable[[OpenedTable], object]
) -> None:
    """I8: what the versions hold is not touched by it."""
    broken = replace_configuration(promised(), provenance)
    at(tmp_path, 0, 1_000, Protocol(min_reader_version=1, min_writer_version=2), metadata())
    at(tmp_path, 1, 2_000, stamped(2_000), STAMPED, broken)
    at(tmp_path, 2, 3_000, stamped(3_000), add("2"))
    table = open_filesystem(str(tmp_path))

    with pytest.raises(CorruptLog, match=SINCE_VERSION) as caught:
        ask(table)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"
    assert table.snapshot().files.columns.num_rows == 1


def test_a_provenance_without_a_promise_means_nothing(tmp_path: Path) -> None:
    """I8: disabling may leave a property behind."""
    left = replace_configuration(metadata(), {SINCE_VERSION: "1"})
    at(tmp_path, 0, 1_000, Protocol(min_reader_version=1, min_writer_version=2), left)
    at(tmp_path, 1, 2_000, add("1"))

    assert [meaning(open_filesystem(str(tmp_path)), moment) for moment in (1_500, 2_000)] == [0, 1]


def replace_configuration(found: Metadata, more: dict[str, str]) -> Metadata:
    return msgspec.structs.replace(found, configuration={**found.configuration, **more})


def cleaned_up_before(folder: Path, version: int) -> OpenedTable:
    """The table once a checkpoint of that version is all that is left of the commits before it."""
    write_checkpoint(folder, open_filesystem(str(folder)), version)
    for number in range(version):
        locate(str(folder)).delete(file_names.published_path(Version(number)))
    return open_filesystem(str(folder))


def test_history_and_changes_are_dated_by_files_below_the_enablement_only(tmp_path: Path) -> None:
    """S171"""
    table = enabled_at_version_2(tmp_path)

    _, changes = table.changes(VersionRange(0))

    assert [entry.timestamp for entry in table.history()] == [11_000, 10_000, 2_000, 1_000]
    assert [change.timestamp for change in changes] == [1_000, 2_000, 10_000, 11_000]


@pytest.mark.parametrize(
    ("start", "end", "versions"),
    [(1_001, 10_000, [1, 2]), (2_000, 10_999, [1, 2]), (2_001, 99_000, [2, 3]), (1_000, 1_999, [0])],
)
def test_changes_between_moments_across_the_enablement(
    tmp_path: Path, start: int, end: int, versions: list[int]
) -> None:
    """S045, S046, S171"""
    asked = VersionRange(AtTimestamp(EpochMillis(start)), AtTimestamp(EpochMillis(end)))

    _, changes = enabled_at_version_2(tmp_path).changes(asked)

    assert [change.version for change in changes] == versions


@pytest.mark.parametrize(
    ("start", "end", "versions"), [(10_000, 11_000, [2, 3]), (2_000, 9_999, [1]), (1_000, 10_000, [0, 1, 2])]
)
def test_changes_of_a_table_whose_old_files_were_copied_after_the_enablement(
    tmp_path: Path, start: int, end: int, versions: list[int]
) -> None:
    """S045, S171: the times of files never move a version that has a timestamp of its own (I8)."""
    table = enabled_at_version_2(tmp_path)
    os.utime(tmp_path / file_names.published_path(Version(1)), (50, 50))

    _, changes = table.changes(VersionRange(AtTimestamp(EpochMillis(start)), AtTimestamp(EpochMillis(end))))

    assert [change.version for change in changes] == versions
