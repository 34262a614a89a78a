"""The loop for commits to several tables, told by a catalog that answers as the script says."""

import pytest

from headgate.catalog.ports.commits import InlineCommit, Open, RatifiedCommit, TableId, Tail, Unknown
from headgate.catalog.ports.groups import GroupId, GroupLost, GroupOutcome, GroupProposal, GroupRatified
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConcurrentWrite,
    CorruptLog,
    GroupConflict,
    HeadgateError,
    InvalidRequest,
    RetriesExhausted,
    TableNotFound,
)
from headgate.protocol.actions import Version
from headgate.protocol.log import codec, replay
from headgate.settings import Settings
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.multi.loop import GroupMember, GroupTransaction, commit_group
from headgate.table.transaction import Change, Operation, begin
from tests.support import commits
from tests.support.faulty_store import DictStore
from tests.support.proposals import stamp
from tests.support.simulated_catalog import SimulatedCatalog
from tests.support.world import StillWorld

Answer = GroupOutcome[RatifiedCommit] | HeadgateError


class Scripted:
    """Answers groups and questions from two lists, and remembers what was proposed."""

    def __init__(self, *answers: Answer, about: tuple[Answer, ...] = ()) -> None:
        self._answers = list(answers)
        self._about = list(about)
        self.proposed: list[GroupProposal] = []

    def propose_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        self.proposed.append(group)
        return _given(self._answers.pop(0))

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        return _given(self._about.pop(0))

    def tails(self, table_ids: object) -> dict[TableId, Tail]:
        raise AssertionError("a commit does not ask for tails")


def _given(answer: Answer) -> GroupOutcome[RatifiedCommit]:
    if isinstance(answer, HeadgateError):
        raise answer
    return answer


ONE, TWO = TableId("1"), TableId("2")
STATE = replay.initial_state(
    commits.commit(
        0, commits.MANAGED, commits.metadata(delta_enableInCommitTimestamps="true"), timestamp=1_000
    )
)
DONE = GroupRatified({ONE: Version(1), TWO: Version(1)})


def run(catalog: Scripted, *, limits: Settings | None = None) -> dict[TableId, int]:
    world = StillWorld()
    members = []
    for table_id in (ONE, TWO):
        route = ManagedCommitter(
            DictStore(), SimulatedCatalog(), table_id, world=world, inline_limit_bytes=1_000_000
        )
        change = Change(Operation("WRITE"), (commits.add("ours.parquet"),))
        members.append(GroupMember(f"s.{table_id}", table_id, route, begin(STATE, change, world=world)))
    asked = GroupTransaction(GroupId("g"), tuple(members))
    done = commit_group(asked, catalog, limits or Settings(), world=world)
    return {table_id: known.version for table_id, known in done.items()}


def lost_to(table_id: TableId, version: int, *, txn_id: str = "") -> GroupLost[RatifiedCommit]:
    winner = commits.commit(version, commits.add("theirs.parquet"), timestamp=3_000 + version, txn_id=txn_id)
    info = winner.info
    assert info is not None
    assert info.txn_id is not None
    content = InlineCommit(codec.encode((info, *winner.adds)))
    return GroupLost({table_id: (RatifiedCommit(winner.version, info.txn_id, stamp(version), content),)})


def test_the_loop_ends_when_the_group_is_ratified() -> None:
    assert run(Scripted(DONE)) == {ONE: 1, TWO: 1}


def test_only_who_lost_moves_and_everyone_keeps_their_ids() -> None:
    catalog = Scripted(lost_to(TWO, 1), GroupRatified({ONE: Version(1), TWO: Version(2)}))

    assert run(catalog) == {ONE: 1, TWO: 2}
    first, second = catalog.proposed
    assert [each.target for each in first.proposals] == [1, 1]
    assert [each.target for each in second.proposals] == [1, 2]
    assert [each.txn_id for each in first.proposals] == [each.txn_id for each in second.proposals]
    assert first.group_id == second.group_id


def test_a_member_that_others_committed_alone_is_reported_and_not_committed_again() -> None:
    ours = StillWorld().uuid()
    catalog = Scripted(Unknown("lost"), about=(lost_to(ONE, 1, txn_id=ours),))

    with pytest.raises(CorruptLog, match="has not ratified that one"):
        run(catalog)

    assert len(catalog.proposed) == 1


def test_an_unanswered_group_that_was_ratified_is_found() -> None:
    assert run(Scripted(Unknown("lost"), about=(DONE,))) == {ONE: 1, TWO: 1}


def test_an_unanswered_group_that_is_open_is_proposed_again_as_it_was() -> None:
    catalog = Scripted(Unknown("lost"), DONE, about=(Open(),))

    run(catalog)

    assert catalog.proposed[0] is catalog.proposed[1]


def test_an_unanswered_group_that_is_lost_is_rebased() -> None:
    catalog = Scripted(Unknown("lost"), DONE, about=(lost_to(ONE, 1),))

    run(catalog)

    assert [each.target for each in catalog.proposed[1].proposals] == [2, 1]


def test_without_any_answer_the_fate_is_unknown() -> None:
    limits = Settings(max_unanswered=3)
    catalog = Scripted(*[Unknown("lost")] * 3, about=(Unknown("lost"), CatalogUnavailable("away"), Open()))

    with pytest.raises(CommitUnknown, match=r"s\.1 version 1, s\.2 version 1"):
        run(catalog, limits=limits)


def test_a_refusal_after_an_unanswered_proposal_proves_nothing() -> None:
    with pytest.raises(CommitUnknown):
        run(Scripted(Unknown("lost"), InvalidRequest("no"), about=(Open(),)))


def test_a_catalog_that_was_never_reached_is_unavailable() -> None:
    with pytest.raises(CatalogUnavailable):
        run(Scripted(*[CatalogUnavailable("away")] * 2), limits=Settings(max_unanswered=2))


def test_a_refusal_is_told_as_it_is() -> None:
    with pytest.raises(TableNotFound):
        run(Scripted(TableNotFound("gone", name="s.1")))


def test_losing_too_often_gives_up() -> None:
    with pytest.raises(RetriesExhausted, match=r"s\.1"):
        run(Scripted(*(lost_to(ONE, at) for at in (1, 2))), limits=Settings(max_attempts=2))


def test_a_loss_without_winners_cannot_be_followed() -> None:
    with pytest.raises(GroupConflict) as caught:
        run(Scripted(GroupLost({ONE: ()})))

    assert isinstance(caught.value.fields["conflicts"]["s.1"], ConcurrentWrite)  # type: ignore[index]


def test_a_refusal_of_one_table_says_its_name() -> None:
    with pytest.raises(InvalidRequest, match=r"table s\.2: no") as caught:
        run(Scripted(InvalidRequest("table 2: no", table_id=TWO)))

    assert caught.value.fields["table"] == "s.2"
