"""A server that stops or is busy says that it did nothing: its client asks again, and then says so."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import Proposal, Ratified
from headgate.catalog.targets import CatalogTarget
from headgate.errors import CatalogUnavailable
from headgate.plugins import catalogs
from headgate.protocol.actions import Version
from headgate.settings import HttpSettings, Settings
from tests.support.http_server import serving
from tests.support.proposals import inline
from tests.support.tables import create_managed

ATTEMPTS = 3


class BusyCatalog:
    """Refuses the first proposals as a server does that is about to stop."""

    def __init__(self, inner: Catalog, refusals: list[str]) -> None:
        self._inner, self._refusals = inner, refusals

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def acting_as(self, principal: str, **options: Any) -> "BusyCatalog":
        return BusyCatalog(self._inner.acting_as(principal, **options), self._refusals)

    def propose(self, proposal: Proposal) -> object:
        if self._refusals:
            raise CatalogUnavailable("about to stop", code=self._refusals.pop())
        return self._inner.propose(proposal)


@contextmanager
def busy(folder: Path, refusals: list[str]) -> Iterator[tuple[Catalog, LakeCatalog]]:
    settings = Settings(http=HttpSettings(attempts=ATTEMPTS))
    with (
        closing(open_catalog(folder)) as behind,
        serving(cast("LakeCatalog", BusyCatalog(behind, refusals))) as url,
        closing(catalogs.open_catalog(CatalogTarget(f"{url}/main", settings=settings))) as client,
    ):
        yield behind, client


def test_a_refusal_that_changed_nothing_is_asked_again(tmp_path: Path) -> None:
    with busy(tmp_path, ["HEADGATE_SERVER_STOPPING"] * (ATTEMPTS - 1)) as (behind, client):
        table_id = create_managed(behind).table_id

        assert client.propose(inline(table_id, 1, "a")) == Ratified(Version(1))
        assert [row.txn_id for row in behind.books(table_id).read().rows].count("a") == 1


def test_one_that_stays_is_told_as_the_server_said_it(tmp_path: Path) -> None:
    with busy(tmp_path, ["HEADGATE_SERVER_BUSY"] * ATTEMPTS) as (behind, client):
        table_id = create_managed(behind).table_id

        with pytest.raises(CatalogUnavailable) as caught:
            client.propose(inline(table_id, 1, "a"))

        assert caught.value.code == "HEADGATE_SERVER_BUSY"
        assert behind.tail(table_id).latest == 0
