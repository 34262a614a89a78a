"""Our own server as a Unity Catalog server: without extensions, with its limit, behind a faulty proxy."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.targets import CatalogTarget
from headgate.plugins import catalogs
from headgate.server.app import ServerParts, create_app
from headgate.server.caller import NoAuthentication
from headgate.server.credentials import CredentialVendor
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.settings import Settings
from headgate.table.commit.background import PostCommitScheduler
from tests.support.http_faults import Proxy, faulty
from tests.support.http_server import running

DELTA, OLDER = "delta", "older"
APIS = (DELTA, OLDER)
LIMIT = 10


@dataclass
class UnitySite:
    """A server, what it serves by its ports, and the proxy before it."""

    served: LakeCatalog
    proxy: Proxy

    @property
    def address(self) -> str:
        return f"uc+{self.proxy.url}/main"

    @contextmanager
    def client(self) -> Iterator[LakeCatalog]:
        """A client of it, as ``headgate.connect`` opens one."""
        with closing(catalogs.open_catalog(CatalogTarget(self.address))) as client:
            yield client


@contextmanager
def unity_site(
    folder: Path, api: str = DELTA, *, vendor: CredentialVendor | None = None
) -> Iterator[UnitySite]:
    """A strict server over a new lake, which has both APIs or the older one alone."""
    settings = Settings()
    with closing(open_catalog(folder)) as catalog:
        lake = ServedLake(
            "main", catalog, PostCommitScheduler(settings, catalog.copies.write_if_due), settings
        )
        parts = ServerParts(
            ServedLakes((lake,)),
            NoAuthentication(),
            delta_api=DeltaApiSettings(strict=True, unpublished_limit=LIMIT),
            credentials=vendor or CredentialVendor(),
        )
        with running(create_app(parts)) as url, faulty(url) as proxy:
            proxy.hidden = ("/delta/v1/",) if api == OLDER else ()
            yield UnitySite(catalog, proxy)
