"""The lakes of this server as catalogs, and the server itself as a metastore."""

import uuid

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery

from headgate.catalog.wire.unity_api import MetastoreSummary, UnityCatalog, UnityCatalogs
from headgate.errors import InvalidRequest
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.unity.paging import take_page


def stable_id(*parts: str) -> str:
    """An id for what has none of its own, the same whenever and wherever it is asked for."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(("headgate", *parts))))


def _shown(lake: ServedLake) -> UnityCatalog:
    return UnityCatalog(name=lake.name, id=stable_id(lake.catalog.warehouse))


@get("/catalogs", status_code=200, sync_to_thread=False)
def list_catalogs(
    caller: NamedDependency[Caller],  # noqa: ARG001 — whoever cannot say who they are is refused
    lakes: NamedDependency[ServedLakes],
    max_results: FromQuery[int | None] = None,
    page_token: FromQuery[str | None] = None,
) -> UnityCatalogs:
    """Every lake."""
    found = sorted(lakes, key=lambda lake: lake.name)
    page, token = take_page(found, lambda lake: lake.name, max_results=max_results, page_token=page_token)
    return UnityCatalogs(catalogs=tuple(map(_shown, page)), next_page_token=token)


@get("/catalogs/{name:str}", status_code=200, sync_to_thread=False)
def get_catalog(
    caller: NamedDependency[Caller],  # noqa: ARG001
    lakes: NamedDependency[ServedLakes],
    name: FromPath[str],
) -> UnityCatalog:
    """One lake."""
    return _shown(lakes.find(name))


@post("/catalogs", status_code=200, sync_to_thread=False)
def create_catalog(caller: NamedDependency[Caller]) -> None:  # noqa: ARG001
    """Refused: which lakes there are is said where the server is set up."""
    raise InvalidRequest(
        "a catalog is a lake here, and lakes are not made by clients: the server's operator adds them to "
        "its configuration; GET /catalogs names those that there are"
    )


@get("/metastore_summary", status_code=200, sync_to_thread=False)
def metastore_summary(
    caller: NamedDependency[Caller],  # noqa: ARG001
    lakes: NamedDependency[ServedLakes],
) -> MetastoreSummary:
    """Which server this is: the same one for as long as it has the same lakes."""
    return MetastoreSummary(metastore_id=stable_id(*sorted(lake.catalog.warehouse for lake in lakes)))
