"""The routes of operators: ``/health``, ``/ready`` and ``/metrics``.

The first two need no token and tell nothing but yes or no. Metrics are for callers who are known, unless only
the own machine reaches the server.
"""

import asyncio
import logging

from litestar import MediaType, Request, Response, Router, get
from litestar.datastructures import State
from litestar.di import NamedDependency

from headgate.errors import CatalogUnavailable, HeadgateError
from headgate.server.caller import provide_caller
from headgate.server.error_answers import ANSWER_OWN
from headgate.server.exposure import is_loopback
from headgate.server.lakes import ServedLakes
from headgate.server.operations.metrics import CONTENT_TYPE
from headgate.server.operations.parts import Operations

_LOG = logging.getLogger(__name__)


@get("/health", status_code=200, sync_to_thread=False, media_type=MediaType.JSON)
def show_health() -> dict[str, str]:
    """Whether the process answers at all."""
    return {"status": "alive"}


@get("/ready", status_code=200, sync_to_thread=True, media_type=MediaType.JSON)
def show_readiness(state: State, operations: NamedDependency[Operations]) -> dict[str, str]:
    """Whether requests can be sent here: every database answers, and the server is not about to stop."""
    if operations.drain.is_draining:
        raise CatalogUnavailable("not ready", code="HEADGATE_NOT_READY")
    lakes: ServedLakes = state.lakes  # not those of a caller: a probe has no token
    for lake in lakes:
        try:
            lake.catalog.events.load_cursor("headgate/ready")
        except HeadgateError as exc:
            _LOG.warning("the catalog of %s does not answer: %s", lake.name, exc)
            raise CatalogUnavailable("not ready", code="HEADGATE_NOT_READY") from exc
    return {"status": "ready"}


@get("/metrics", status_code=200, media_type=MediaType.TEXT)
async def show_metrics(
    request: Request[object, object, State], state: State, operations: NamedDependency[Operations]
) -> Response[bytes]:
    """Counters, histograms and gauges, in the text format of Prometheus."""
    lake = None
    if not is_loopback(operations.settings.host) or operations.settings.behind_proxy:
        lake = (await provide_caller(request, state)).lake
    page = await asyncio.to_thread(operations.metrics.page, lake)
    return Response(page, headers={"content-type": CONTENT_TYPE})


ROUTER = Router(
    path="/", route_handlers=[show_health, show_readiness, show_metrics], exception_handlers=ANSWER_OWN
)
