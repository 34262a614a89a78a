"""The small state."""

from dataclasses import replace

import pytest

from headgate.errors import CorruptLog
from headgate.protocol.actions import AppTransaction, DomainMetadata
from headgate.protocol.log import codec, replay
from headgate.protocol.log.replay import State
from tests.support.commits import MANAGED, PROTOCOL, commit, metadata

FIRST = replay.initial_state(commit(0, PROTOCOL, metadata(), timestamp=10))


def domain(name: str, value: str, *, removed: bool = False) -> DomainMetadata:
    return DomainMetadata(domain=name, configuration=value, removed=removed)


def test_the_last_action_of_each_kind_counts() -> None:
    state = replay.advance(
        FIRST, commit(1, MANAGED, metadata(delta_enableInCommitTimestamps="true"), timestamp=12)
    )

    assert (state.version, state.protocol, state.in_commit_timestamp) == (1, MANAGED, 12)
    assert state.has_in_commit_timestamps


def test_what_a_commit_does_not_mention_stays() -> None:
    state = replay.advance(FIRST, commit(1))

    assert (state.protocol, state.metadata) == (FIRST.protocol, FIRST.metadata)


def test_a_removed_domain_disappears_and_others_stay() -> None:
    one = replay.advance(FIRST, commit(1, domain("a", "1"), domain("b", "2")))
    two = replay.advance(one, commit(2, domain("a", "1", removed=True), domain("b", "3")))

    assert dict(two.domains) == {"b": domain("b", "3")}


def test_the_last_transaction_of_an_application_counts() -> None:
    one = replay.advance(FIRST, commit(1, AppTransaction(app_id="etl", version=4)))
    two = replay.advance(one, commit(2, AppTransaction(app_id="etl", version=5)))
    three = replay.advance(two, commit(3, AppTransaction(app_id="other", version=1)))

    assert {app_id: txn.version for app_id, txn in three.txns.items()} == {"etl": 5, "other": 1}


def test_a_commit_that_says_nothing_of_itself_has_no_timestamp() -> None:
    silent = replay.advance(FIRST, replace(commit(1), info=None))

    assert silent.in_commit_timestamp is None
    assert not silent.has_in_commit_timestamps


@pytest.mark.parametrize(("action", "absent"), [(PROTOCOL, "metaData"), (metadata(), "protocol")])
def test_a_log_without_protocol_or_metadata_is_refused(action: object, absent: str) -> None:
    """S252"""
    with pytest.raises(CorruptLog, match=absent) as caught:
        replay.initial_state(commit(0, action))  # type: ignore[arg-type]  # either of the two actions

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"


def test_a_state_is_usable_whose_protocol_and_metadata_are_whole() -> None:
    assert replay.check_usable(FIRST) is FIRST


@pytest.mark.parametrize(
    ("damaged", "name"),
    [
        (replace(FIRST, protocol=codec.damaged_protocol(ValueError("no number"))), "protocol"),
        (replace(FIRST, metadata=codec.damaged_metadata(ValueError("no number"))), "metaData"),
    ],
)
def test_a_state_is_not_usable_whose_protocol_or_metadata_is_damaged(damaged: State, name: str) -> None:
    with pytest.raises(CorruptLog, match=f"the {name} action .* version 0 is damaged: no number") as caught:
        replay.check_usable(damaged)

    assert caught.value.code == "DELTA_STATE_RECOVER_ERROR"
