"""What an attempt becomes before it is proposed, at once or after a while."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from headgate.errors import CorruptLog
from headgate.protocol.actions import EpochMillis
from headgate.protocol.conflicts import rebase
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION
from headgate.protocol.transaction.attempt import Attempt
from tests.support.attempts import BASE, side, table

HALF = f"set:{ENABLEMENT_VERSION}=3"
"""A table that says from which version on it has timestamps, and not from which moment on."""


def prepared(words: Sequence[str], state: State) -> Attempt:
    return rebase.prepare(side("ours", words, state).attempt)


# --- marks of identity columns


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        (["mark:9", "append"], {"delta.identity.schemaUpdate": "true"}),
        (["mark:9", "set:acme=1"], {}),
        (["append"], {}),
    ],
    ids=["a mark alone", "a mark and a property", "no metadata"],
)
def test_a_commit_says_of_itself_that_it_moves_marks_alone(words: list[str], tags: Mapping[str, str]) -> None:
    """Appends of others that lose to it would otherwise be refused for its metadata."""
    assert prepared(words, table(["identity"])).tags == tags


def test_tags_are_kept_beside_that_of_marks() -> None:
    ours = replace(side("ours", ["mark:9"], table(["identity"])).attempt, tags={"acme": "1"})

    assert rebase.prepare(ours).tags == {"acme": "1", "delta.identity.schemaUpdate": "true"}


# --- since when there are timestamps


def test_timestamps_that_do_not_say_since_when_can_be_switched_off() -> None:
    """That is what the error of every other write tells people to do."""
    state = table(["stamped", HALF])
    with pytest.raises(CorruptLog, match="disable the timestamps"):
        prepared(["append"], state)

    left = prepared(["set:delta.enableInCommitTimestamps=false"], state).metadata.configuration

    assert ENABLEMENT_VERSION not in left


def test_what_was_left_of_earlier_timestamps_keeps_nobody_from_switching_them_on() -> None:
    state = table(["feature:inCommitTimestamp", HALF])

    said = prepared(["set:delta.enableInCommitTimestamps=true"], state).metadata.configuration

    assert (said[ENABLEMENT_VERSION], said[ENABLEMENT_TIMESTAMP]) == (str(BASE + 1), "5000")


# --- an attempt that waits for others


@pytest.mark.parametrize(("now", "stamp"), [(9_000, 9_000), (5, 1_001)], ids=["later", "set back"])
def test_who_waited_is_stamped_when_it_is_proposed_and_after_the_version_before(now: int, stamp: int) -> None:
    """I8"""
    ours = prepared(["append"], table(["stamped"]))

    proposed = rebase.stamped_now(ours, EpochMillis(now))

    assert proposed == replace(ours, timestamp=EpochMillis(stamp))


def test_who_waited_asks_no_timestamp_of_versions_that_have_none() -> None:
    ours = prepared(["append"], replace(table(), info=None))

    assert rebase.stamped_now(ours, EpochMillis(9_000)).timestamp == 9_000
