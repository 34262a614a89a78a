"""What a lake offers to those who follow and tend it; without Spark."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.events import Event
from headgate.catalog.ports.maintenance import Permission
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound, VersionNotFound
from headgate.lake.lake import Lake
from headgate.protocol.features.rearrangement import Thresholds
from headgate.settings import Settings
from headgate.table.maintenance.maintenance_tasks import WorkerPolicy
from headgate.table.maintenance.worker import TaskOutcome
from tests.support.tables import append_change, create_managed, named_file
from tests.support.waiting import until


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake with the table sales.orders at version 2."""
    catalog = open_catalog(tmp_path)
    create_managed(catalog, TableName("sales", "orders"))
    with Lake(catalog, settings=Settings(), world=SystemWorld()) as found:
        append(found, 2)
        yield found


def append(lake: Lake, count: int) -> None:
    table = lake.table("sales.orders").log
    for _ in range(count):
        base = table.snapshot()
        table.commit(append_change(named_file(f"{base.version + 1}")), base=base)


def test_events_can_be_followed_from_a_cursor(lake: Lake) -> None:
    told = lake.events()
    append(lake, 1)
    later = lake.events(after=told[-1].cursor)

    assert [(event.kind.value, event.table, event.version) for event in told] == [
        ("create", "sales.orders", 0),
        ("commit", "sales.orders", 0),
        ("commit", "sales.orders", 1),
        ("commit", "sales.orders", 2),
    ]
    assert [(event.version, event.operation) for event in later] == [(3, "WRITE")]
    assert lake.events(after=told[1].cursor, limit=1) == told[2:3]
    with pytest.raises(InvalidRequest, match="limit=0"):
        lake.events(limit=0)


def test_a_listener_hears_of_commits_until_the_lake_is_closed(lake: Lake) -> None:
    heard: list[Event] = []
    lake.listen(heard.append, kinds=["commit"], every=0.01)
    append(lake, 2)

    until(lambda: len(heard) == 2)
    lake.close()

    assert [event.version for event in heard] == [3, 4]


def test_a_kind_of_event_that_does_not_exist_is_named(lake: Lake) -> None:
    with pytest.raises(InvalidRequest, match="'comit' is no kind of event: there is 'commit', 'create'"):
        lake.listen(print, kinds=["comit"])


def test_a_lease_is_taken_renewed_and_given_back(lake: Lake) -> None:
    with lake.lease("sales.orders", version=1, ttl=timedelta(seconds=30)) as lease:
        lease.check()
        assert (lease.version, lease.token) == (1, 1)
        assert len(lake._catalog.leases.live()) == 1
    assert lake._catalog.leases.live() == ()
    with lake.lease("sales.orders") as writing:
        assert writing.version is None
    with pytest.raises(VersionNotFound):
        lake.lease("sales.orders", version=9)
    with pytest.raises(TableNotFound):
        lake.lease("sales.nothing")


def test_maintenance_is_permitted_by_name(lake: Lake) -> None:
    """U8"""
    lake.grant("MAINTAIN", on="sales.orders", to="ada")
    ada = Lake(lake._catalog.acting_as("ada"), settings=Settings(), world=SystemWorld())
    table = ada.table("sales.orders")
    with pytest.raises(NotAllowed, match="metadata cleanup"):
        table.cleanup_log()
    always = ("checkpoint", "log compaction", "checksum", "repair", "manifests")
    assert lake.permissions("sales.orders") == always

    lake.permit("sales.orders", "metadata cleanup")

    assert table.cleanup_log() == ()
    assert lake.permissions("sales.orders") == (*always, "metadata cleanup")
    lake.forbid("sales.orders", "metadata cleanup")
    with pytest.raises(NotAllowed):
        table.cleanup_log()
    with pytest.raises(InvalidRequest, match="no kind of maintenance: choose one of 'data reorganisation'"):
        lake.permit("sales.orders", "everything")
    with pytest.raises(InvalidRequest, match=r"schema\.table"):
        lake.permit("orders", "data cleanup")


def test_an_owner_vacuums_without_a_permission_and_is_told_so(
    lake: Lake, caplog: pytest.LogCaptureFixture
) -> None:
    """U8"""
    table = lake.table("sales.orders")

    with caplog.at_level("INFO", logger="headgate"):
        asked = table.vacuum(dry_run=True)
    lake.permit("sales.orders", "data cleanup")

    assert asked.permission is Permission.OWNER
    assert "VACUUM of table" in caplog.text
    assert "permitted by the call of its owner" in caplog.text
    assert table.vacuum(dry_run=True).permission is Permission.CATALOG
    assert table.cleanup_log() == ()


def test_thresholds_are_permitted_with_and_shown(lake: Lake) -> None:
    assert lake.thresholds("sales.orders") is None

    lake.permit("sales.orders", "data reorganisation", thresholds=Thresholds(small_files=2))

    assert lake.thresholds("sales.orders") == Thresholds(small_files=2)
    due = [result for result in lake.worker().run_once() if result.outcome is TaskOutcome.LEFT]
    assert [(result.task, result.detail) for result in due] == [
        ("optimize", "2 small files; a worker with --spark does it")
    ]
    with pytest.raises(InvalidRequest, match="small_files=1 makes no sense"):
        lake.worker(WorkerPolicy(rearrange=Thresholds(small_files=1)))


def test_a_worker_tends_the_tables_of_the_lake(lake: Lake) -> None:
    append(lake, 10)

    results = lake.worker().run_once()

    assert results
    assert {result.outcome for result in results} == {TaskOutcome.DONE}
    assert lake.table("sales.orders").log.verify() == ()
    assert lake.worker().run_once() == ()
