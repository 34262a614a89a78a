"""Ordinary tables by name: what a catalog owes them, over each database and behind HTTP."""

from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.errors import NotAllowed, SchemaNotFound, TableExists, TableNotFound
from headgate.protocol.actions import Version
from tests.contract.conftest import ORDERS

OTHERS = TableName("sales", "others")


def test_a_name_means_a_place_until_it_is_forgotten(
    catalog: Catalog, table: StagingTable, tmp_path: Path
) -> None:
    place = str(tmp_path / "elsewhere")

    made = catalog.externals.register_external(TableName("Sales", "Others"), place)

    assert (made.name, made.location) == (OTHERS, place)
    assert catalog.externals.register_external(OTHERS, place) == made
    assert catalog.externals.find_external(OTHERS) == made
    assert catalog.externals.external_tables() == catalog.externals.external_tables("sales") == (made,)
    assert catalog.externals.forget_external(OTHERS)
    assert not catalog.externals.forget_external(OTHERS)
    with pytest.raises(TableNotFound):
        catalog.externals.find_external(OTHERS)


def test_the_catalog_does_not_take_it_for_one_of_its_own(
    catalog: Catalog, table: StagingTable, tmp_path: Path
) -> None:
    made = catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))

    assert [entry.name for entry in catalog.tables()] == [ORDERS]
    for ask in (catalog.resolve, catalog.load, catalog.drop):
        with pytest.raises(TableNotFound):
            ask(OTHERS)
    with pytest.raises(TableNotFound):
        catalog.tail(made.table_id)
    assert catalog.dropped() == ()


def test_a_name_is_one_tables_alone(catalog: Catalog, table: StagingTable, tmp_path: Path) -> None:
    with pytest.raises(TableExists):
        catalog.externals.register_external(ORDERS, str(tmp_path / "elsewhere"))
    catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))

    with pytest.raises(TableExists):
        catalog.externals.register_external(OTHERS, str(tmp_path / "another"))
    with pytest.raises(TableExists):
        catalog.stage(OTHERS)
    with pytest.raises(TableExists):
        catalog.rename(ORDERS, OTHERS)
    with pytest.raises(TableExists):
        catalog.adoptions.claim(OTHERS, str(tmp_path / "third"), Version(0), catalog.principal)


def test_two_tables_share_no_files(catalog: Catalog, table: StagingTable, tmp_path: Path) -> None:
    catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))

    for place in (table.location, f"{table.location}/part", str(tmp_path / "elsewhere" / "part")):
        with pytest.raises(TableExists, match="overlaps"):
            catalog.externals.register_external(TableName("sales", "third"), place)
    with pytest.raises(TableExists, match="overlaps"):
        catalog.adoptions.claim(
            TableName("sales", "third"), str(tmp_path / "elsewhere"), Version(0), catalog.principal
        )


def test_its_schema_must_be_there_and_cannot_go(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(SchemaNotFound):
        catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))
    catalog.create_schema("sales")
    catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))

    with pytest.raises(Exception, match="not empty"):
        catalog.drop_schema("sales")


def test_it_is_seen_by_who_may_read_its_schema_and_named_by_the_owner_alone(
    catalog: Catalog, table: StagingTable, tmp_path: Path
) -> None:
    made = catalog.externals.register_external(OTHERS, str(tmp_path / "elsewhere"))
    catalog.granting.grant("READ", "sales", "ana")
    ana, stranger = catalog.acting_as("ana").externals, catalog.acting_as("eve").externals

    assert ana.external_tables() == (made,)
    assert stranger.external_tables() == ()
    with pytest.raises(TableNotFound):
        stranger.find_external(OTHERS)
    for change in (
        lambda: ana.register_external(TableName("sales", "third"), str(tmp_path / "third")),
        lambda: ana.forget_external(OTHERS),
    ):
        with pytest.raises(NotAllowed):
            change()
