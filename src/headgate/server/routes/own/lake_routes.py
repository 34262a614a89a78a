"""What does a client learn before it asks for anything? Which lakes there are, and what one is."""

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from headgate.catalog.wire.lake_description import LakeDescription, ServedNames
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLakes
from headgate.server.routes.own.operation_routes import OwnRequest, acting_caller, call_headers


@get("/lakes", status_code=200, sync_to_thread=False, operation_id="lakes", tags=["lakes"])
def list_lakes(
    request: OwnRequest,
    caller: NamedDependency[Caller],  # noqa: ARG001
    lakes: NamedDependency[ServedLakes],
) -> Response[ServedNames]:
    """The names of the lakes that are served, to whoever is known."""
    names = ServedNames(lakes=tuple(lake.name for lake in lakes))
    return Response(names, headers=call_headers(request))


@get("/lakes/{lake:str}", status_code=200, sync_to_thread=True, operation_id="lake", tags=["lakes"])
def describe_lake(
    lake: FromPath[str],
    request: OwnRequest,
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
) -> Response[LakeDescription]:
    """What a lake is, and on whose behalf the caller acts there."""
    served = lakes.find(lake)
    found = LakeDescription(
        name=served.name, warehouse=served.catalog.warehouse, principal=acting_caller(request, caller)
    )
    return Response(found, headers=call_headers(request))
