"""Where a store ignores the condition of a put, the owner settles who makes a table or takes it over."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from typing_extensions import Buffer, override

from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.coordinator.publishing_coordinator import PublishingCoordinator
from headgate.catalog.ports.commits import StagedCommit
from headgate.catalog.ports.coordinator import CoordinatedTable, SettlesTakeOver
from headgate.errors import ConcurrentWrite, InvalidRequest, TableExists, UnsafeStore
from headgate.protocol.actions import Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import file_names
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from tests.support import owned, postgresql
from tests.support.faulty_store import DictStore
from tests.support.owned import CONF, NAME, PLAIN, Place, append
from tests.support.tables import SCHEMA, create_filesystem
from tests.support.versions import paths

Build = Callable[[], LedgerCoordinator]


class Overwriting(DictStore):
    """A store that ignores the condition, as some servers do that speak S3."""

    place: str | None = None

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        self.put(path, data)


@pytest.fixture(params=["memory", "database", "postgresql"])
def build(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    with ExitStack() as stack:
        place: Path | str = tmp_path
        if request.param == "postgresql":
            server = postgresql.server()
            place = server.url(stack.enter_context(server.database()))
        first = owned.owner(request.param, place)
        yield lambda: first if request.param == "memory" else owned.owner(request.param, place)


def staged(table: CoordinatedTable, content: bytes, version: int = 0) -> StagedCommit:
    made = StagedCommit(file_names.staged_file_name(Version(version), str(uuid.uuid4())))
    table.store.put(made.path, content)
    return made


def registered(owner: LedgerCoordinator) -> CoordinatedTable:
    return CoordinatedTable("/tables/t", owner.register("/tables/t", None, PLAIN), Overwriting())


def test_the_first_who_asks_has_the_version_and_it_is_published(build: Build) -> None:
    owner = build()
    table = registered(owner)
    ours, theirs = staged(table, b"ours"), staged(table, b"theirs")

    assert isinstance(owner, SettlesTakeOver)
    assert owner.settle(table, Version(0), ours)
    assert not build().settle(table, Version(0), theirs)
    assert build().settle(table, Version(0), ours)

    assert table.store.read(file_names.published_path(Version(0))) == b"ours"


def test_who_comes_after_a_crash_publishes_what_was_settled(build: Build) -> None:
    """The first was told nothing, and has the table all the same."""
    owner = build()
    table = registered(owner)
    ours, theirs = staged(table, b"ours"), staged(table, b"theirs")
    assert owner.settle(table, Version(0), ours)
    table.store.delete(file_names.published_path(Version(0)))  # as if it had never come to that

    assert not owner.settle(table, Version(0), theirs)

    assert table.store.read(file_names.published_path(Version(0))) == b"ours"


def test_a_version_that_an_outsider_wrote_is_not_overwritten(build: Build) -> None:
    owner = build()
    table = registered(owner)
    table.store.put(file_names.published_path(Version(3)), b"outsider")

    assert not owner.settle(table, Version(3), staged(table, b"ours", 3))

    assert table.store.read(file_names.published_path(Version(3))) == b"outsider"


def test_a_table_whose_files_are_gone_does_not_keep_its_place(build: Build) -> None:
    owner = build()
    table = registered(owner)
    assert owner.settle(table, Version(0), staged(table, b"first"))
    for meta in list(table.store.list_from("")):
        table.store.delete(meta.path)

    assert owner.settle(table, Version(0), staged(table, b"second"))
    assert not owner.settle(table, Version(0), staged(table, b"third"))

    assert table.store.read(file_names.published_path(Version(0))) == b"second"


def test_only_a_table_of_the_owner_is_settled(build: Build) -> None:
    owner = build()
    table = registered(owner)

    with pytest.raises(InvalidRequest):
        owner.settle(
            CoordinatedTable("/tables/other", table.conf, table.store), Version(0), staged(table, b"x")
        )


def unsafe(owner: LedgerCoordinator | PublishingCoordinator, *, versions: int | None = None) -> Place:
    """A place on such a store, with an ordinary table of so many appends from elsewhere, or none."""
    store = Overwriting()
    place = Place(store=store, owners={NAME: owner})
    if versions is not None:
        create_filesystem(store, world=place.world)
        append(place.opened(), range(1, versions + 1))
    store.place = f"overwriting-{uuid.uuid4()}"
    return place


def test_a_table_is_created_for_its_owner_and_only_once(build: Build) -> None:
    place = unsafe(build())

    coordination.create_coordinated(place.opened(), TableDefinition(SCHEMA), place.find, NAME, CONF)
    with pytest.raises(TableExists):
        coordination.create_coordinated(place.opened(), TableDefinition(SCHEMA), place.find, NAME, CONF)

    assert append(place.opened(), "abc") == [1, 2, 3]
    assert paths(place.opened()) == ["a", "b", "c"]
    assert place.opened().check("t", data=False).is_clean


def test_a_table_is_taken_over_and_worked_with_and_given_back(build: Build) -> None:
    place = unsafe(build(), versions=2)
    with pytest.raises(UnsafeStore):
        append(place.opened(), ["nobody decides this"])

    assert coordination.coordinate(place.opened(), place.find, NAME, CONF) == 3
    assert append(place.opened(), "ab") == [4, 5]
    assert coordination.uncoordinate(place.opened()) == 6

    assert place.published() == list(range(7))
    assert paths(place.opened(owners={})) == ["1", "2", "a", "b"]


def test_of_two_who_take_a_table_over_one_is_told_that_it_lost(build: Build) -> None:
    """Both began from the same version."""
    owner = build()
    place = unsafe(owner, versions=1)
    late, commit = place.opened(), place.opened().commit
    taken: list[int] = []

    def first(change: object, **rest: object) -> object:
        taken.append(coordination.coordinate(place.opened(), place.find, NAME, CONF))
        return commit(change, **rest)  # type: ignore[arg-type]

    late.commit = first  # type: ignore[method-assign,assignment]
    with pytest.raises(ConcurrentWrite, match="somebody else"):
        coordination.coordinate(late, place.find, NAME, CONF)

    assert taken == [2]
    assert coordinated_commits.coordinator_of(place.opened().snapshot().state.metadata) is not None
    assert append(place.opened(), "x") == [3]


def test_an_owner_that_settles_nothing_is_refused_as_before(build: Build) -> None:
    place = unsafe(PublishingCoordinator(build()))

    with pytest.raises(UnsafeStore):
        coordination.create_coordinated(place.opened(), TableDefinition(SCHEMA), place.find, NAME, CONF)

    assert not place.opened().exists()
