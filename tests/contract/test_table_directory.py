"""What every directory of tables owes: each sentence of the port ``TableDirectory``."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest, SchemaNotFound, TableExists, TableNotFound
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from headgate.table.maintenance import purge
from tests.support.catalogs import KINDS, any_catalog
from tests.support.proposals import inline
from tests.support.tables import SCHEMA, create_managed
from tests.support.waiting import PATIENCE_SECONDS

NAME = TableName("sales", "orders")
_OPEN = """
import sys
from headgate.catalog.embedded import open_catalog
catalog = open_catalog(sys.argv[1])
print("ready", flush=True)
catalog.create_schema("s")
"""


@pytest.fixture(params=KINDS)
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LakeCatalog]:
    with any_catalog(request.param, tmp_path) as catalog:
        yield catalog


def test_a_schema_is_made_once(directory: LakeCatalog) -> None:
    assert directory.create_schema("sales") is True
    assert directory.create_schema("sales") is False
    assert directory.create_schema("SALES") is False


def test_schemas_are_listed_by_name(directory: LakeCatalog) -> None:
    assert directory.schemas() == ()
    for schema in ("sales", "Archive", "sales"):
        directory.create_schema(schema)

    assert directory.schemas() == ("archive", "sales")


def test_an_empty_schema_goes_and_can_be_made_again(directory: LakeCatalog) -> None:
    directory.create_schema("sales")

    assert directory.drop_schema("SALES") is True
    assert directory.drop_schema("sales") is False
    assert directory.schemas() == ()
    with pytest.raises(SchemaNotFound):
        directory.stage(NAME)
    assert directory.create_schema("sales") is True
    with pytest.raises(InvalidRequest):
        directory.drop_schema("not a name")


def test_a_schema_with_anything_in_it_stays(directory: LakeCatalog) -> None:
    create_managed(directory, NAME)
    directory.create_schema("archive")
    directory.stage(TableName("archive", "in_the_making"))

    for schema in ("sales", "archive"):
        with pytest.raises(InvalidRequest, match="not empty"):
            directory.drop_schema(schema)
    directory.drop(NAME)
    with pytest.raises(InvalidRequest, match="purge"):
        directory.drop_schema("sales")
    assert directory.schemas() == ("archive", "sales")

    purge.purge(directory, NAME, None, files=locate)
    assert directory.drop_schema("sales") is True


def test_a_table_needs_its_schema(directory: LakeCatalog) -> None:
    with pytest.raises(SchemaNotFound):
        directory.stage(NAME)


def test_a_registered_table_is_found_by_name(directory: LakeCatalog) -> None:
    staging = create_managed(directory, NAME)

    entry = directory.resolve(NAME)

    assert (entry.table_id, entry.name, entry.location) == (staging.table_id, NAME, staging.location)
    assert directory.tables() == (entry,)


def test_a_table_is_found_by_its_id_whatever_it_is_called(directory: LakeCatalog) -> None:
    staging = create_managed(directory, NAME)

    assert directory.resolve_id(staging.table_id) == directory.resolve(NAME)
    renamed = directory.rename(NAME, TableName("sales", "other"))
    assert directory.resolve_id(staging.table_id) == renamed

    reserved = directory.stage(NAME)
    directory.drop(renamed.name)
    for absent in (staging.table_id, reserved.table_id, TableId("nothing")):
        with pytest.raises(TableNotFound):
            directory.resolve_id(absent)


def test_a_staged_table_has_no_name_yet(directory: LakeCatalog) -> None:
    directory.create_schema("sales")

    directory.stage(NAME)

    assert directory.tables() == ()
    with pytest.raises(TableNotFound):
        directory.resolve(NAME)


def test_every_reservation_is_a_place_of_its_own(directory: LakeCatalog) -> None:
    directory.create_schema("sales")

    first, second = directory.stage(NAME), directory.stage(NAME)

    assert first.table_id != second.table_id
    assert first.location != second.location


def test_a_reservation_is_found_by_its_id_until_it_has_its_name(directory: LakeCatalog) -> None:
    directory.create_schema("sales")
    staging = directory.stage(NAME)

    assert directory.find_staging(staging.table_id) == staging
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    directory.register(staging, NAME)

    for table_id in (staging.table_id, TableId("unheard-of")):
        with pytest.raises(TableNotFound):
            directory.find_staging(table_id)


def test_names_are_unique_ignoring_case(directory: LakeCatalog) -> None:
    create_managed(directory, NAME)

    assert directory.resolve(TableName("SALES", "Orders")).name == NAME
    with pytest.raises(TableExists):
        directory.stage(TableName("Sales", "ORDERS"))


def test_the_second_to_register_a_name_is_refused(directory: LakeCatalog) -> None:
    directory.create_schema("sales")
    first, second = (_written(directory.stage(NAME)) for _ in range(2))
    directory.register(first, NAME)

    with pytest.raises(TableExists):
        directory.register(second, NAME)

    assert directory.resolve(NAME).table_id == first.table_id


def test_registering_again_is_no_error(directory: LakeCatalog) -> None:
    staging = create_managed(directory, NAME)
    directory.propose(inline(staging.table_id, 1, "a"))

    entry = directory.register(staging, NAME)

    assert entry == directory.resolve(NAME)
    assert directory.tail(staging.table_id).latest == 1


def test_a_table_is_registered_after_its_version_0_is_written(directory: LakeCatalog) -> None:
    directory.create_schema("sales")

    with pytest.raises(InvalidRequest):
        directory.register(directory.stage(NAME), NAME)

    assert directory.tables() == ()


def test_only_a_table_that_is_catalog_managed_can_be_registered(directory: LakeCatalog) -> None:
    directory.create_schema("sales")
    staging = directory.stage(NAME)
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=False, world=SystemWorld()
    )

    with pytest.raises(InvalidRequest):
        directory.register(staging, NAME)


def test_what_was_not_staged_cannot_be_registered(directory: LakeCatalog, tmp_path: Path) -> None:
    directory.create_schema("sales")
    elsewhere = _written(StagingTable(TableId("elsewhere"), str(tmp_path / "elsewhere")))

    with pytest.raises(TableNotFound):
        directory.register(elsewhere, NAME)


@pytest.mark.parametrize("bad", ["", "a b", "a.b", "../a", "1a", "ä", "a;b", "a" * 256, "a\n", "a/b", '"a"'])
def test_bad_names_are_refused(directory: LakeCatalog, bad: str) -> None:
    directory.create_schema("sales")

    with pytest.raises(InvalidRequest):
        directory.create_schema(bad)
    for name in (TableName("sales", bad), TableName(bad, "orders")):
        for call in (directory.stage, directory.resolve, directory.drop):
            with pytest.raises(InvalidRequest):
                call(name)


def test_tables_are_listed_by_name_and_by_schema(directory: LakeCatalog) -> None:
    names = [TableName("b", "y"), TableName("a", "z"), TableName("b", "x")]
    for name in names:
        create_managed(directory, name)

    assert [str(entry.name) for entry in directory.tables()] == ["a.z", "b.x", "b.y"]
    assert [str(entry.name) for entry in directory.tables("B")] == ["b.x", "b.y"]
    assert directory.tables("nowhere") == ()


def test_dropping_takes_the_name_and_leaves_the_log(directory: LakeCatalog) -> None:
    staging = create_managed(directory, NAME)

    dropped = directory.drop(NAME)

    assert dropped.table_id == staging.table_id
    assert directory.tables() == ()
    assert len(list(locate(staging.location).list_from("_delta_log/"))) == 1
    for call in (directory.resolve, directory.drop):
        with pytest.raises(TableNotFound):
            call(NAME)


def test_a_dropped_name_can_be_used_again(directory: LakeCatalog) -> None:
    first = create_managed(directory, NAME)
    directory.drop(NAME)

    second = create_managed(directory, NAME)

    assert directory.resolve(NAME).table_id == second.table_id != first.table_id


def test_a_dropped_table_ratifies_nothing(directory: LakeCatalog) -> None:
    staging = create_managed(directory, NAME)
    directory.drop(NAME)

    with pytest.raises(TableNotFound):
        directory.propose(inline(staging.table_id, 1, "a"))
    with pytest.raises(TableNotFound):
        directory.tail(staging.table_id)


def test_of_four_who_make_the_same_schema_or_table_one_does(directory: LakeCatalog) -> None:
    barrier = threading.Barrier(4)

    def race(_: int) -> tuple[bool, TableId | None]:
        barrier.wait()
        made = directory.create_schema("sales")
        staging = _written(directory.stage(NAME))
        barrier.wait()
        try:
            return made, directory.register(staging, NAME).table_id
        except TableExists:
            return made, None

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(race, range(4)))

    assert sum(made for made, _ in ends) == 1
    assert [table_id for _, table_id in ends if table_id] == [directory.resolve(NAME).table_id]


def test_a_lake_may_be_moved_as_a_whole(tmp_path: Path) -> None:
    catalog = open_catalog(tmp_path / "here")
    create_managed(catalog, NAME)
    catalog.close()
    (tmp_path / "here").rename(tmp_path / "there")

    moved = open_catalog(tmp_path / "there")
    location = moved.resolve(NAME).location
    moved.close()

    assert location.startswith(str(tmp_path / "there"))


@pytest.mark.parametrize("attempt", range(3))
def test_processes_that_open_a_new_lake_at_once_all_succeed(tmp_path: Path, attempt: int) -> None:
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "lake")]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]

    ends = [(process.communicate(timeout=PATIENCE_SECONDS), process.returncode) for process in processes]

    assert [code for _, code in ends] == [0, 0, 0], ends


def _written(staging: StagingTable) -> StagingTable:
    create.write_version_0(
        locate(staging.location), TableDefinition(SCHEMA), managed=True, world=SystemWorld()
    )
    return staging
