"""What clients leave unpublished the server publishes, in order; also what was left before it started."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableName
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.server.operations.parts import make_operations
from headgate.server.publisher import Publisher
from headgate.server.settings import ServerSettings
from headgate.storage.locate import locate
from tests.support import proposals
from tests.support.catalogs import a_catalog
from tests.support.operated_server import served
from tests.support.tables import create_managed
from tests.support.waiting import until


@dataclass
class Hours:
    """Time that stands still unless a test says otherwise."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["sqlite", "postgresql"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    with a_catalog(request.param, tmp_path) as opened:
        yield opened


def _publisher(catalog: Catalog, clock: Hours | None = None) -> Publisher:
    lake = served(catalog, make_operations(ServerSettings()))
    return Publisher(lake, seconds=1.0, monotonic=clock or Hours())


def _commit(catalog: Catalog, table_id: TableId, *versions: int) -> None:
    for version in versions:
        catalog.propose(proposals.inline(table_id, version, f"{table_id[:8]}-{version}"))


def _published(location: str) -> list[int]:
    store = locate(location)
    names = (info.path.rpartition("/")[2] for info in store.list_from("_delta_log/"))
    return sorted(int(name[:20]) for name in names if name[20:] == ".json")


def test_what_was_left_before_the_start_is_taken_up_at_once(catalog: Catalog) -> None:
    table = create_managed(catalog)
    _commit(catalog, table.table_id, 1, 2, 3)
    publisher = _publisher(catalog)

    publisher.run_once()

    assert _published(table.location) == [0, 1, 2, 3]
    assert catalog.tail(table.table_id).published == 3
    assert (publisher.unpublished(), publisher.lag_seconds()) == (0, 0)


def test_later_commits_are_published_after_a_head_start_for_who_made_them(catalog: Catalog) -> None:
    clock, table = Hours(), create_managed(catalog)
    publisher = _publisher(catalog, clock)
    publisher.run_once()
    _commit(catalog, table.table_id, 1, 2)

    publisher.run_once()
    waiting = catalog.tail(table.table_id).published, publisher.unpublished()
    _commit(catalog, table.table_id, 3)
    publisher.run_once()
    still = catalog.tail(table.table_id).published, publisher.unpublished()
    clock.now += 2
    publisher.run_once()

    assert (waiting, still) == ((0, 2), (0, 3))
    assert (catalog.tail(table.table_id).published, publisher.unpublished()) == (3, 0)


def test_closing_publishes_without_a_head_start(catalog: Catalog) -> None:
    table = create_managed(catalog)
    publisher = _publisher(catalog)
    publisher.run_once()
    _commit(catalog, table.table_id, 1, 2)

    publisher.close()

    assert catalog.tail(table.table_id).published == 2


def test_its_thread_does_it_unasked(catalog: Catalog) -> None:
    table = create_managed(catalog)
    lake = served(catalog, make_operations(ServerSettings()))
    publisher = Publisher(lake, seconds=0.01)
    publisher.start()
    try:
        _commit(catalog, table.table_id, 1, 2)
        until(lambda: catalog.tail(table.table_id).published == 2)
        _commit(catalog, table.table_id, 3)
        until(lambda: catalog.tail(table.table_id).published == 3)
    finally:
        publisher.close()


def test_a_table_that_cannot_be_published_keeps_nobody_waiting(catalog: Catalog) -> None:
    clock = Hours()
    bad, good = (create_managed(catalog, TableName("s", name)) for name in ("bad", "good"))
    planted = file_names.published_path(Version(1))
    locate(bad.location).put_if_absent(planted, b"{}\n")
    publisher = _publisher(catalog, clock)
    for table in (bad, good):
        _commit(catalog, table.table_id, 1)

    publisher.run_once()
    stuck = publisher.unpublished()
    clock.now += 100
    publisher.run_once()

    assert catalog.tail(good.table_id).published == 1
    assert (catalog.tail(bad.table_id).published, stuck, publisher.unpublished()) == (0, 1, 1)
    assert locate(bad.location).read(planted) == b"{}\n"


def test_a_table_under_another_name_is_found_and_a_dropped_one_forgotten(catalog: Catalog) -> None:
    clock = Hours()
    moved, gone = (create_managed(catalog, TableName("s", name)) for name in ("moved", "gone"))
    publisher = _publisher(catalog, clock)
    publisher.run_once()
    for table in (moved, gone):
        _commit(catalog, table.table_id, 1)
    publisher.run_once()
    catalog.rename(TableName("s", "moved"), TableName("s", "elsewhere"))
    catalog.drop(TableName("s", "gone"))
    clock.now += 2
    publisher.run_once()
    clock.now += 100
    publisher.run_once()

    assert catalog.tail(moved.table_id).published == 1
    assert publisher.unpublished() == 0


def test_it_checkpoints_as_a_client_would(catalog: Catalog) -> None:
    table = create_managed(catalog)
    _commit(catalog, table.table_id, *range(1, 13))

    _publisher(catalog).run_once()

    names = [info.path for info in locate(table.location).list_from("_delta_log/")]
    assert any(".checkpoint." in name for name in names)
