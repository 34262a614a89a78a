"""What every catalog owes to who commits to several tables at once: each sentence of ``GroupCatalog``."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import Connection, event

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import InlineCommit, Open, Ratified, StagedCommit, TableId, Unknown
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.groups import (
    GroupCatalog,
    GroupId,
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    StagedCreation,
)
from headgate.clock import SystemWorld
from headgate.errors import (
    CatalogUnavailable,
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    TableExists,
    TableNotFound,
)
from headgate.protocol.actions import Version
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support.catalogs import ALL_KINDS, DATABASE_KINDS, a_catalog, any_catalog
from tests.support.faulty_store import DictStore, PerfectWire
from tests.support.proposals import content, inline, open_version, publish, staged
from tests.support.shared_server import inside
from tests.support.simulated_catalog import RemoteCatalog, SimulatedCatalog
from tests.support.tables import SCHEMA, create_managed
from tests.support.waiting import PATIENCE_SECONDS


@dataclass(frozen=True)
class Case:
    """A catalog with three tables at version 0."""

    catalog: Any  # all its ports
    ids: tuple[TableId, ...]
    stores: tuple[Store, ...]

    @property
    def groups(self) -> GroupCatalog:
        found: GroupCatalog = self.catalog
        return found

    @property
    def latest(self) -> tuple[int, ...]:
        tails = self.groups.tails(self.ids)
        return tuple(tails[table_id].latest for table_id in self.ids)

    def ratify(self, table: int, *txn_ids: str) -> None:
        """Make each transaction the next version of a table, on its own."""
        for txn_id in txn_ids:
            version = self.catalog.tail(self.ids[table]).latest + 1
            done = self.catalog.propose(inline(self.ids[table], version, txn_id))
            assert done == Ratified(Version(version))

    def group(self, name: str, *tables: int, at: int = 1, **others: Any) -> GroupProposal:
        """A commit to each of these tables, called after the group, as version ``at``."""
        proposals = tuple(inline(self.ids[table], at, f"{name}-{table}") for table in tables)
        return GroupProposal(GroupId(name), proposals, **others)


def ratified(case: Case, **versions: int) -> GroupRatified:
    return GroupRatified({case.ids[int(table[1:])]: Version(at) for table, at in versions.items()})


@pytest.fixture(params=[*ALL_KINDS, "simulated"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    if request.param != "simulated":
        with any_catalog(request.param, tmp_path) as catalog:
            yield a_case(catalog)
        return
    simulated, stores = SimulatedCatalog(), (DictStore(), DictStore(), DictStore())
    ids = tuple(TableId(f"t{number}") for number in range(3))
    for table_id, store in zip(ids, stores, strict=True):
        create.write_version_0(store, TableDefinition(SCHEMA), managed=True, world=SystemWorld())
        simulated.add_table(table_id, store)
    yield Case(RemoteCatalog(simulated, PerfectWire()), ids, stores)


@pytest.fixture(params=DATABASE_KINDS)
def real(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    """Over a database: with names, locks and statements that fail."""
    with a_catalog(request.param, tmp_path) as catalog:
        yield a_case(catalog)


def a_case(catalog: LakeCatalog) -> Case:
    made = [create_managed(catalog, TableName("s", f"t{number}")) for number in range(3)]
    made.sort(key=lambda staging: staging.table_id)
    return Case(
        catalog,
        tuple(staging.table_id for staging in made),
        tuple(locate(staging.location) for staging in made),
    )


# --- all or nothing


def test_all_tables_of_a_group_get_their_next_version(case: Case) -> None:
    case.ratify(1, "before")
    group = GroupProposal(
        GroupId("g"), (inline(case.ids[0], 1, "a"), inline(case.ids[1], 2, "b"), inline(case.ids[2], 1, "c"))
    )

    assert case.groups.propose_group(group) == ratified(case, t0=1, t1=2, t2=1)
    assert case.latest == (1, 2, 1)
    assert case.catalog.tail(case.ids[1]).commits[-1].where == InlineCommit(content(2, "b"))


def test_staged_and_inline_commits_go_together(case: Case) -> None:
    large = staged(case.ids[0], 1, "a", case.stores[0])

    answer = case.groups.propose_group(GroupProposal(GroupId("g"), (large, inline(case.ids[1], 1, "b"))))

    assert answer == ratified(case, t0=1, t1=1)
    assert case.catalog.tail(case.ids[0]).commits[0].where == large.content


def test_one_table_that_moved_stops_all_and_its_winners_are_told(case: Case) -> None:
    case.ratify(1, "x", "y")

    answer = case.groups.propose_group(case.group("g", 0, 1, 2))

    assert isinstance(answer, GroupLost)
    assert list(answer.winners) == [case.ids[1]]
    told = [(winner.version, winner.txn_id, winner.where) for winner in answer.winners[case.ids[1]]]
    assert told == [(1, "x", InlineCommit(content(1, "x"))), (2, "y", InlineCommit(content(2, "y")))]
    assert case.latest == (0, 2, 0)


def test_every_table_that_moved_is_named(case: Case) -> None:
    case.ratify(0, "x")
    case.ratify(2, "y")

    answer = case.groups.propose_group(case.group("g", 0, 1, 2))

    assert isinstance(answer, GroupLost)
    assert {table_id: [each.txn_id for each in found] for table_id, found in answer.winners.items()} == {
        case.ids[0]: ["x"], case.ids[2]: ["y"],
    }  # fmt: skip


def test_a_table_that_was_only_read_must_not_have_moved(case: Case) -> None:
    case.ratify(2, "x")

    stale = case.groups.propose_group(case.group("g", 0, read_only={case.ids[2]: Version(0)}))
    fresh = case.groups.propose_group(case.group("h", 0, read_only={case.ids[2]: Version(1)}))

    assert isinstance(stale, GroupLost)
    assert [winner.txn_id for winner in stale.winners[case.ids[2]]] == ["x"]
    assert fresh == ratified(case, t0=1)
    assert case.latest == (1, 0, 1)


def test_blind_appends_get_whatever_version_is_next(case: Case) -> None:
    case.ratify(0, "x", "y")

    group = GroupProposal(
        GroupId("g"), (open_version(case.ids[0], 1, "a"), open_version(case.ids[1], 1, "b"))
    )

    assert case.groups.propose_group(group) == ratified(case, t0=3, t1=1)


def test_a_refused_member_stops_all_and_is_named(case: Case) -> None:
    bad = inline(case.ids[1], 1, "b", data=content(1, "other"))

    with pytest.raises(InvalidRequest, match="txnId"):
        case.groups.propose_group(GroupProposal(GroupId("g"), (inline(case.ids[0], 1, "a"), bad)))

    assert case.latest == (0, 0, 0)


def test_a_member_beyond_the_next_version_stops_all(case: Case) -> None:
    with pytest.raises(InvalidRequest):
        case.groups.propose_group(
            GroupProposal(GroupId("g"), (inline(case.ids[0], 1, "a"), inline(case.ids[1], 5, "b")))
        )

    assert case.latest == (0, 0, 0)


def test_the_error_of_a_member_says_which_table_it_is(real: Case) -> None:
    late = content(1, "b", at=1)

    for bad in (inline(real.ids[1], 7, "b"), inline(real.ids[1], 1, "b", data=late)):
        with pytest.raises(InvalidRequest, match=real.ids[1]) as caught:
            real.groups.propose_group(GroupProposal(GroupId("g"), (inline(real.ids[0], 1, "a"), bad)))
        assert caught.value.fields["table_id"] == real.ids[1]


# --- for ever


def test_a_repeated_group_gets_the_first_answer_for_ever(case: Case) -> None:
    group = case.group("g", 0, 1)
    first = case.groups.propose_group(group)
    case.ratify(0, "x", "y")
    for version, txn_id in enumerate(("g-0", "x", "y"), 1):
        publish(case.stores[0], version, txn_id)
    case.catalog.mark_published(case.ids[0], Version(3))

    rebased = replace(group, proposals=tuple(replace(each, target=Version(9)) for each in group.proposals))
    again = [case.groups.propose_group(each) for each in (group, rebased, group)]

    assert again == [first] * 3 == [ratified(case, t0=1, t1=1)] * 3
    assert case.latest == (3, 1, 0)


def test_a_lost_group_may_come_back_for_later_versions(case: Case) -> None:
    case.ratify(0, "x")
    assert isinstance(case.groups.propose_group(case.group("g", 0, 1)), GroupLost)

    rebased = GroupProposal(GroupId("g"), (inline(case.ids[0], 2, "g-0"), inline(case.ids[1], 1, "g-1")))

    assert case.groups.propose_group(rebased) == ratified(case, t0=2, t1=1)


def test_a_member_that_is_proposed_alone_afterwards_is_the_version_it_got_in_the_group(case: Case) -> None:
    case.groups.propose_group(case.group("g", 0, 1))

    assert case.catalog.propose(inline(case.ids[0], 4, "g-0")) == Ratified(Version(1))
    assert case.latest == (1, 1, 0)


def test_a_transaction_that_was_ratified_alone_is_in_no_group(case: Case) -> None:
    case.ratify(0, "g-0")

    with pytest.raises(CorruptLog, match="without this group"):
        case.groups.propose_group(
            GroupProposal(GroupId("g"), (inline(case.ids[0], 2, "g-0"), inline(case.ids[1], 1, "g-1")))
        )

    assert case.latest == (1, 0, 0)


def test_the_id_of_a_group_is_its_own(real: Case) -> None:
    real.groups.propose_group(real.group("g", 0, 1))

    with pytest.raises(InvalidRequest, match="other tables or transactions"):
        real.groups.propose_group(real.group("g", 0, 2))


def test_a_repeated_group_is_known_when_its_files_and_tables_are_gone(real: Case) -> None:
    large = staged(real.ids[0], 1, "a", real.stores[0])
    group = GroupProposal(GroupId("g"), (large, inline(real.ids[1], 1, "b")))
    first = real.groups.propose_group(group)
    assert isinstance(large.content, StagedCommit)
    real.stores[0].delete(large.content.path)
    for entry in real.catalog.tables():
        real.catalog.drop(entry.name)

    assert real.groups.propose_group(group) == first
    assert real.groups.outcome_of_group(group) == first


@pytest.mark.parametrize(
    "group",
    [
        GroupProposal(GroupId("g")),
        GroupProposal(GroupId("g"), read_only={TableId("a"): Version(0)}),
        GroupProposal(GroupId("g"), (inline(TableId("a"), 1, "x"), inline(TableId("a"), 2, "y"))),
        GroupProposal(GroupId("g"), (inline(TableId("a"), 1, "x"),), read_only={TableId("a"): Version(0)}),
        GroupProposal(GroupId("g"), (inline(TableId("a"), 1, "x"),), drops=(TableId("a"),)),
        GroupProposal(GroupId(""), (inline(TableId("a"), 1, "x"),)),
        GroupProposal(GroupId("g" * 257), (inline(TableId("a"), 1, "x"),)),
        GroupProposal(GroupId("g\0"), (inline(TableId("a"), 1, "x"),)),
    ],
    ids=[
        "nothing",
        "only-reads",
        "twice",
        "read-and-written",
        "dropped-and-written",
        "no-id",
        "long-id",
        "id-that-no-database-keeps",
    ],
)
def test_a_group_that_makes_no_sense_is_refused(real: Case, group: GroupProposal) -> None:
    with pytest.raises(InvalidRequest):
        real.groups.propose_group(group)


def test_a_transaction_is_one_of_one_table_in_a_group_too(real: Case) -> None:
    proposals = tuple(inline(table_id, 1, "same") for table_id in real.ids[:2])

    with pytest.raises(InvalidRequest, match="txnId of its own"):
        real.groups.propose_group(GroupProposal(GroupId("g"), proposals))

    assert real.latest == (0, 0, 0)


# --- answers that were lost


def test_the_outcome_of_a_group_can_be_asked_for(case: Case) -> None:
    done, lost, still = case.group("done", 0, 1), case.group("lost", 1, 2), case.group("open", 2, at=1)
    case.groups.propose_group(done)

    assert case.groups.outcome_of_group(done) == ratified(case, t0=1, t1=1)
    gone = case.groups.outcome_of_group(lost)
    assert isinstance(gone, GroupLost)
    assert {table_id: [each.txn_id for each in found] for table_id, found in gone.winners.items()} == {
        case.ids[1]: ["done-1"]
    }
    assert case.groups.outcome_of_group(still) == Open()


def test_a_group_whose_reads_are_stale_will_never_be_ratified(case: Case) -> None:
    group = case.group("g", 0, read_only={case.ids[1]: Version(0)})
    assert case.groups.outcome_of_group(group) == Open()
    case.ratify(1, "x")

    assert isinstance(case.groups.outcome_of_group(group), GroupLost)


def test_the_same_group_from_two_clients_at_once_happens_once(real: Case) -> None:
    for number in range(10):
        at = number + 1
        group = real.group(f"g{number}", 0, 1, 2, at=at)
        answers = together([partial(real.groups.propose_group, group)] * 4)

        assert answers == [ratified(real, t0=at, t1=at, t2=at)] * 4
    assert real.latest == (10, 10, 10)


# --- crashes


class Died(BaseException):
    """The process is gone, and its connection with it."""


@dataclass
class Statements:
    """Counts the statements on a catalog's database, and dies before one of them."""

    catalog: Catalog
    dies_before: int | None = None
    seen: int = 0

    def __enter__(self) -> "Statements":
        event.listen(self.catalog._database._engine, "before_cursor_execute", self._before)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(self.catalog._database._engine, "before_cursor_execute", self._before)

    def _before(self, connection: Connection, *_: object) -> None:
        self.seen += 1
        if self.seen == self.dies_before:
            connection.connection.dbapi_connection.close()  # type: ignore[union-attr]  # without a rollback
            raise Died


def mixed(case: Case, number: int) -> GroupProposal:
    """A group of everything there is: commits, a table that was read, one that is made, one that goes."""
    staging = case.catalog.stage(TableName("s", f"new{number}"))
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    gone = create_managed(case.catalog, TableName("s", f"old{number}"))
    base = case.latest
    return GroupProposal(
        GroupId(f"g{number}"),
        (
            inline(case.ids[0], base[0] + 1, f"a{number}"),
            inline(case.ids[1], base[1] + 1, f"b{number}"),
            inline(staging.table_id, 1, f"n{number}"),
        ),
        read_only={case.ids[2]: Version(base[2])},
        creations=(StagedCreation(staging, TableName("s", f"new{number}")),),
        drops=(gone.table_id,),
    )


def happened(case: Case, group: GroupProposal, before: tuple[int, ...], number: int) -> set[bool]:
    """For each part of the group, whether it can be seen."""
    names = {entry.name.table for entry in case.catalog.tables()}
    parts = {
        case.latest[0] == before[0] + 1,
        case.latest[1] == before[1] + 1,
        f"new{number}" in names,
        f"old{number}" not in names,
        isinstance(case.groups.outcome_of_group(group), GroupRatified),
    }
    if f"new{number}" in names:
        parts.add(
            case.catalog.tail(case.catalog.resolve(TableName("s", f"new{number}")).table_id).latest == 1
        )
    return parts


def test_a_crash_before_any_statement_leaves_nothing_of_the_group(real: Case) -> None:
    """I19: the group is all there or not at all, wherever its ratification stops."""
    group, before = mixed(real, 0), real.latest
    for number in count(1):
        # Through a server the client would ask again at once, and be answered.
        with Statements(real.catalog, dies_before=number) as dying, suppress(Died):
            inside(real.catalog).propose_group(group)
            break
        assert dying.seen >= number
        assert happened(real, group, before, 0) == {False}

    assert number > 10
    assert happened(real, group, before, 0) == {True}


def test_a_database_that_fails_before_it_commits_has_changed_nothing(real: Case) -> None:
    group, before = mixed(real, 0), real.latest

    with failing(real.catalog, after=False):
        answer = outcome(lambda: real.groups.propose_group(group))

    assert isinstance(answer, CatalogUnavailable)
    assert happened(real, group, before, 0) == {False}


def test_a_database_that_fails_while_it_commits_is_an_unknown_outcome(real: Case) -> None:
    group, before = mixed(real, 0), real.latest

    with failing(real.catalog, after=True):
        answer = outcome(lambda: real.groups.propose_group(group))

    assert isinstance(answer, Unknown)
    assert happened(real, group, before, 0) == {True}
    assert real.groups.outcome_of_group(group) == real.groups.propose_group(group)


def outcome(propose: Callable[[], object]) -> object:
    try:
        return propose()
    except HeadgateError as exc:
        return exc


@contextmanager
def failing(catalog: Catalog, *, after: bool) -> Iterator[None]:
    """The connection breaks when a group is written down, or after its commit but before the answer."""
    engine = catalog._database._engine
    commit, lost = engine.dialect.do_commit, engine.dialect.loaded_dbapi.OperationalError
    written: list[int] = []

    def before(connection: Connection, cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO group_members"):
            written.append(1)
            if not after:
                raise lost("the connection is lost")

    def broken(connection: Any) -> None:
        commit(connection)
        if written:
            raise lost("the connection is lost")

    event.listen(engine, "before_cursor_execute", before)
    with patch.object(engine.dialect, "do_commit", broken):
        yield
    event.remove(engine, "before_cursor_execute", before)


# --- tables that come and go


def staging_of(case: Case, name: str) -> StagingTable:
    staging: StagingTable = case.catalog.stage(TableName("s", name))
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    return staging


def test_a_table_is_made_and_written_with_the_commits_of_others(real: Case) -> None:
    staging = staging_of(real, "new")
    group = GroupProposal(
        GroupId("g"),
        (staged(staging.table_id, 1, "n", locate(staging.location)), inline(real.ids[0], 1, "a")),
        creations=(StagedCreation(staging, TableName("s", "new")),),
    )

    answer = real.groups.propose_group(group)

    assert answer == GroupRatified({staging.table_id: Version(1), real.ids[0]: Version(1)})
    assert real.catalog.resolve(TableName("s", "new")).table_id == staging.table_id


def test_a_name_that_is_taken_stops_all(real: Case) -> None:
    staging = staging_of(real, "new")
    create_managed(real.catalog, TableName("s", "new"))
    creation = StagedCreation(staging, TableName("s", "new"))

    with pytest.raises(TableExists):
        real.groups.propose_group(real.group("g", 0, creations=(creation,)))

    assert real.latest == (0, 0, 0)


def test_a_table_is_put_in_place_of_another_at_once(real: Case) -> None:
    old, spare = real.catalog.resolve(TableName("s", "t0")), staging_of(real, "spare")
    group = GroupProposal(
        GroupId("g"), creations=(StagedCreation(spare, TableName("s", "t0")),), drops=(old.table_id,)
    )

    answer = real.groups.propose_group(group)

    assert answer == GroupRatified({spare.table_id: Version(0)})
    assert real.catalog.resolve(TableName("s", "t0")).table_id == spare.table_id
    assert real.groups.propose_group(group) == answer


def test_a_table_that_was_dropped_by_others_stops_all(real: Case) -> None:
    gone = real.catalog.resolve(TableName("s", "t2"))
    real.catalog.drop(gone.name)
    others = [table_id for table_id in real.ids if table_id != gone.table_id]

    for group in (
        GroupProposal(GroupId("g"), (inline(others[0], 1, "a"), inline(gone.table_id, 1, "b"))),
        GroupProposal(GroupId("h"), (inline(others[0], 1, "a"),), read_only={gone.table_id: Version(0)}),
        GroupProposal(GroupId("i"), (inline(others[0], 1, "a"),), drops=(gone.table_id,)),
    ):
        with pytest.raises(TableNotFound):
            real.groups.propose_group(group)

    assert real.catalog.tail(others[0]).latest == 0


# --- at the same time


def together(calls: list[Callable[[], object]]) -> list[object]:
    """What the calls give, made by as many threads at once."""
    ready = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        ready.wait(PATIENCE_SECONDS)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result(PATIENCE_SECONDS) for done in [pool.submit(run, call) for call in calls]]


def test_groups_in_opposite_orders_never_block_each_other(case: Case) -> None:
    rounds = 12

    def work(name: str, tables: tuple[int, ...], reads: tuple[int, ...]) -> list[str]:
        won = []
        for number in range(rounds):
            for attempt in count():
                latest = case.groups.tails(case.ids)
                proposals = tuple(
                    inline(
                        case.ids[table],
                        latest[case.ids[table]].latest + 1,
                        f"{name}{number}.{attempt}-{table}",
                    )
                    for table in tables
                )
                seen = {case.ids[table]: latest[case.ids[table]].latest for table in reads}
                answer = case.groups.propose_group(
                    GroupProposal(GroupId(f"{name}{number}.{attempt}"), proposals, read_only=seen)
                )
                if isinstance(answer, GroupRatified):
                    won.append(f"{name}{number}.{attempt}")
                    break
        return won

    jobs = [("a", (0, 1), (2,)), ("b", (1, 0), ()), ("c", (2, 1, 0), ()), ("d", (2,), (1, 0))]
    wins = together([partial(work, *job) for job in jobs])

    assert [len(won) for won in wins if isinstance(won, list)] == [rounds] * len(jobs)
    assert case.latest == (3 * rounds, 3 * rounds, 2 * rounds)


def test_of_two_groups_that_read_what_the_other_writes_one_loses(real: Case) -> None:
    """I11: no write skew."""
    for number in range(10):
        at = number + 1
        if number:  # bring the loser's table to the same version
            for table in (0, 1):
                if real.latest[table] < number:
                    real.ratify(table, f"even-{number}")
        one = real.group(f"one{number}", 0, at=at, read_only={real.ids[1]: Version(number)})
        two = real.group(f"two{number}", 1, at=at, read_only={real.ids[0]: Version(number)})

        answers = together([partial(real.groups.propose_group, group) for group in (one, two)])

        assert sorted(type(answer).__name__ for answer in answers) == ["GroupLost", "GroupRatified"]


def test_tails_show_a_group_in_all_its_tables_or_in_none(case: Case) -> None:
    """I19: every cut holds all of a group, while groups commit at full speed."""
    done = threading.Event()

    def commit() -> None:
        for number in range(60):
            case.groups.propose_group(case.group(f"g{number}", 0, 1, 2, at=number + 1))
        done.set()

    def read() -> int:
        cuts = 0
        while not done.is_set():
            tails = case.groups.tails(reversed(case.ids))
            assert len({tail.latest for tail in tails.values()}) == 1
            assert len({tail.commits[-1].txn_id[:-2] for tail in tails.values() if tail.commits}) <= 1
            cuts += 1
        return cuts

    answers = together([commit, read, read])

    assert sum(answer for answer in answers if isinstance(answer, int)) > 5
    assert case.latest == (60, 60, 60)


def test_a_cut_of_an_unknown_table_is_refused(case: Case) -> None:
    with pytest.raises(TableNotFound):
        case.groups.tails([case.ids[0], TableId("nobody")])


def test_single_commits_and_groups_share_one_order(case: Case) -> None:
    """A single commit to a table of a group comes before or after the group, never between its parts."""

    def singles() -> None:
        for number in range(20):
            proposal = open_version(case.ids[0], 1, f"single-{number}")
            assert isinstance(case.catalog.propose(proposal), Ratified)

    def groups() -> list[GroupOutcome[Any]]:
        return [
            case.groups.propose_group(
                GroupProposal(
                    GroupId(f"g{number}"),
                    (
                        open_version(case.ids[0], 1, f"g{number}-0"),
                        open_version(case.ids[1], 1, f"g{number}-1"),
                    ),
                )
            )
            for number in range(20)
        ]

    _, answers = together([singles, groups])

    assert isinstance(answers, list)
    assert [answer.versions[case.ids[1]] for answer in answers] == list(range(1, 21))
    assert case.latest == (40, 20, 0)
