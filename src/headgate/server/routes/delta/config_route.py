"""What can this server do? Its operations, and the version of the API that both sides know."""

from typing import Annotated

from litestar import get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from headgate.catalog.wire.delta_api import PROTOCOL_VERSION, ConfigAnswer
from headgate.errors import InvalidRequest
from headgate.server.caller import Caller
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.lakes import ServedLakes
from headgate.server.routes.delta.session import decode_segment

_SCHEMA = "/v1/catalogs/{catalog}/schemas/{schema}"
_TABLE = _SCHEMA + "/tables/{table}"
ENDPOINTS = (
    "GET /v1/config",
    f"POST {_SCHEMA}/staging-tables",
    "GET /v1/staging-tables/{table_id}/credentials",
    f"POST {_SCHEMA}/tables",
    f"GET {_TABLE}",
    f"HEAD {_TABLE}",
    f"POST {_TABLE}",
    f"DELETE {_TABLE}",
    f"POST {_TABLE}/rename",
    f"GET {_TABLE}/credentials",
    f"POST {_TABLE}/metrics",
)
EXTENDED_ENDPOINTS = (
    "POST /v1/catalogs/{catalog}/transactions/commit",
    "POST /v1/catalogs/{catalog}/tables/load",
)
EXTENSIONS = ("inline-commits", "conflict-details", "structured-metadata", "transactions", "batch-load")


@get("/config", status_code=200, sync_to_thread=True)
def get_config(
    caller: NamedDependency[Caller],  # noqa: ARG001 — somebody must be asking
    lakes: NamedDependency[ServedLakes],
    state: State,
    catalog: Annotated[str, QueryParameter(name="catalog", description="The name of a lake.")],
    versions: Annotated[
        str, QueryParameter(name="protocol-versions", description="What the caller knows, as 1.0,2.1.")
    ] = PROTOCOL_VERSION,
) -> ConfigAnswer:
    """What can be asked of this server."""
    lakes.find(decode_segment(catalog))
    _check_common_version(versions)
    settings: DeltaApiSettings = state.delta_api
    return ConfigAnswer(
        endpoints=ENDPOINTS if settings.strict else ENDPOINTS + EXTENDED_ENDPOINTS,
        protocol_version=PROTOCOL_VERSION,
        extensions=None if settings.strict else EXTENSIONS,
    )


def _check_common_version(versions: str) -> None:
    """Refuse a client that does not know our version; a later one of the same number includes ours."""
    ours = PROTOCOL_VERSION.partition(".")[0]
    for version in versions.split(","):
        major, dot, minor = version.strip().partition(".")
        if not (dot and major.isdecimal() and minor.isdecimal()):
            raise InvalidRequest(f"{version!r} is no version of the API: write it as {PROTOCOL_VERSION}")
        if major == ours:
            return
    raise InvalidRequest(f"this server speaks version {PROTOCOL_VERSION} of the API, and not {versions}")
