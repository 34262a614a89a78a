"""Which version a moment means."""

import pytest

from headgate.errors import VersionNotFound
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log.timestamps import (
    VersionTimestamp,
    format_duration,
    format_timestamp,
    is_too_far_ahead,
    make_monotonic,
    next_in_commit_timestamp,
    version_at,
)

STAMPS = [
    VersionTimestamp(Version(version), EpochMillis(at)) for version, at in ((0, 100), (1, 200), (2, 300))
]


def test_time_never_stands_still_or_goes_back() -> None:
    assert next_in_commit_timestamp(500, EpochMillis(300)) == 500
    assert next_in_commit_timestamp(300, EpochMillis(300)) == 301
    assert next_in_commit_timestamp(7, EpochMillis(300)) == 301
    assert next_in_commit_timestamp(7, None) == 7


DAY = 86_400_000


@pytest.mark.parametrize(
    ("stamp", "previous", "refused"),
    [
        (500 + DAY, None, False),
        (501 + DAY, None, True),
        (501 + DAY, 300, True),
        (501 + DAY, 499 + DAY, True),
        (501 + DAY, 500 + DAY, False),
        (301, 300, False),
        (302, 300, False),
    ],
)
def test_a_clock_may_be_a_day_ahead_or_follow_one_that_was(
    stamp: int, previous: int | None, *, refused: bool
) -> None:
    assert is_too_far_ahead(stamp, 500, previous) is refused


@pytest.mark.parametrize(
    ("ahead", "written"), [(7_200_000, "2:00:00"), (3_600_000 - 1, "0:59:59"), (DAY * 3, "3 days, 0:00:00")]
)
def test_people_are_told_a_time_in_days_and_hours(ahead: int, written: str) -> None:
    assert format_duration(ahead) == written


@pytest.mark.parametrize(("moment", "version"), [(100, 0), (199, 0), (200, 1), (299, 1), (300, 2)])
def test_a_moment_means_the_last_version_at_or_before_it(moment: int, version: int) -> None:
    assert version_at(STAMPS, EpochMillis(moment)) == version


def test_moments_outside_the_history_are_refused_by_name() -> None:
    with pytest.raises(VersionNotFound) as early:
        version_at(STAMPS, EpochMillis(99))
    with pytest.raises(VersionNotFound) as late:
        version_at(STAMPS, EpochMillis(301))

    assert early.value.code == "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"
    assert late.value.code == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"
    for caught in (early.value, late.value):
        assert (caught.fields["earliest"], caught.fields["latest"]) == (100, 300)


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (10**17, "100000000000000000 ms since 1970"),
        (None, "no time"),
    ],
)
def test_people_are_told_a_moment_by_the_calendar_if_it_has_it(moment: int | None, written: str) -> None:
    assert format_timestamp(moment) == written


def test_file_times_are_made_increasing() -> None:
    stamps = [
        VersionTimestamp(Version(version), EpochMillis(at))
        for version, at in ((0, 100), (1, 90), (2, 101), (3, 500))
    ]

    assert [stamp.at for stamp in make_monotonic(stamps)] == [100, 101, 102, 500]
