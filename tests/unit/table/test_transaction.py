"""What a transaction says of itself: to the catalog, to the history, and to the loop."""

from dataclasses import replace

import pytest

from headgate.errors import ConcurrentWrite
from headgate.protocol import protocol_upgrade
from headgate.protocol.actions import (
    Action,
    AppTransaction,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    TxnId,
    Version,
)
from headgate.protocol.log import codec, replay
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.protocol.transaction.row_access import TouchedRows
from headgate.table import transaction
from headgate.table.transaction import Change, GroupMembership, Operation, Transaction
from tests.support import commits
from tests.support.attempts import InlineRows
from tests.support.world import StillWorld

STATE = replay.initial_state(
    commits.commit(
        0, commits.MANAGED, commits.metadata(delta_enableInCommitTimestamps="true"), timestamp=1_000
    )
)
PLAIN = replay.initial_state(commits.commit(0, commits.PROTOCOL, commits.metadata()))
TRACKED = replay.initial_state(
    commits.commit(
        0,
        protocol_upgrade.with_features(commits.PROTOCOL, ("rowTracking", "domainMetadata")),
        commits.metadata(),
    )
)
COUNTED = commits.add("ours.parquet", stats='{"numRecords":1}')
STAMPED_METADATA = commits.metadata(delta_enableInCommitTimestamps="true")


def begun(state: State, *actions: Action, reads: ReadSet = BLIND) -> Transaction:
    return transaction.begin(state, Change(Operation("WRITE"), actions, reads), world=StillWorld())


def test_the_commit_info_says_who_did_what_when_and_from_where() -> None:
    operation = Operation("WRITE", {"mode": "Append"}, {"numFiles": "1"})
    txn = transaction.begin(STATE, Change(operation, (COUNTED,)), world=StillWorld())
    tagged = replace(txn, attempt=replace(txn.attempt, tags={"acme": "1"}))

    assert tagged.commit.info == CommitInfo(
        in_commit_timestamp=EpochMillis(2_000),
        timestamp=EpochMillis(2_000),
        operation="WRITE",
        operation_parameters={"mode": "Append"},
        read_version=0,
        isolation_level="Serializable",
        is_blind_append=True,
        operation_metrics={"numFiles": "1"},
        engine_info=transaction.ENGINE,
        txn_id=TxnId(StillWorld().uuid()),
        tags={"acme": "1"},
    )
    assert codec.decode(Version(1), txn.content) == txn.commit


def test_a_table_without_timestamps_gets_none_and_one_that_begins_was_not_read() -> None:
    created = begun(replace(PLAIN, version=Version(-1)), COUNTED).commit.info

    assert created is not None
    assert (created.in_commit_timestamp, created.read_version, created.tags) == (None, None, None)


@pytest.mark.parametrize(
    ("state", "actions", "reads", "left_open"),
    [
        (PLAIN, (COUNTED,), BLIND, True),
        (PLAIN, (COUNTED,), ReadSet(app_ids=frozenset({"etl"})), False),
        (PLAIN, (COUNTED, AppTransaction(app_id="etl", version=1)), BLIND, False),
        (TRACKED, (), BLIND, False),
    ],
    ids=["append", "reads", "more-than-files", "row-ids"],
)
def test_only_an_append_that_read_nothing_takes_any_version(
    state: State, actions: tuple[Action, ...], reads: ReadSet, left_open: bool
) -> None:
    assert begun(state, *actions, reads=reads).leaves_version_open is left_open


@pytest.mark.parametrize(
    ("state", "actions", "enables"),
    [
        (PLAIN, (COUNTED, STAMPED_METADATA), True),
        (PLAIN, (commits.metadata(acme="1"),), False),
        (STATE, (STAMPED_METADATA,), False),
    ],
    ids=["switched-on", "another-property", "on-already"],
)
def test_a_change_says_whether_it_switches_timestamps_on(
    state: State, actions: tuple[Action, ...], enables: bool
) -> None:
    assert Change(Operation("WRITE"), actions).enables_in_commit_timestamps(state) is enables


def test_a_table_is_managed_before_the_commit_after_it_or_both() -> None:
    assert begun(PLAIN, COUNTED).is_catalog_managed == {False}
    assert begun(STATE, COUNTED).is_catalog_managed == {True}
    taken_over = begun(PLAIN, commits.MANAGED, STAMPED_METADATA)
    assert taken_over.is_catalog_managed == {False, True}


def test_an_empty_commit_is_proposed_unless_it_is_said_to_be_needless() -> None:
    assert not begun(STATE).is_no_op


def test_a_transaction_says_whether_it_is_stamped() -> None:
    assert begun(STATE, COUNTED).in_commit_timestamps
    assert not begun(PLAIN, COUNTED).in_commit_timestamps


def test_a_table_that_gets_timestamps_goes_on_after_the_time_of_its_last_file() -> None:
    upgraded = protocol_upgrade.with_features(commits.PROTOCOL, ("inCommitTimestamp",))
    change = Change(Operation("SET TBLPROPERTIES"), (upgraded, STAMPED_METADATA))

    txn = transaction.begin(PLAIN, change, world=StillWorld(), file_time=EpochMillis(9_000))

    assert txn.timestamp == 9_001


def test_the_handlers_it_is_given_merge_domains() -> None:
    state = replace(PLAIN, protocol=protocol_upgrade.with_features(commits.PROTOCOL, ("domainMetadata",)))
    mine, theirs = (DomainMetadata(domain="n", configuration=value, removed=False) for value in "12")
    change = Change(Operation("WRITE"), (mine,))
    txn = transaction.begin(
        state, change, world=StillWorld(), handlers=lambda: {"n": lambda base, winner, own: winner}
    )

    moved = txn.rebased_onto([commits.commit(1, theirs)])

    assert moved.commit.domains == (theirs,)


def test_a_change_that_is_about_the_whole_table_is_tried_once() -> None:
    """S258: even if the winner only added a file."""
    once = transaction.begin(STATE, Change(Operation("RESTORE"), (COUNTED,), once=True), world=StillWorld())

    with pytest.raises(ConcurrentWrite, match="run it again") as caught:
        once.rebased_onto([commits.commit(1, commits.add("theirs.parquet"), timestamp=1_500)])

    assert (caught.value.fields["winner"], caught.value.fields["operation"]) == (1, "RESTORE")


def test_the_commit_info_says_what_the_user_says_and_which_tables_it_changes_with() -> None:
    change = Change(Operation("WRITE"), (COUNTED,), user_metadata="by hand")
    txn = transaction.begin(STATE, change, world=StillWorld())
    assert txn.commit.info is not None
    assert (txn.commit.info.user_metadata, txn.commit.info.group_id) == ("by hand", None)

    info = replace(txn, together=GroupMembership("g", ("a", "b"))).commit.info

    assert info is not None
    assert (info.group_id, info.group_tables) == ("g", ("a", "b"))


def test_what_a_change_says_of_its_rows_and_of_what_it_read_counts_in_a_race() -> None:
    work = TouchedRows(InlineRows(selects=False), {}, {})
    change = Change(Operation("DELETE"), (COUNTED,), rows=work, is_strict=True)

    attempt = transaction.begin(STATE, change, world=StillWorld()).attempt

    assert attempt.rows is work
    assert attempt.is_strict
    assert not begun(STATE, COUNTED).attempt.is_strict


@pytest.mark.parametrize(("given", "known"), [(None, "group"), (TxnId("job-42"), "job-42")])
def test_a_part_of_a_group_is_known_by_the_id_it_was_given_or_by_that_of_the_group(
    given: TxnId | None, known: str
) -> None:
    change = Change(Operation("WRITE"), (COUNTED,), txn_id=given)
    txn = transaction.begin(STATE, change, world=StillWorld())

    part = txn.in_group(TxnId("group"), EpochMillis(9_000))

    assert (part.txn_id, part.timestamp, part.change.written_as) == (known, 9_000, "group")
