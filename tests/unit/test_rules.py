"""The catalog's decision, as a table."""

import pytest

from headgate.catalog.rules import Decision, Head, decide
from headgate.protocol.actions import EpochMillis, Version

HEAD = Head(latest=Version(7), published=Version(5), latest_timestamp=EpochMillis(1))


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
