"""The catalog's decision, as a table."""

import pytest

from headgate.catalog.rules import Decision, Head, decide
from headgate.protocol.actions import EpochMillis, Version

HEAD = Head(
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
