"""What contracts are asked of: a catalog over each database, and a table in it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.clock import SystemWorld
from headgate.storage.locate import locate
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition
from tests.support import adopted, shared_server
from tests.support.catalogs import DATABASE_KINDS, a_catalog
from tests.support.tables import SCHEMA

ORDERS = TableName("sales", "orders")


@pytest.fixture(autouse=True, scope="module")
def _no_server_left() -> Iterator[None]:
    """The server behind which catalogs were asked stops with the last test of a suite."""
    yield
    shared_server.stop()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask suites of a ``catalog`` in each way that they name in ``CATALOGS``."""
    if "catalog" in metafunc.fixturenames:
        kinds = getattr(metafunc.module, "CATALOGS", DATABASE_KINDS)
        metafunc.parametrize("catalog", kinds, indirect=True)


@pytest.fixture
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """A new catalog over either database."""
    with a_catalog(request.param, tmp_path / "lake") as opened:
        yield opened


@pytest.fixture
def table(catalog: Catalog) -> StagingTable:
    """The table ``sales.orders``, which may have metadata domains."""
    catalog.create_schema(ORDERS.schema)
    staging = catalog.stage(ORDERS)
    definition = TableDefinition(SCHEMA, properties={"delta.feature.domainMetadata": "supported"})
    create.write_version_0(locate(staging.location), definition, managed=True, world=SystemWorld())
    catalog.register(staging, ORDERS)
    return staging


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Catalog]:
    """A catalog that takes tables in, where it does not matter over which database."""
    with closing(open_catalog(tmp_path / "lake")) as opened:
        yield adopted.ready(opened)
