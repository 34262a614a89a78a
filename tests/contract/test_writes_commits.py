"""What a coordinator owes that is handed the actions themselves: each sentence of ``WritesCommits``.

Asked of the one that creates published files, over every ledger, and of one that stages them itself.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

import headgate
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.coordinator.publishing_coordinator import PublishingCoordinator
from headgate.catalog.ports.commits import Lost, RatifiedCommit, StagedCommit, TableState, Unknown
from headgate.catalog.ports.coordinator import (
    CoordinatedActions,
    CoordinatedTable,
    GetCommitsResponse,
    WritesCommits,
)
from headgate.errors import InvalidRequest, NotAllowed, Retry, StorageUnavailable, UnsafeStore
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import file_names
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from tests.support import owned, postgresql
from tests.support.faulty_store import DictStore
from tests.support.owned import CONF, NAME, OWNED, PLAIN, Place, append
from tests.support.proposals import content, stamp
from tests.support.tables import SCHEMA
from tests.support.versions import paths


@dataclass(frozen=True)
class StagingOwner:
    """An owner that makes the first choice of the seed with the actions it is handed."""

    inner: LedgerCoordinator

    def register(self, location: str, current: Version | None, told: TableState) -> Mapping[str, str]:
        return self.inner.register(location, current, told)

    def commit_actions(
        self, table: CoordinatedTable, proposal: CoordinatedActions
    ) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
        staged = StagedCommit(
            file_names.staged_file_name(proposal.version, self.inner.world.uuid()), proposal.folder
        )
        table.store.put(staged.path, "\n".join(proposal.actions).encode())
        what = proposal.version, proposal.txn_id, proposal.timestamp, staged
        return self.inner.commit(table, owned.CoordinatedProposal(*what, proposal.before, proposal.after))

    def get_commits(self, table: CoordinatedTable, **bounds: Version | None) -> GetCommitsResponse:
        return self.inner.get_commits(table, **bounds)

    def backfill_to(self, table: CoordinatedTable, version: Version) -> None:
        self.inner.backfill_to(table, version)


Owner = StagingOwner | PublishingCoordinator
Build = Callable[[], Owner]


@pytest.fixture(params=["staging", "memory", "database", "postgresql"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    with ExitStack() as stack:
        place: Path | str = tmp_path
        if request.param == "postgresql":
            server = postgresql.server()
            place = server.url(stack.enter_context(server.database()))
        kind = "memory" if request.param == "staging" else request.param
        choice = StagingOwner if request.param == "staging" else PublishingCoordinator
        first = owned.owner(kind, place, batch=100)
        yield lambda: choice(first if kind == "memory" else owned.owner(kind, place, batch=100))


def registered(owner: Owner, *, current: int = 0) -> CoordinatedTable:
    """A table whose versions up to the one that names the owner are published."""
    store = DictStore()
    for version in range(current + 2):
        store.put(file_names.published_path(Version(version)), content(version, f"before-{version}"))
    return CoordinatedTable("/tables/t", owner.register("/tables/t", Version(current), PLAIN), store)


def propose(
    owner: Owner, table: CoordinatedTable, version: int, txn_id: str, *, after: TableState = OWNED
) -> RatifiedCommit | Lost[RatifiedCommit] | Unknown:
    said = Version(version), TxnId(txn_id), EpochMillis(stamp(version)), content(version, txn_id)
    return owner.commit_actions(table, CoordinatedActions(*said, file_names.STAGED_FOLDER, OWNED, after))


def ratified(owner: Owner, table: CoordinatedTable, *versions: int) -> None:
    for version in versions:
        found = propose(owner, table, version, f"txn-{version}")
        assert isinstance(found, RatifiedCommit)
        assert (found.version, found.txn_id) == (version, f"txn-{version}")


def held_or_published(owner: Owner, table: CoordinatedTable, version: int) -> bytes:
    for commit in owner.get_commits(table).commits:
        if commit.version == version and isinstance(commit.where, StagedCommit):
            return table.store.read(commit.where.path)
    return table.store.read(file_names.published_path(Version(version)))


def test_it_is_asked_with_the_actions(build: Build) -> None:
    assert isinstance(build(), WritesCommits)


def test_versions_are_ratified_in_order_and_hold_what_was_handed_over(build: Build) -> None:
    owner = build()
    table = registered(owner)

    for version in (2, 3, 4):
        ratified(owner, table, version)
        assert owner.get_commits(table).latest == version
        assert (
            held_or_published(owner, table, version).rstrip() == content(version, f"txn-{version}").rstrip()
        )


def test_a_version_is_ratified_once_and_a_gap_is_refused_for_good(build: Build) -> None:
    owner = build()
    table = registered(owner)
    ratified(owner, table, 2, 3)

    assert isinstance(propose(owner, table, 3, "late"), Lost)
    with pytest.raises(InvalidRequest, match="next version is 4") as caught:
        propose(owner, table, 5, "early")

    assert caught.value.retry is Retry.NEVER
    assert owner.get_commits(table).latest == 3


def test_the_same_transaction_again_gets_the_same_answer(build: Build) -> None:
    owner = build()
    table = registered(owner)
    ratified(owner, table, 2, 3)

    for version in (2, 4):
        again = propose(owner, table, version, "txn-2")
        assert isinstance(again, RatifiedCommit)
        assert again.version == 2
    assert owner.get_commits(table).latest == 3


def test_publishing_again_is_harmless_and_beyond_the_latest_refused(build: Build) -> None:
    owner = build()
    table = registered(owner)
    ratified(owner, table, 2, 3)

    owner.backfill_to(table, Version(3))
    owner.backfill_to(table, Version(3))

    assert table.store.read(file_names.published_path(Version(3))).rstrip() == content(3, "txn-3").rstrip()
    with pytest.raises(InvalidRequest, match="latest ratified version is 3"):
        owner.backfill_to(table, Version(4))


def test_another_place_or_an_unknown_table_is_refused(build: Build) -> None:
    owner = build()
    table = registered(owner)

    for wrong in (
        CoordinatedTable("/tables/copy", table.conf, table.store),
        CoordinatedTable("/tables/t", {}, table.store),
    ):
        with pytest.raises(InvalidRequest):
            propose(owner, wrong, 2, "t")


def publishing(build: Build) -> PublishingCoordinator:
    owner = build()
    if not isinstance(owner, PublishingCoordinator):
        pytest.skip("this owner makes the other choice")
    return owner


def test_a_version_is_there_as_soon_as_its_file_is_whoever_hears_of_it(build: Build) -> None:
    """Seed 002, choice 2: regardless of when or whether the client receives a response."""
    owner = publishing(build)
    table = registered(owner)
    table.store.put_if_absent(
        file_names.published_path(Version(2)), content(2, "unheard")
    )  # and the owner died

    again = build()
    assert again.get_commits(table) == GetCommitsResponse((), Version(2))
    assert isinstance(propose(again, table, 2, "late"), Lost)
    found = propose(again, table, 3, "unheard")

    assert isinstance(found, RatifiedCommit)
    assert (found.version, found.where) == (2, None)


def test_nothing_is_staged_and_nothing_written_before_the_previous_version_is_published(build: Build) -> None:
    """Seed 002: no backfilled commit is written until the previous one has been backfilled."""
    owner = publishing(build)
    table = registered(owner)
    table.store.delete(file_names.published_path(Version(1)))

    with pytest.raises(InvalidRequest, match="version 1 is not published"):
        propose(owner, table, 2, "t")

    assert not list(table.store.list_from(file_names.STAGED_FOLDER))
    assert [meta.path for meta in table.store.list_from(file_names.LOG_FOLDER)] == [
        file_names.published_path(Version(0))
    ]


def test_a_store_that_does_not_answer_leaves_the_outcome_unknown(build: Build) -> None:
    owner = publishing(build)
    table = registered(owner)

    class Silent(DictStore):
        def put_if_absent(self, path: str, data: object) -> None:
            raise StorageUnavailable("no answer", path=path, operation="put")

    silent = Silent()
    for meta in table.store.list_from(""):
        silent.put(meta.path, table.store.read(meta.path))

    answer = propose(owner, CoordinatedTable(table.location, table.conf, silent), 2, "t")

    assert answer == Unknown("no answer")


def test_a_store_that_overwrites_is_refused(build: Build) -> None:
    owner = publishing(build)
    table = registered(owner)

    class Overwriting(DictStore):
        place = f"overwriting-{id(owner)}"

        def put_if_absent(self, path: str, data: bytes) -> None:  # type: ignore[override]
            self.put(path, data)

    store = Overwriting()
    for meta in table.store.list_from(""):
        store.put(meta.path, table.store.read(meta.path))

    with pytest.raises(UnsafeStore):
        propose(owner, CoordinatedTable(table.location, table.conf, store), 2, "t")


def opened(owner: Owner) -> Place:
    place = Place()
    place.owners[NAME] = owner
    coordination.create_coordinated(place.opened(), TableDefinition(SCHEMA), place.find, NAME, CONF)
    return place


def test_a_client_appends_reads_and_releases_through_it(build: Build) -> None:
    """The commit that releases the table is the last one."""
    owner = build()
    place = opened(owner)
    late = place.opened()
    base = late.snapshot()
    assert append(place.opened(), "abc") == [1, 2, 3]
    assert append(place.opened(), "d") == [4]
    assert late.commit(owned.append_change(owned.named_file("e")), base=base) == 5

    assert paths(place.opened()) == ["a", "b", "c", "d", "e"]
    assert coordination.uncoordinate(place.opened()) == 6
    assert place.published() == list(range(7))
    asked = CoordinatedTable(place.location, _table_conf(place), place.store)
    with pytest.raises(NotAllowed, match="released"):
        propose(owner, asked, 7, "next")
    assert append(place.opened(owners={}), "z") == [7]
    assert place.opened().check("t", data=False).is_clean


def _table_conf(place: Place) -> Mapping[str, str]:
    found = coordinated_commits.coordinator_of(place.opened().snapshot(version=0).state.metadata)
    assert found is not None
    return found.table_conf


def test_where_everything_is_published_at_once_strangers_see_all_of_it(build: Build) -> None:
    place = opened(publishing(build))
    append(place.opened(), "abc")

    assert paths(place.opened(owners={})) == ["a", "b", "c"]
    assert place.staged() == []


def test_the_built_in_owner_makes_this_choice_by_its_conf(tmp_path: Path) -> None:
    conf = {"lake": str(tmp_path / "lake"), "commits": "published"}

    assert isinstance(headgate.owners.find("headgate", conf), PublishingCoordinator)
    with pytest.raises(InvalidRequest, match="commits must be"):
        headgate.owners.find("headgate", {**conf, "commits": "later"})
