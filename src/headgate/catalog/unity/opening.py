"""From an address to a catalog of a Unity Catalog server: ``uc+https://host[:port]/catalog``.

The scheme says that the server is not one of ours: ``https://`` alone means a server of Headgate, and speaks
its own API. Which of the two APIs of Unity Catalog the server has is found out once, when it is opened.
"""

from urllib.parse import unquote

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.rest.opening import check_token_is_safe, split_address
from headgate.catalog.rest.transport import HttpTransport
from headgate.catalog.targets import CatalogTarget
from headgate.catalog.unity.catalog import UnityModeCatalog
from headgate.catalog.unity.delta_calls import DELTA, DeltaCalls
from headgate.catalog.unity.http_calls import UnityServer
from headgate.catalog.unity.older_calls import OlderCalls
from headgate.catalog.unity.refusals import describe, refusal
from headgate.catalog.unity.table_api import TableApi
from headgate.catalog.wire.delta_api import PROTOCOL_VERSION
from headgate.clock import SystemWorld
from headgate.errors import InvalidRequest

_PREFIX = "uc+"


def open_unity(target: CatalogTarget) -> LakeCatalog:
    """The catalog at an address, on behalf of whoever has the token."""
    address, name = parse_address(target.place)
    if target.warehouse is not None:
        raise InvalidRequest("a Unity Catalog server decides where its tables are: leave warehouse out")
    check_token_is_safe(address, target.token, target.settings.http)
    server = UnityServer(HttpTransport(address, target.token, target.settings.http, echoes=False))
    try:
        return UnityModeCatalog(server, choose_api(server, name), name, SystemWorld())
    except BaseException:
        server.close()
        raise


def parse_address(place: str) -> tuple[str, str]:
    """The server's address, and the name of the catalog there."""
    parts = split_address(place.removeprefix(_PREFIX))
    name = unquote(parts.path).strip("/")
    if parts.scheme not in ("http", "https") or not parts.hostname or not name or "/" in name:
        raise InvalidRequest(
            "a catalog of a Unity Catalog server is addressed as uc+https://host:port/catalog, with the name "
            "of the catalog at its end"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidRequest(
            "the address of a Unity Catalog server has no user, no password and no query: give the token to "
            "headgate.connect as the argument named so"
        )
    return f"{parts.scheme}://{parts.netloc}", name


def choose_api(server: UnityServer, name: str) -> TableApi:
    """The Delta API if the server has it, else the older one."""
    answer = server.send_safely(
        "GET", f"{DELTA}/config", query={"catalog": name, "protocol-versions": PROTOCOL_VERSION}
    )
    if answer.is_success:
        return DeltaCalls(server, name)
    if answer.status == 404 and describe(answer)[0] != "NoSuchCatalogException":
        return OlderCalls(server, name)
    raise refusal(answer, f"catalog {name}")
