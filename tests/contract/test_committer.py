"""What every commit route owes: each sentence of the port ``Committer``, asked of every route."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import Lost, Open, Ratified
from headgate.catalog.ports.coordinator import CommitCoordinator
from headgate.clock import SystemWorld
from headgate.errors import TableNotFound
from headgate.plugins.coordinators import in_memory
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.protocol.transaction.attempt import ReadSet
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table import transaction
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.commit.filesystem import FilesystemCommitter
from headgate.table.committer import Committer
from headgate.table.opened_table import OpenedTable
from headgate.table.read import snapshot
from headgate.table.transaction import Transaction
from tests.support.tables import (
    ON_DEMAND,
    SCHEMA,
    append_change,
    create_filesystem,
    create_managed,
    named_file,
)


@dataclass(frozen=True)
class Route:
    """A committer of a table at version 0."""

    committer: Committer
    store: Store

    def transaction(self, name: str) -> Transaction:
        """An append to the newest version."""
        newest = snapshot.load_snapshot(self.store, self.committer.frontier())
        change = replace(append_change(named_file(f"{name}.parquet")), txn_id=TxnId(name))
        return transaction.begin(newest.state, change, world=SystemWorld())


@pytest.fixture(params=["filesystem", "routed", "coordinated", "inline", "staged"])
def route(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Route]:
    if request.param == "filesystem":
        store = LocalStore(str(tmp_path))
        create_filesystem(store)
        yield Route(FilesystemCommitter(store), store)
        return
    if request.param in ("routed", "coordinated"):
        store = LocalStore(str(tmp_path))
        yield Route(by_path(store, str(tmp_path), coordinated=request.param == "coordinated"), store)
        return
    catalog = open_catalog(tmp_path)
    staging = create_managed(catalog)
    files = locate(staging.location)
    limit = 0 if request.param == "staged" else 1 << 20
    committer = ManagedCommitter(
        files, catalog, staging.table_id, world=SystemWorld(), inline_limit_bytes=limit
    )
    yield Route(committer, files)
    catalog.close()


def by_path(store: Store, location: str, *, coordinated: bool) -> Committer:
    """The committer of a table opened by path, which an owner in memory may have from the start."""
    find = partial(owned_by, in_memory(batch=100))
    committer = PathCommitter(location, store, find, world=SystemWorld())
    if not coordinated:
        create_filesystem(store)
        return committer
    table = OpenedTable(
        location, store, committer, after_commit=PostCommitScheduler(ON_DEMAND), settings=ON_DEMAND,
        world=SystemWorld(),
    )  # fmt: skip
    coordination.create_coordinated(table, TableDefinition(SCHEMA), find, "one", {})
    table.snapshot()
    return committer


def owned_by(owner: CommitCoordinator, name: str, conf: Mapping[str, str]) -> CommitCoordinator:
    return owner


def test_the_frontier_is_the_latest_version(route: Route) -> None:
    assert route.committer.frontier().latest == 0

    route.committer.propose(route.transaction("a"))

    assert route.committer.frontier().latest == 1
    assert route.committer.frontier(known=Version(0)).latest == 1
    assert route.committer.frontier(known=Version(1)).latest == 1


def test_the_next_version_is_ratified(route: Route) -> None:
    assert route.committer.propose(route.transaction("a")) == Ratified(Version(1))
    assert route.committer.propose(route.transaction("b")) == Ratified(Version(2))


def test_the_same_proposal_again_gets_the_same_answer(route: Route) -> None:
    txn = route.transaction("a")
    route.committer.propose(txn)

    assert route.committer.propose(txn) == Ratified(Version(1))
    assert route.committer.outcome_of(txn) == Ratified(Version(1))
    assert route.committer.frontier().latest == 1


def test_the_loser_gets_every_winner_from_its_target_on(route: Route) -> None:
    late = route.transaction("late")
    late = replace(late, attempt=replace(late.attempt, reads=ReadSet(whole_table=True)))
    for name in ("a", "b"):
        route.committer.propose(route.transaction(name))

    for answer in (route.committer.propose(late), route.committer.outcome_of(late)):
        assert isinstance(answer, Lost)
        assert [(winner.version, winner.adds[0].path) for winner in answer.winners] == [
            (1, "a.parquet"), (2, "b.parquet"),
        ]  # fmt: skip


def test_a_blind_append_is_never_behind(route: Route) -> None:
    late = route.transaction("late")
    route.committer.propose(route.transaction("a"))

    match route.committer.propose(late):
        case Lost(winners):  # the version is in the name of a file, so the loop proposes another
            late = late.rebased_onto(winners)
            assert route.committer.propose(late) == Ratified(Version(2))
        case answer:
            assert answer == Ratified(Version(2))
    assert route.committer.outcome_of(late) == Ratified(Version(2))


def test_what_was_not_proposed_is_open(route: Route) -> None:
    assert route.committer.outcome_of(route.transaction("a")) == Open()


def test_publishing_makes_every_version_a_file(route: Route) -> None:
    for name in ("a", "b"):
        route.committer.propose(route.transaction(name))

    assert route.committer.publish() == 2
    assert route.committer.publish() == 2

    listed = [file_names.parse(found.path) for found in route.store.list_from(file_names.LOG_FOLDER)]
    assert [file.version for file in listed if file] == [0, 1, 2]


def test_publishing_what_was_told_makes_all_of_that_a_file(route: Route) -> None:
    route.committer.propose(route.transaction("a"))
    told = route.committer.frontier()
    route.committer.propose(route.transaction("b"))

    assert route.committer.publish(told) >= 1
    assert route.committer.publish() == 2

    assert all(route.store.head(file_names.published_path(Version(version))) for version in range(3))


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(TableNotFound):
        FilesystemCommitter(LocalStore(str(tmp_path))).frontier()
