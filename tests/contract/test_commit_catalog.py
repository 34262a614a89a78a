"""What every catalog owes: each sentence of the port ``CommitCatalog``, asked of every implementation."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from headgate.catalog.ports.commits import (
    CommitCatalog,
    InlineCommit,
    Lost,
    Open,
    Proposal,
    Ratified,
    StagedCommit,
    TableId,
    Tail,
)
from headgate.clock import SystemWorld
from headgate.errors import CorruptLog, InvalidRequest, TableNotFound
from headgate.protocol.actions import CommitInfo, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.catalogs import ALL_KINDS, any_catalog
from tests.support.faulty_store import DictStore, PerfectWire
from tests.support.proposals import altered, content, inline, open_version, publish, staged, stamp
from tests.support.simulated_catalog import RemoteCatalog, SimulatedCatalog
from tests.support.tables import SCHEMA, create_managed

UUID = "123e4567-e89b-12d3-a456-426614174000"


@dataclass(frozen=True)
class Case:
    """A catalog with one table at version 0."""

    catalog: CommitCatalog
    table_id: TableId
    store: Store

    @property
    def tail(self) -> Tail:
        return self.catalog.tail(self.table_id)

    def ratify(self, *txn_ids: str) -> None:
        """Make each transaction the next version."""
        for txn_id in txn_ids:
            version = self.tail.latest + 1
            assert self.catalog.propose(inline(self.table_id, version, txn_id)) == Ratified(Version(version))

    def publish(self, *txn_ids: str) -> None:
        """Publish versions 1 and following, and say so."""
        for version, txn_id in enumerate(txn_ids, 1):
            publish(self.store, version, txn_id)
        self.catalog.mark_published(self.table_id, Version(len(txn_ids)))


@pytest.fixture(params=[*ALL_KINDS, "simulated"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    if request.param != "simulated":
        with any_catalog(request.param, tmp_path) as catalog:
            staging = create_managed(catalog)
            yield Case(catalog, staging.table_id, locate(staging.location))
        return
    store, simulated = DictStore(), SimulatedCatalog()
    create.write_version_0(store, TableDefinition(SCHEMA), managed=True, world=SystemWorld())
    simulated.add_table(TableId("t"), store)
    yield Case(RemoteCatalog(simulated, PerfectWire()), TableId("t"), store)


def test_a_new_table_is_at_version_0_and_published(case: Case) -> None:
    """S043"""
    assert case.tail == Tail(Version(0), Version(0), ())


def test_what_is_told_of_the_table_is_what_its_latest_version_says(case: Case) -> None:
    """S040: a catalog may tell nothing, but nothing else."""
    first = codec.decode(Version(0), case.store.read(file_names.published_path(Version(0))))
    renewed = altered(case.store, acme="1")
    info = CommitInfo(in_commit_timestamp=stamp(1), txn_id=TxnId("a"))

    before = case.tail.description
    case.catalog.propose(inline(case.table_id, 1, "a", data=codec.encode((info, renewed))))
    after = case.tail.description

    assert before is None or (before.protocol, before.metadata) == (first.protocol, first.metadata)
    assert after is None or (after.protocol, after.metadata) == (first.protocol, renewed)


def test_the_next_version_is_ratified(case: Case) -> None:
    """S057"""
    answer = case.catalog.propose(inline(case.table_id, 1, "a"))

    assert answer == Ratified(Version(1))
    (commit,) = case.tail.commits
    assert (commit.version, commit.txn_id, commit.in_commit_timestamp) == (1, "a", stamp(1))
    assert commit.where == InlineCommit(content(1, "a"))


def test_a_staged_commit_is_ratified_by_name(case: Case) -> None:
    proposal = staged(case.table_id, 1, "a", case.store)

    assert case.catalog.propose(proposal) == Ratified(Version(1))
    assert case.tail.commits[0].where == proposal.content


def test_a_repeated_proposal_gets_the_first_answer_for_ever(case: Case) -> None:
    case.ratify("a", "b", "c")

    for target in (1, 2, 4, 1):
        assert case.catalog.propose(inline(case.table_id, target, "a")) == Ratified(Version(1))

    assert case.tail.latest == 3


def test_a_repeated_proposal_gets_the_first_answer_after_publishing_too(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a", "b")

    assert case.catalog.propose(inline(case.table_id, 1, "a")) == Ratified(Version(1))
    assert case.catalog.propose(inline(case.table_id, 3, "a")) == Ratified(Version(1))
    assert case.tail == Tail(Version(2), Version(2), ())


def test_a_repeated_proposal_keeps_the_content_of_the_first(case: Case) -> None:
    case.ratify("a")

    case.catalog.propose(inline(case.table_id, 1, "a", data=content(1, "a", at=stamp(9))))

    assert case.tail.commits[0].where == InlineCommit(content(1, "a"))


def test_the_loser_gets_every_winner_up_to_the_latest(case: Case) -> None:
    """S058: losing is an answer, with everything needed to try again."""
    case.ratify("a", "b", "c", "d")

    answer = case.catalog.propose(inline(case.table_id, 2, "late"))

    assert isinstance(answer, Lost)
    assert [(winner.version, winner.txn_id) for winner in answer.winners] == [(2, "b"), (3, "c"), (4, "d")]
    assert [winner.where for winner in answer.winners] == [
        InlineCommit(content(2, "b")), InlineCommit(content(3, "c")), InlineCommit(content(4, "d")),
    ]  # fmt: skip
    assert case.tail.latest == 4


def test_winners_that_are_published_are_named_without_content(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a")

    answer = case.catalog.propose(inline(case.table_id, 1, "late"))

    assert isinstance(answer, Lost)
    assert [winner.where for winner in answer.winners] == [None, InlineCommit(content(2, "b"))]


def test_a_version_beyond_the_next_is_refused_and_changes_nothing(case: Case) -> None:
    """S059, S060"""
    case.ratify("a")
    before = case.tail

    with pytest.raises(InvalidRequest):
        case.catalog.propose(inline(case.table_id, 3, "b"))

    assert case.tail == before
    assert case.catalog.propose(inline(case.table_id, 2, "b")) == Ratified(Version(2))


_BAD_CONTENT = {
    "no-commit-info": lambda: codec.encode((CommitInfo(txn_id=TxnId("b")),)).replace(b"commitInfo", b"other"),
    "no-txn-id": lambda: codec.encode((CommitInfo(in_commit_timestamp=stamp(2)),)),
    "another-txn-id": lambda: content(2, "somebody-else"),
    "no-timestamp": lambda: codec.encode((CommitInfo(txn_id=TxnId("b")),)),
    "the-same-timestamp": lambda: content(2, "b", at=stamp(1)),
    "an-earlier-timestamp": lambda: content(2, "b", at=1),
    "no-json": lambda: b"not json\n",
    "nothing": lambda: b"\n",
}


@pytest.mark.parametrize("data", _BAD_CONTENT.values(), ids=_BAD_CONTENT.keys())
def test_malformed_content_is_refused_and_changes_nothing(case: Case, data: Callable[[], bytes]) -> None:
    """S055"""
    case.ratify("a")
    before = case.tail

    with pytest.raises(InvalidRequest):
        case.catalog.propose(inline(case.table_id, 2, "b", data=data()))

    assert case.tail == before
    assert case.catalog.outcome_of(case.table_id, TxnId("b"), Version(2)) == Open()


@pytest.mark.parametrize(
    "file_name",
    [
        "",
        "..",
        f"../{1:020d}.{UUID}.json",
        f"/etc/{1:020d}.{UUID}.json",
        f"a/{1:020d}.{UUID}.json",
        f"..\\{1:020d}.{UUID}.json",
        f"%2e%2e%2f{1:020d}.{UUID}.json",
        f"{1:020d}.{UUID}.json\0",
        f"{1:020d}.{UUID}.json\n",
        f"{1:020d}.{UUID.upper()}.json",
        f"{1:020d}.json",
        f"1.{UUID}.json",
        f"{2:020d}.{UUID}.json",
        f"{0:020d}.{UUID}.json",
        f"{1:020d}.not-a-uuid.json",
        f"{'１':0>20}.{UUID}.json",
    ],
)
def test_a_staged_file_must_be_named_after_its_version(case: Case, file_name: str) -> None:
    """T1 and T2: the name is all the client says about a place, so it must say nothing else."""
    proposal = Proposal(case.table_id, Version(1), TxnId("a"), StagedCommit(file_name))

    with pytest.raises(InvalidRequest, match=r"is not the name of a staged commit|has the character NUL"):
        case.catalog.propose(proposal)

    assert case.tail.latest == 0


def test_a_staged_file_must_exist(case: Case) -> None:
    missing = StagedCommit(file_names.staged_file_name(Version(1), UUID))

    with pytest.raises(InvalidRequest, match="does not exist"):
        case.catalog.propose(Proposal(case.table_id, Version(1), TxnId("a"), missing))

    assert case.tail.latest == 0


def test_the_outcome_of_a_ratified_proposal_is_its_version_whatever_its_target(case: Case) -> None:
    case.ratify("a", "b")
    case.publish("a")

    for target in (1, 2, 3):
        assert case.catalog.outcome_of(case.table_id, TxnId("a"), Version(target)) == Ratified(Version(1))


def test_the_outcome_of_a_proposal_for_a_free_version_is_open(case: Case) -> None:
    assert case.catalog.outcome_of(case.table_id, TxnId("b"), Version(1)) == Open()


def test_the_outcome_of_a_proposal_for_a_taken_version_is_lost_with_all_winners(case: Case) -> None:
    case.ratify("a", "b")

    answer = case.catalog.outcome_of(case.table_id, TxnId("c"), Version(1))

    assert isinstance(answer, Lost)
    assert [(winner.version, winner.where) for winner in answer.winners] == [
        (1, InlineCommit(content(1, "a"))), (2, InlineCommit(content(2, "b"))),
    ]  # fmt: skip


def test_the_tail_has_what_is_not_published(case: Case) -> None:
    """S061: from the published version on; the latest, always."""
    case.ratify("a", "b", "c")
    case.publish("a", "b")

    assert (case.tail.latest, case.tail.published) == (3, 2)
    assert [commit.version for commit in case.tail.commits] == [3]


def test_publishing_is_monotone_and_idempotent(case: Case) -> None:
    """S080: the latest stays known when nothing is held any more."""
    case.ratify("a", "b")
    case.publish("a", "b")

    for version in (2, 1, 0):
        case.catalog.mark_published(case.table_id, Version(version))

    assert case.tail == Tail(Version(2), Version(2), ())


def test_a_version_that_is_not_there_cannot_be_marked_as_published(case: Case) -> None:
    """S078"""
    case.ratify("a", "b")
    publish(case.store, 2, "b")
    before = case.tail

    with pytest.raises(InvalidRequest):
        case.catalog.mark_published(case.table_id, Version(2))

    assert case.tail == before


def test_a_published_file_that_differs_is_not_believed(case: Case) -> None:
    case.ratify("a")
    publish(case.store, 1, "forged")
    before = case.tail

    with pytest.raises(CorruptLog):
        case.catalog.mark_published(case.table_id, Version(1))

    assert case.tail == before


def test_a_version_that_is_not_ratified_cannot_be_marked_as_published(case: Case) -> None:
    """S078"""
    case.ratify("a")
    publish(case.store, 1, "a")
    publish(case.store, 2, "b")

    with pytest.raises(InvalidRequest):
        case.catalog.mark_published(case.table_id, Version(2))

    assert case.tail.published == 0


def test_an_unknown_table_is_not_found(case: Case) -> None:
    nobody = TableId("nobody")

    for call in (
        lambda: case.catalog.propose(inline(nobody, 1, "a")),
        lambda: case.catalog.outcome_of(nobody, TxnId("a"), Version(1)),
        lambda: case.catalog.tail(nobody),
        lambda: case.catalog.mark_published(nobody, Version(0)),
    ):
        with pytest.raises(TableNotFound):
            call()


def test_of_eight_who_propose_a_version_exactly_one_gets_it(case: Case) -> None:
    barrier = threading.Barrier(8)

    def race(number: int) -> object:
        barrier.wait()
        return case.catalog.propose(inline(case.table_id, 1, f"txn{number}"))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(race, range(8)))

    winners = [number for number, answer in enumerate(answers) if answer == Ratified(Version(1))]
    assert len(winners) == 1
    assert [commit.txn_id for commit in case.tail.commits] == [f"txn{winners[0]}"]
    assert sum(isinstance(answer, Lost) for answer in answers) == 7


def test_proposals_of_many_threads_get_the_versions_they_are_told(case: Case) -> None:
    """Those that wait at the same moment may be ratified together; nobody must notice."""
    barrier = threading.Barrier(8)

    def work(number: int) -> dict[str, object]:
        barrier.wait()
        txn_ids = [f"txn{number}-{count}" for count in range(6)]
        return {txn: case.catalog.propose(open_version(case.table_id, 1, txn)) for txn in txn_ids}

    with ThreadPoolExecutor(8) as pool:
        told = {txn: answer for answers in pool.map(work, range(8)) for txn, answer in answers.items()}

    commits = case.tail.commits
    assert [commit.version for commit in commits] == list(range(1, 49))
    assert {str(commit.txn_id): Ratified(commit.version) for commit in commits} == told
    stamps = [commit.in_commit_timestamp for commit in commits]
    assert stamps == sorted(set(stamps))


def test_the_same_transaction_proposed_by_many_threads_is_one_commit(case: Case) -> None:
    """A repetition that overtakes nothing: all are told the one version, whoever decided first."""
    for round_number in range(1, 6):
        proposal = inline(case.table_id, round_number, f"txn{round_number}")
        barrier = threading.Barrier(6)

        def race(_: int, barrier: threading.Barrier = barrier, proposal: Proposal = proposal) -> object:
            barrier.wait()
            return case.catalog.propose(proposal)

        with ThreadPoolExecutor(6) as pool:
            assert set(pool.map(race, range(6))) == {Ratified(Version(round_number))}
    assert case.tail.latest == 5


# --- the version left open


def test_an_open_version_becomes_the_next_one_however_late_it_comes(case: Case) -> None:
    case.ratify("a", "b", "c")

    assert case.catalog.propose(open_version(case.table_id, 1, "late")) == Ratified(Version(4))
    assert case.tail.latest == 4


def test_a_commit_with_an_assigned_version_is_stamped_after_the_latest_and_else_unchanged(case: Case) -> None:
    case.ratify("a", "b")
    early = content(1, "late", at=stamp(1) - 100)

    case.catalog.propose(open_version(case.table_id, 1, "late", data=early))

    held = case.tail.commits[-1]
    assert held.in_commit_timestamp == stamp(2) + 1
    assert isinstance(held.where, InlineCommit)
    served = codec.decode(Version(3), held.where.content)
    assert served.info == CommitInfo(in_commit_timestamp=held.in_commit_timestamp, txn_id=TxnId("late"))
    assert served.adds == codec.decode(Version(1), early).adds


def test_an_open_version_that_is_the_next_one_is_ratified_as_it_is(case: Case) -> None:
    case.catalog.propose(open_version(case.table_id, 1, "a"))

    assert case.tail.commits[-1].where == InlineCommit(content(1, "a"))


def test_a_repeated_proposal_of_an_open_version_is_the_same_commit(case: Case) -> None:
    case.ratify("a")
    case.catalog.propose(open_version(case.table_id, 1, "late"))
    case.ratify("b")

    for target in (1, 2, 4):
        assert case.catalog.propose(open_version(case.table_id, target, "late")) == Ratified(Version(2))
    assert case.tail.latest == 3


def test_an_open_version_is_lost_once_the_table_itself_was_changed(case: Case) -> None:
    case.ratify("a")
    info = CommitInfo(in_commit_timestamp=stamp(2), txn_id=TxnId("ddl"))
    case.catalog.propose(inline(case.table_id, 2, "ddl", data=codec.encode((info, altered(case.store)))))
    case.ratify("c")

    for target in (1, 2):
        answer = case.catalog.propose(open_version(case.table_id, target, "late"))
        assert isinstance(answer, Lost)
        assert [winner.version for winner in answer.winners] == list(range(target, 4))
        late = TxnId("late")
        assert isinstance(
            case.catalog.outcome_of(case.table_id, late, Version(target), any_version=True), Lost
        )
    assert case.catalog.propose(open_version(case.table_id, 3, "late")) == Ratified(Version(4))


def test_the_outcome_of_an_open_version_is_open_as_long_as_it_may_be_ratified(case: Case) -> None:
    case.ratify("a", "b")

    late = TxnId("late")
    assert case.catalog.outcome_of(case.table_id, late, Version(1), any_version=True) == Open()
    assert isinstance(case.catalog.outcome_of(case.table_id, late, Version(1)), Lost)


@pytest.mark.parametrize(
    "extra",
    ['{"remove":{"path":"x","dataChange":true}}', '{"txn":{"appId":"a","version":1}}'],
)
def test_only_a_commit_that_adds_files_may_leave_its_version_open(case: Case, extra: str) -> None:
    data = content(1, "a") + extra.encode() + b"\n"

    with pytest.raises(InvalidRequest, match="leave its version open"):
        case.catalog.propose(open_version(case.table_id, 1, "a", data=data))
    assert case.tail.latest == 0


def test_a_staged_commit_cannot_leave_its_version_open(case: Case) -> None:
    with pytest.raises(InvalidRequest, match="leave its version open"):
        case.catalog.propose(replace(staged(case.table_id, 1, "a", case.store), any_version=True))
