"""What an attempt says of itself, and what it is refused for before any race."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from headgate.errors import UnsupportedFeature
from headgate.protocol.actions import AddCdcFile
from headgate.protocol.conflicts import rebase
from headgate.protocol.log.replay import State
from headgate.protocol.predicates.tree import Always
from headgate.protocol.transaction.attempt import BLIND, Attempt, ReadSet
from tests.support.attempts import side, table

ENABLING = "set:delta.enableInCommitTimestamps=true"


@pytest.mark.parametrize(
    ("words", "blind"),
    [
        (["append"], True),
        (["reads-app:etl", "append"], True),
        (["reads:id = 1", "append"], False),
        (["reads-file:a", "append"], False),
        (["reads-all", "append"], False),
        (["append", "delete:a"], False),
    ],
)
def test_a_blind_append_saw_no_row_and_only_adds(words: list[str], blind: bool) -> None:
    assert side("ours", words, table()).attempt.is_blind_append is blind


def test_of_two_reads_whatever_one_of_them_saw_counts_once() -> None:
    """What got lost would be a conflict that nobody sees."""
    much = ReadSet((Always(),), frozenset("a"), whole_table=True, app_ids=frozenset({"etl"}), domains=True)

    assert BLIND.union(much) == much.union(BLIND) == much.union(much) == much


def test_a_change_feed_is_no_append() -> None:
    feed = AddCdcFile(path="_change_data/a", partition_values={}, size=1)
    attempt = side("ours", ["append"], table()).attempt

    assert not attempt.with_actions((*attempt.actions, feed)).is_blind_append


@pytest.mark.parametrize(
    ("words", "change", "enables"),
    [([], [ENABLING], True), ([], ["set:acme=1"], False), (["stamped"], ["set:acme=1"], False)],
)
def test_only_one_commit_enables_timestamps(words: list[str], change: list[str], enables: bool) -> None:
    assert side("ours", change, table(words)).attempt.enables_in_commit_timestamps is enables


def prepared(words: Sequence[str], state: State) -> Attempt:
    return rebase.prepare(side("ours", words, state).attempt)


@pytest.mark.parametrize("words", [["feature:+quantumWrites"], ["set:delta.enableDeletionVectors=true"]])
def test_a_table_that_headgate_could_not_write_afterwards_is_refused(words: list[str]) -> None:
    with pytest.raises(UnsupportedFeature):
        prepared(words, table())


def test_each_protocol_and_each_metadata_of_a_table_is_looked_at() -> None:
    state = table()
    prepared(["append"], state)
    (protocol,) = side("x", ["feature:+quantumWrites"], state).attempt.actions
    (metadata,) = side("x", ["set:delta.enableDeletionVectors=true"], state).attempt.actions

    for changed in (replace(state, protocol=protocol), replace(state, metadata=metadata)):
        with pytest.raises(UnsupportedFeature):
            prepared(["append"], changed)
