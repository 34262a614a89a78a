"""The commit loop, told by a committer that answers as the script says."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import pytest

from headgate.catalog.ports.commits import Lost, Open, Outcome, Ratified, Unknown
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConcurrentAppend,
    ConcurrentWrite,
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    RetriesExhausted,
    StorageUnavailable,
)
from headgate.protocol.actions import Commit, TxnId, Version
from headgate.protocol.log import codec, replay
from headgate.protocol.transaction.attempt import BLIND, ReadSet
from headgate.settings import Settings
from headgate.table import transaction
from headgate.table.commit.loop import CommitResult, commit
from headgate.table.committer import Frontier
from headgate.table.transaction import Change, Operation, Transaction
from tests.support import commits
from tests.support.world import StillWorld

STATE = replay.initial_state(
    commits.commit(
        0, commits.MANAGED, commits.metadata(delta_enableInCommitTimestamps="true"), timestamp=1_000
    )
)
Answer = Outcome[Commit] | HeadgateError


class Scripted:
    """Answers proposals and questions from two lists, and remembers what was proposed."""

    def __init__(
        self, *answers: Answer | Callable[[Transaction], Answer], about: tuple[Answer, ...] = ()
    ) -> None:
        self._answers = list(answers)
        self._about = list(about)
        self.proposed: list[Transaction] = []

    def frontier(self, *, known: Version | None = None) -> Frontier:
        raise AssertionError("a commit does not look for the frontier")

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        self.proposed.append(txn)
        answer = self._answers.pop(0)
        return _given(answer(txn) if callable(answer) else answer)

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        return _given(self._about.pop(0))

    def publish(self, told: Frontier | None = None) -> Version:
        raise AssertionError("a commit does not publish")


def _given(answer: Answer) -> Outcome[Commit]:
    if isinstance(answer, HeadgateError):
        raise answer
    return answer


def run(
    committer: Scripted,
    *,
    reads: ReadSet = BLIND,
    settings: Settings | None = None,
    world: StillWorld | None = None,
) -> CommitResult:
    world = world or StillWorld()
    change = Change(Operation("WRITE"), (commits.add("ours.parquet"),), reads)
    txn = transaction.begin(STATE, change, world=world)
    return commit(txn, committer, settings or Settings(), world=world)


def winner(version: int, *, timestamp: int | None = None, txn_id: str = "") -> Commit:
    at = timestamp or 2_000 + version
    return commits.commit(version, commits.add(f"{version}.parquet"), timestamp=at, txn_id=txn_id)


def test_a_ratified_proposal_is_its_version() -> None:
    committer = Scripted(Ratified(Version(1)))

    done = run(committer)

    assert done.version == 1
    assert [found.version for found in done.since_base] == [1]


def test_a_lost_race_is_rebased_behind_all_winners_with_the_same_txn_id() -> None:
    committer = Scripted(Lost((winner(1, timestamp=5_000), winner(2, timestamp=5_001))), Ratified(Version(3)))

    done = run(committer)

    assert [txn.target for txn in committer.proposed] == [1, 3]
    assert len({txn.txn_id for txn in committer.proposed}) == 1
    assert [found.version for found in done.since_base] == [1, 2, 3]
    assert committer.proposed[1].timestamp == 5_002


def test_the_content_proposed_begins_with_its_identity() -> None:
    committer = Scripted(Lost((winner(1, timestamp=5_000),)), Ratified(Version(2)))

    run(committer)

    info = codec.decode_commit_info(Version(2), committer.proposed[1].content)
    assert info is not None
    assert (info.txn_id, info.in_commit_timestamp) == (committer.proposed[1].txn_id, 5_001)
    assert info.is_blind_append is True
    assert info.read_version == 0


def test_a_conflict_ends_the_loop() -> None:
    with pytest.raises(ConcurrentAppend):
        run(Scripted(Lost((winner(1),))), reads=ReadSet(whole_table=True))


def test_every_winner_is_checked_not_only_the_first() -> None:
    harmless, harmful = commits.commit(1, timestamp=2_001), winner(2)

    with pytest.raises(ConcurrentAppend, match="version 2"):
        run(Scripted(Lost((harmless, harmful))), reads=ReadSet(whole_table=True))


def test_an_unanswered_proposal_is_asked_about_before_anything_else() -> None:
    committer = Scripted(Unknown("timeout"), about=(Ratified(Version(1)),))

    assert run(committer).version == 1
    assert len(committer.proposed) == 1


def test_an_open_version_is_proposed_again_unchanged() -> None:
    committer = Scripted(Unknown("timeout"), Ratified(Version(1)), about=(Open(),))

    assert run(committer).version == 1
    assert committer.proposed[0] == committer.proposed[1]


def test_our_own_commit_at_the_lost_version_is_a_success() -> None:
    mine = lambda txn: Lost((replace(txn.commit), winner(2)))  # noqa: E731 — the answer depends on the txnId

    done = run(Scripted(mine))

    assert done.version == 1


def test_our_txn_id_at_a_later_winner_is_reported_and_nothing_is_proposed_again() -> None:
    committer = Scripted(lambda txn: Lost((winner(1), winner(2, txn_id=txn.txn_id))))

    with pytest.raises(CorruptLog, match=r"version 2 has the txnId .*, and it was proposed as version 1"):
        run(committer)

    assert len(committer.proposed) == 1


def test_our_txn_id_at_two_versions_is_reported() -> None:
    twice = lambda txn: Lost((replace(txn.commit), winner(2, txn_id=txn.txn_id)))  # noqa: E731

    with pytest.raises(CorruptLog, match="version 1 has it, too"):
        run(Scripted(twice))


@pytest.mark.parametrize("version", [1, 3])
def test_success_at_a_version_that_was_not_proposed_is_not_claimed(version: int) -> None:
    """Whoever has read something cannot leave the version open; the rebased proposal is for version 2."""
    lost = Lost((commits.commit(1, timestamp=2_001),))
    reads = ReadSet(files=frozenset({"x"}))

    with pytest.raises(CorruptLog, match="it was proposed as version 2"):
        run(Scripted(lost, Ratified(Version(version))), reads=reads)


def test_a_proposal_nobody_answers_for_has_an_unknown_outcome() -> None:
    committer = Scripted(*[Unknown("timeout")] * 10, about=(Unknown("timeout"),) * 10)

    with pytest.raises(CommitUnknown) as caught:
        run(committer)
    assert caught.value.fields["target"] == 1
    assert caught.value.fields["txn_id"] == committer.proposed[0].txn_id


def test_a_refusal_after_an_unanswered_proposal_leaves_the_outcome_unknown() -> None:
    committer = Scripted(Unknown("timeout"), InvalidRequest("no"), about=(Open(),))

    with pytest.raises(CommitUnknown):
        run(committer)


def test_a_refusal_is_final_when_every_earlier_proposal_was_answered() -> None:
    with pytest.raises(InvalidRequest):
        run(Scripted(Lost((winner(1),)), InvalidRequest("no")))


@pytest.mark.parametrize("error", [CatalogUnavailable("down"), StorageUnavailable("down")])
def test_a_failure_before_proposing_is_tried_again_and_then_told_as_it_is(error: HeadgateError) -> None:
    """S063, S064"""
    assert run(Scripted(error, Ratified(Version(1)))).version == 1
    with pytest.raises(type(error)):
        run(Scripted(*[error] * 10))


def test_a_lost_race_starts_the_count_of_failures_anew() -> None:
    """S083: ten in a row end it, and nine are not ten."""
    away = [CatalogUnavailable("down")] * 9

    assert run(Scripted(*away, Lost((winner(1),)), *away, Ratified(Version(2)))).version == 2
    with pytest.raises(CatalogUnavailable):
        run(Scripted(*away, *away[:1], Ratified(Version(1))))


def test_a_failure_after_an_unanswered_proposal_leaves_the_outcome_unknown() -> None:
    down = CatalogUnavailable("down")

    with pytest.raises(CommitUnknown):
        run(Scripted(Unknown("timeout"), *[down] * 9, about=(down,)))


@pytest.mark.parametrize("answer", [Open(), Unknown("timeout")], ids=["open", "unknown"])
def test_a_proposal_is_repeated_as_often_as_the_settings_say(answer: Outcome[Commit]) -> None:
    committer = Scripted(*[answer] * 10, about=(Open(),) * 10)

    with pytest.raises(CommitUnknown):
        run(committer, settings=Settings(max_unanswered=3))

    assert [txn.target for txn in committer.proposed] == [1, 1, 1]


def test_each_version_is_proposed_as_often_as_the_first() -> None:
    committer = Scripted(Open(), Open(), Lost((winner(1),)), *[Open()] * 10)

    with pytest.raises(CommitUnknown):
        run(committer, settings=Settings(max_unanswered=3))

    assert [txn.target for txn in committer.proposed] == [1, 1, 1, 2, 2, 2]


def test_pauses_between_repetitions_double_up_to_a_tenth_of_a_second() -> None:
    world = StillWorld()

    with pytest.raises(CommitUnknown):
        run(Scripted(*[Open()] * 8), settings=Settings(max_unanswered=8), world=world)

    assert world.pauses == [step / 2 for step in (0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.1, 0.1)]


def test_the_first_losses_cost_no_pause() -> None:
    world = StillWorld()
    answers = [Lost((winner(version),)) for version in range(1, 7)]

    run(Scripted(*answers, Ratified(Version(7))), world=world)

    assert world.pauses == [step / 2 for step in (0.002, 0.004)]


def test_losing_too_often_is_proven_failure() -> None:
    committer = Scripted(*[Lost((winner(version),)) for version in range(1, 5)])

    with pytest.raises(RetriesExhausted) as caught:
        run(committer, settings=Settings(max_attempts=3))

    assert len(committer.proposed) == 3
    assert caught.value.fields["winner"] == 3


def test_a_version_given_by_the_catalog_leaves_the_commits_before_it_unknown() -> None:
    assert run(Scripted(Ratified(Version(5)))) == CommitResult(Version(5), ())


def test_nothing_to_say_is_not_proposed_where_it_need_not_be_said() -> None:
    committer = Scripted()
    change = Change(Operation("OPTIMIZE", changes_data=False), (), skip_if_empty=True)
    world = StillWorld()

    done = commit(transaction.begin(STATE, change, world=world), committer, Settings(), world=world)

    assert done == CommitResult(Version(0), ())


def test_a_lost_version_without_a_winner_asks_for_a_fresh_start() -> None:
    """W8"""
    with pytest.raises(ConcurrentWrite, match="newest version"):
        run(Scripted(Lost(())))


@pytest.mark.parametrize("winners", [(winner(2),), (winner(1), winner(3))])
def test_winners_must_run_on_from_the_version_lost(winners: tuple[Commit, ...]) -> None:
    with pytest.raises(CorruptLog):
        run(Scripted(Lost(winners)))


def test_nothing_is_added_to_a_transaction_once_it_is_made() -> None:
    """S197: it is a value, and so is the change it was made of."""
    committer = Scripted(Ratified(Version(1)))
    run(committer)
    (txn,) = committer.proposed
    more = commits.add("more.parquet")

    with pytest.raises(FrozenInstanceError):
        txn.change.actions = (*txn.change.actions, more)  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        txn.attempt.actions = (*txn.attempt.actions, more)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        txn.change.actions.append(more)  # type: ignore[attr-defined]
    assert [add.path for add in txn.commit.adds] == ["ours.parquet"]


def test_a_transaction_given_an_id_keeps_it() -> None:
    change = Change(Operation("WRITE"), (commits.add("a"),), txn_id=TxnId("job-42"))

    assert transaction.begin(STATE, change, world=StillWorld()).txn_id == "job-42"


def test_a_clock_behind_the_table_does_not_turn_time_back() -> None:
    change = Change(Operation("WRITE"), (commits.add("a"),))

    assert transaction.begin(STATE, change, world=StillWorld(5)).timestamp == 1_001


VERSION, MOMENT = "delta_inCommitTimestampEnablementVersion", "delta_inCommitTimestampEnablementTimestamp"
HALVES = [{VERSION: "0"}, {MOMENT: "1"}, {VERSION: "x", MOMENT: "y"}]


@pytest.mark.parametrize("half", HALVES, ids=["version", "moment", "no numbers"])
def test_nothing_is_written_where_timestamps_do_not_say_since_when(half: dict[str, str]) -> None:
    """As Delta Spark does; it reads such a table, and so do we."""
    promised = commits.metadata(delta_enableInCommitTimestamps="true", **half)
    state = replay.initial_state(commits.commit(0, commits.MANAGED, promised, timestamp=1_000))
    append = Change(Operation("WRITE"), (commits.add("ours.parquet"),), BLIND)

    with pytest.raises(CorruptLog, match="does not say since when"):
        transaction.begin(state, append, world=StillWorld())


def test_a_winner_that_says_half_of_since_when_ends_the_attempt() -> None:
    half = commits.metadata(delta_enableInCommitTimestamps="true", **{VERSION: "1"})
    winner = commits.commit(1, half, timestamp=2_000)

    with pytest.raises(CorruptLog, match="does not say since when"):
        run(Scripted(Lost((winner,))))
