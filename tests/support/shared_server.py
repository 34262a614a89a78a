"""One real HTTP server for many lakes: to start one for each test would take most of the time."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.catalog import LakeCatalog, OwnershipPorts, Upkeep
from headgate.catalog.targets import CatalogTarget
from headgate.plugins import catalogs
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import NoAuthentication
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.http_server import running


@dataclass
class _Shared:
    """The server, while somebody needs it, and the lakes it serves by now."""

    lakes: list[ServedLake] = field(default_factory=list)
    url: str | None = None
    stack: ExitStack = field(default_factory=ExitStack)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(self) -> str:
        if self.url is None:
            served = ServedLakes(self.lakes)  # type: ignore[arg-type]
            app = create_app(ServerParts(served, NoAuthentication()))
            self.url = self.stack.enter_context(running(app))
        return self.url

    def stop(self) -> None:
        self.stack.close()
        self.url = None


_SHARED = _Shared()
_PARTS = frozenset({*vars(Upkeep), *vars(OwnershipPorts)}) - {"books", "recoveries"}


def stop() -> None:
    """Stop the server, if it runs; the next lake starts another."""
    _SHARED.stop()


@contextmanager
def served(catalog: LakeCatalog) -> Iterator[str]:
    """The address of a lake with this catalog, of which everybody is the owner."""
    settings = Settings()
    after_commit = PostCommitScheduler(settings, catalog.copies.write_if_due)
    lake = ServedLake(f"lake{next(_SHARED.numbers)}", catalog, after_commit, settings)
    url = _SHARED.start()
    _SHARED.lakes.append(lake)
    try:
        yield f"{url}/{lake.name}"
    finally:
        _SHARED.lakes.remove(lake)


class BothHandles:
    """A catalog by its client and, where a suite looks inside of it, as it is in this process.

    What a port has is asked over HTTP; whatever else there is, of the catalog behind the server.
    """

    def __init__(self, client: Any, behind: Any) -> None:
        self._client = client
        self._behind = behind

    def __getattr__(self, name: str) -> Any:
        if name in _PARTS:
            return BothHandles(getattr(self._client, name), getattr(self._behind, name))
        asked = hasattr(self._client, name) and not name.startswith("_")
        return getattr(self._client if asked else self._behind, name)

    def acting_as(self, principal: str, **_: object) -> "BothHandles":
        return BothHandles(self._client.acting_as(principal), self._behind.acting_as(principal))


def inside(catalog: Catalog) -> Catalog:
    """The catalog itself, for what is about its inside: crashes, policies, quotas."""
    return cast(Catalog, catalog._behind) if isinstance(catalog, BothHandles) else catalog


@contextmanager
def both_handles(catalog: Catalog) -> Iterator[Catalog]:
    """A catalog behind HTTP, for suites that look inside of it too."""
    with behind_http(catalog) as client:
        yield cast(Catalog, BothHandles(client, catalog))


@contextmanager
def behind_http(catalog: LakeCatalog) -> Iterator[LakeCatalog]:
    """The same catalog through a client, on behalf of its owner."""
    with served(catalog) as address, closing(catalogs.open_catalog(CatalogTarget(address))) as client:
        yield client
