"""Clocks that are ahead or behind: nothing is deleted that a lease, a reader or a later commit needs."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.catalog.catalog import Catalog
from headgate.catalog.database import shared_clock
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.decision import DEFAULT_LIMITS
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.leases import HeldLease
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.targets import DATABASE_FILE
from headgate.clock import SystemWorld, World
from headgate.errors import HeadgateError, InvalidRequest
from headgate.protocol.actions import AppTransaction, EpochMillis, RemoveFile, Version
from headgate.storage.local import LocalStore
from headgate.storage.locate import locate
from headgate.table.alter import set_properties
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.maintenance import vacuum
from headgate.table.maintenance.vacuum import VacuumOptions
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation
from headgate.table.upkeep.permissions import CatalogGuard
from tests.support import postgresql
from tests.support.checkpointed import actions
from tests.support.tables import (
    ON_DEMAND,
    append_change,
    create_filesystem,
    create_managed,
    named_file,
    open_filesystem,
)
from tests.support.world import SkewedWorld

HOUR = 3600 * 1000
DAY = 24 * HOUR
YEARS = 10 * 365 * DAY
NAME = TableName("s", "t")
NO_RETENTION = VacuumOptions(timedelta(0), enforce_retention=False)


@dataclass
class Machine:
    """One process that shares a lake, with a clock of its own."""

    catalog: Catalog
    table: OpenedTable
    held: list[HeldLease] = field(default_factory=list)

    def write(self, path: str) -> str:
        self.table.store.put(path, b"rows")
        return path

    def commit(self, *paths: str) -> Version:
        return self.table.commit(append_change(*map(named_file, paths)), base=self.table.snapshot())

    def remove(self, path: str) -> Version:
        now = EpochMillis(self.table.world.now_ms())
        gone = RemoveFile(path=path, data_change=True, deletion_timestamp=now)
        return self.table.commit(Change(Operation("DELETE"), (gone,)), base=self.table.snapshot())

    def lease(self, version: int | None) -> HeldLease:
        table_id = self.catalog.resolve(NAME).table_id
        wanted = None if version is None else Version(version)
        held = self.catalog.leases.on_version(table_id, wanted, holder="somebody", ttl_ms=60_000)
        self.held.append(held)
        return held


@dataclass
class Lake:
    """A lake folder, the machines that share it, and its database if that is one of PostgreSQL."""

    folder: Path
    stack: ExitStack
    url: str | None = None

    def machine(self, ahead_ms: int = 0) -> Machine:
        process = SkewedWorld(ahead_ms)
        catalog = self.stack.enter_context(closing(self.catalog(process)))
        entry = catalog.resolve(NAME)
        store = locate(entry.location)
        committer = ManagedCommitter(
            store, catalog, entry.table_id, world=process, inline_limit_bytes=1 << 20
        )
        guard = CatalogGuard(catalog.permissions, catalog.leases, entry.table_id)
        opened = OpenedTable(
            entry.location, store, committer, after_commit=PostCommitScheduler(ON_DEMAND), settings=ON_DEMAND,
            world=process, guard=guard,
        )  # fmt: skip
        return Machine(catalog, opened)

    def catalog(self, process: World) -> Catalog:
        """The catalog as a process with this clock opens it."""
        if self.url is None:
            world = shared_clock.from_file_system(self.folder / DATABASE_FILE, process)
            return open_catalog(self.folder, world=world)
        database = open_postgresql(self.url, postgresql.SMALL, create=False)
        world = shared_clock.from_server(database, process)
        return Catalog(
            database,
            warehouse=str(self.folder / "warehouse"),
            locate=locate,
            world=world,
            limits=DEFAULT_LIMITS,
        )


def a_lake(folder: Path, stack: ExitStack, database: str = "sqlite") -> Lake:
    lake = Lake(folder, stack)
    if database == "postgresql":
        server = postgresql.server()
        lake.url = server.url(stack.enter_context(server.database()))
    with closing(lake.catalog(SystemWorld())) as catalog:
        made = create_managed(catalog, NAME)
        for kind in (Maintenance.DATA_CLEANUP, Maintenance.METADATA_CLEANUP):
            catalog.permissions.permit(made.table_id, kind)
    return lake


@pytest.fixture(params=["sqlite", "postgresql"])
def lake(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Lake]:
    with ExitStack() as stack:
        yield a_lake(tmp_path, stack, request.param)


@pytest.mark.parametrize("giver", [0, -2 * HOUR, 2 * HOUR])
@pytest.mark.parametrize("cleaner", [2 * HOUR, YEARS])
def test_a_lease_ends_by_the_time_of_the_lake_and_not_of_who_looks(
    lake: Lake, giver: int, cleaner: int
) -> None:
    reader, other = lake.machine(giver), lake.machine(cleaner)
    reader.commit(reader.write("a"))
    held = reader.lease(1)
    uncommitted = lake.machine().lease(None)
    reader.remove("a")
    young = reader.write("b")

    gone = vacuum.vacuum(other.table, NO_RETENTION).paths

    assert gone == ()
    for machine in (reader, other):
        machine.catalog.leases.check(held)
        machine.catalog.leases.check(uncommitted)
    assert other.catalog.leases.sweep() == 0
    assert reader.table.store.read(young) == b"rows"


@pytest.mark.parametrize("ahead", [8 * DAY, YEARS])
@pytest.mark.parametrize("managed", [True, False])
def test_a_file_that_was_written_a_moment_ago_is_not_old_by_any_clock(
    lake: Lake, tmp_path: Path, managed: bool, ahead: int
) -> None:
    if managed:
        writer, other = lake.machine().table, lake.machine(ahead).table
    else:
        create_filesystem(LocalStore(str(tmp_path / "t")))
        writer = open_filesystem(str(tmp_path / "t"))
        other = open_filesystem(str(tmp_path / "t"), world=SkewedWorld(ahead))
    writer.store.put("x", b"rows")

    assert vacuum.vacuum(other, VacuumOptions()).paths == ()
    assert other.cleanup_log() == ()

    writer.commit(append_change(named_file("x")), base=writer.snapshot())
    assert writer.store.read("x") == b"rows"


def test_the_place_of_a_table_that_is_being_made_is_not_abandoned_by_a_clock_that_is_ahead(
    lake: Lake,
) -> None:
    staged = lake.machine().catalog.stage(TableName("s", "new"))
    other = lake.machine(YEARS).catalog

    assert other.disposal.abandoned() == ()
    with pytest.raises(HeadgateError, match="still in use"):
        other.disposal.condemn(staged.table_id)


@pytest.mark.parametrize("ahead", [2 * DAY, YEARS])
def test_a_commit_that_is_far_ahead_is_refused_and_drags_no_later_one_with_it(lake: Lake, ahead: int) -> None:
    wrong, right = lake.machine(ahead), lake.machine()

    with pytest.raises(InvalidRequest, match="ahead of the catalog's clock") as caught:
        wrong.commit("x")

    assert caught.value.fields["rule"] == "timestamps-not-ahead"
    right.commit("y")
    stamp = right.table.snapshot().state.in_commit_timestamp
    assert stamp is not None
    assert abs(stamp - SkewedWorld(0).now_ms()) < HOUR


def test_by_path_a_commit_that_is_far_ahead_of_the_store_is_not_proposed(tmp_path: Path) -> None:
    create_filesystem(LocalStore(str(tmp_path)))
    right = open_filesystem(str(tmp_path))
    set_properties.set_properties(right, {"delta.enableInCommitTimestamps": "true"})
    wrong = open_filesystem(str(tmp_path), world=SkewedWorld(YEARS))

    with pytest.raises(InvalidRequest, match="ahead of that of the store"):
        wrong.commit(append_change(named_file("x")), base=wrong.snapshot())

    assert right.commit(append_change(named_file("x")), base=right.snapshot()) == 2
    assert sorted(os.listdir(tmp_path / "_delta_log")) == [f"{version:020d}.json" for version in range(3)]


@pytest.mark.parametrize("ahead", [8 * DAY, YEARS])
def test_a_checkpoint_forgets_nothing_early(tmp_path: Path, ahead: int) -> None:
    create_filesystem(LocalStore(str(tmp_path)))
    right = open_filesystem(str(tmp_path))
    set_properties.set_properties(right, {"delta.setTransactionRetentionDuration": "interval 1 day"})
    now = EpochMillis(SkewedWorld(0).now_ms())
    right.commit(append_change(named_file("x")), base=right.snapshot())
    gone = RemoveFile(path="x", data_change=True, deletion_timestamp=now)
    done = AppTransaction(app_id="stream", version=7, last_updated=now)
    right.commit(Change(Operation("DELETE"), (gone, done)), base=right.snapshot())

    open_filesystem(str(tmp_path), world=SkewedWorld(ahead)).checkpoint()

    assert [found["path"] for found in actions(right.store, "remove")] == ["x"]
    assert [found["version"] for found in actions(right.store, "txn")] == [7]


_TASKS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(
            ["write", "commit", "remove", "lease", "lease uncommitted", "vacuum", "cleanup", "checkpoint"]
        ),
    ),
    min_size=4,
    max_size=14,
)
_CLOCK = st.sampled_from([8 * DAY, YEARS, -YEARS]) | st.integers(-YEARS, YEARS) | st.integers(-DAY, DAY)
_CLOCKS = st.lists(_CLOCK, min_size=3, max_size=3)


@settings(max_examples=25, deadline=None)
@given(_CLOCKS, _TASKS)
def test_whatever_the_clocks_say_nothing_is_deleted_that_somebody_needs(
    tmp_path_factory: pytest.TempPathFactory, clocks: list[int], tasks: list[tuple[int, str]]
) -> None:
    _play(tmp_path_factory.mktemp("lake"), "sqlite", clocks, tasks)


@settings(max_examples=4, deadline=None)
@given(_CLOCKS, _TASKS)
def test_nor_is_it_where_the_database_is_on_a_server(
    tmp_path_factory: pytest.TempPathFactory, clocks: list[int], tasks: list[tuple[int, str]]
) -> None:
    _play(tmp_path_factory.mktemp("lake"), "postgresql", clocks, tasks)


def _play(folder: Path, database: str, clocks: list[int], tasks: list[tuple[int, str]]) -> None:
    with ExitStack() as stack:
        lake = a_lake(folder, stack, database)
        machines, right = [lake.machine(ahead) for ahead in clocks], lake.machine()
        story = Story(right)
        for number, (who, task) in enumerate(tasks):
            story.tell(machines[who], task, number)
        for machine in machines:
            story.tell(machine, "vacuum", len(tasks))
            story.tell(machine, "cleanup", len(tasks))
        story.check()


@dataclass
class Story:
    """What happened, and what must therefore still be there: everything is seconds old."""

    right: Machine
    written: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    live: list[str] = field(default_factory=list)
    held: list[HeldLease] = field(default_factory=list)

    def tell(self, machine: Machine, task: str, number: int) -> None:
        try:
            self._do(machine, task, f"file-{number}")
        except InvalidRequest as exc:
            assert exc.fields.get("rule") == "timestamps-not-ahead"

    def _do(self, machine: Machine, task: str, path: str) -> None:
        match task:
            case "write":
                self.written.append(machine.write(path))
                self.waiting.append(path)
            case "commit" if self.waiting:
                machine.commit(self.waiting[0])
                self.live.append(self.waiting.pop(0))
            case "remove" if self.live:
                machine.remove(self.live[0])
                self.live.pop(0)
            case "lease":
                self.held.append(machine.lease(machine.table.snapshot().version))
            case "lease uncommitted":
                self.held.append(machine.lease(None))
            case "vacuum":
                vacuum.vacuum(machine.table, VacuumOptions())
            case "cleanup":
                assert machine.table.cleanup_log() == ()
            case "checkpoint":
                machine.table.checkpoint()

    def check(self) -> None:
        for path in self.written:
            assert self.right.table.store.read(path) == b"rows"
        for held in self.held:
            self.right.catalog.leases.check(held)
        assert sorted(self.right.table.snapshot().files.columns["path"].to_pylist()) == sorted(self.live)
