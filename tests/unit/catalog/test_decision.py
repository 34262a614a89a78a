"""The catalog's decision, as a table."""

from dataclasses import replace

import pytest

from headgate.catalog.decision import DEFAULT_LIMITS, Decision, TableHead, UnpublishedLimits, decide
from headgate.protocol.actions import EpochMillis, Version
from headgate.settings import Settings

HEAD = TableHead(
    latest=Version(7), published=Version(5), latest_timestamp=EpochMillis(1), latest_change=Version(4)
)


@pytest.mark.parametrize(
    ("target", "first_ratified_as", "decision"),
    [
        (8, None, Decision.RATIFY),
        (7, None, Decision.LOST),
        (3, None, Decision.LOST),
        (9, None, Decision.GAP),
        (8, 6, Decision.REPLAY),
        (6, 6, Decision.REPLAY),
        (9, 0, Decision.REPLAY),
    ],
)
def test_decision(target: int, first_ratified_as: int | None, decision: Decision) -> None:
    first = None if first_ratified_as is None else Version(first_ratified_as)

    assert decide(HEAD, Version(target), first) is decision


@pytest.mark.parametrize(
    ("target", "first_ratified_as", "decision"),
    [
        (8, None, Decision.RATIFY),
        (7, None, Decision.ASSIGN),
        (5, None, Decision.ASSIGN),
        (4, None, Decision.LOST),
        (1, None, Decision.LOST),
        (9, None, Decision.GAP),
        (5, 6, Decision.REPLAY),
    ],
)
def test_decision_when_any_version_will_do(
    target: int, first_ratified_as: int | None, decision: Decision
) -> None:
    first = None if first_ratified_as is None else Version(first_ratified_as)

    assert decide(HEAD, Version(target), first, any_version=True) is decision


@pytest.mark.parametrize(
    ("limits", "decision"),
    [
        (UnpublishedLimits(commits=3, bytes=101), Decision.RATIFY),
        (UnpublishedLimits(commits=2, bytes=101), Decision.PUBLISH_FIRST),
        (UnpublishedLimits(commits=3, bytes=100), Decision.PUBLISH_FIRST),
        (UnpublishedLimits(commits=1, bytes=1), Decision.PUBLISH_FIRST),
    ],
)
def test_beyond_a_limit_what_waits_is_published_first(limits: UnpublishedLimits, decision: Decision) -> None:
    """K7, S076"""
    waiting = replace(HEAD, unpublished_bytes=100)

    assert decide(waiting, Version(8), None, limits=limits) is decision


def test_a_limit_concerns_only_what_would_be_ratified() -> None:
    """K7"""
    full = replace(HEAD, unpublished_bytes=100)

    assert decide(full, Version(7), None, limits=UnpublishedLimits(0, 0)) is Decision.LOST
    assert decide(full, Version(9), None, limits=UnpublishedLimits(0, 0)) is Decision.GAP
    assert decide(full, Version(8), Version(3), limits=UnpublishedLimits(0, 0)) is Decision.REPLAY
    assert (
        decide(full, Version(7), None, any_version=True, limits=UnpublishedLimits(1, 1))
        is Decision.PUBLISH_FIRST
    )


def test_with_nothing_to_publish_no_limit_is_reached() -> None:
    """K7: else nobody could ever make room."""
    empty = replace(HEAD, published=Version(7), unpublished_bytes=100)

    assert decide(empty, Version(8), None, limits=UnpublishedLimits(0, 0)) is Decision.RATIFY


def test_on_a_shared_log_the_log_decides() -> None:
    """K8"""
    shared = replace(HEAD, shares_log=True)

    assert decide(shared, Version(8), None) is Decision.PUT_IF_ABSENT
    assert decide(shared, Version(7), None, any_version=True) is Decision.PUT_IF_ABSENT
    assert decide(shared, Version(7), None) is Decision.LOST
    assert decide(shared, Version(8), Version(2)) is Decision.REPLAY
    assert decide(replace(shared, frozen=True), Version(8), None) is Decision.FROZEN


def test_the_limits_are_those_of_the_settings() -> None:
    settings = Settings()

    assert UnpublishedLimits(settings.unpublished_commits, settings.unpublished_bytes) == DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("waiting", "limits", "reached"),
    [
        (1, UnpublishedLimits(1, 1), True),
        (1, UnpublishedLimits(2, 1), False),
        (2, UnpublishedLimits(2, 1), True),
        (1, UnpublishedLimits(2, 0), True),
    ],
)
def test_a_limit_is_reached_by_as_many_as_it_says(
    waiting: int, limits: UnpublishedLimits, reached: bool
) -> None:
    """A head that says nothing of bytes has none."""
    head = TableHead(Version(waiting), Version(0), EpochMillis(1), Version(0))

    assert limits.reached(head) is reached
