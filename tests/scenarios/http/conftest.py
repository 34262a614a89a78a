"""A real server over each database, and a table in it that a foreign client made."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.server.delta_api import DeltaApiSettings
from tests.support.catalogs import a_catalog
from tests.support.delta_api import DeltaApi, DeltaTable
from tests.support.http_server import serving


@pytest.fixture(params=["sqlite", "postgresql"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """A new catalog over either database, with the schema ``sales``."""
    with a_catalog(request.param, tmp_path / "lake") as opened:
        opened.create_schema("sales")
        yield opened


@pytest.fixture
def api(catalog: Catalog) -> Iterator[DeltaApi]:
    """A client of a server with our extensions."""
    with serving(catalog, name="unity") as url:
        yield DeltaApi(url)


@pytest.fixture
def strict(catalog: Catalog) -> Iterator[DeltaApi]:
    """A client of a server that behaves as Unity Catalog does."""
    with serving(catalog, name="unity", delta_api=DeltaApiSettings(strict=True)) as url:
        yield DeltaApi(url)


@pytest.fixture
def table(api: DeltaApi) -> DeltaTable:
    """The table ``sales.orders``."""
    return api.create()
