"""The routes of events: a page of them, or a stream for whoever accepts ``text/event-stream``."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from litestar import MediaType, Request, Response, Router, get
from litestar.concurrency import sync_to_thread
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from litestar.response import Stream

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.events import Event
from headgate.errors import InvalidRequest, NotAllowed
from headgate.server.caller import Authenticator, Caller
from headgate.server.error_answers import ANSWER_OWN
from headgate.server.lakes import ServedLakes
from headgate.server.operations.parts import Operations
from headgate.server.request_record import current_request
from headgate.server.routes.events.stream import EventStream, next_page
from headgate.server.webhooks.dispatcher import WebhookStatus

STREAM_TYPE = "text/event-stream"
_LARGEST = 2**63 - 1

Cursor = Annotated[
    int, QueryParameter(name="after", ge=0, le=_LARGEST, description="Only what happened after this one.")
]
PageSize = Annotated[int, QueryParameter(ge=1, le=1_000, description="How many at most.")]


class EventPage(msgspec.Struct, frozen=True):
    """Some events, and the cursor to go on from."""

    events: tuple[Event, ...]
    cursor: int


@get("/lakes/{lake:str}/events", status_code=200)
async def list_events(  # noqa: PLR0913, PLR0917 — what a route is given, by name
    request: Request[object, object, State],
    state: State,
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    operations: NamedDependency[Operations],
    lake: FromPath[str],
    after: Cursor = 0,
    limit: PageSize = 1_000,
) -> Response[Any]:
    """What happened in a lake after a cursor, as far as the caller may see it; a page, or a stream of it."""
    catalog = lakes.find(lake).catalog_for(caller.principal)
    if not _wants_stream(request.headers):
        events, cursor = await sync_to_thread(next_page, catalog.events, after, limit)
        return Response(EventPage(events, cursor), media_type=MediaType.JSON)
    return await _stream(request, state, catalog, operations, _resumed(request.headers, after))


def _wants_stream(headers: Mapping[str, str]) -> bool:
    return STREAM_TYPE in headers.get("accept", "")


def _resumed(headers: Mapping[str, str], after: int) -> int:
    """The cursor to begin after: what a client saw last counts more than what it asked for first."""
    seen = headers.get("last-event-id")
    if seen is None:
        return after
    if not (seen.isascii() and seen.isdecimal() and int(seen[:20]) <= _LARGEST):
        raise InvalidRequest(
            f"Last-Event-ID is the cursor of an event, and {seen[:40]!r} is none: leave it out"
        )
    return int(seen)


async def _stream(
    request: Request[object, object, State],
    state: State,
    catalog: LakeCatalog,
    operations: Operations,
    cursor: int,
) -> Response[Any]:
    await sync_to_thread(catalog.events.after, cursor, limit=1)  # one that is forgotten is refused here
    record, principal = current_request(), catalog.principal
    give_back = operations.streams.take(principal)
    if record is not None:
        record.ending.append(give_back)
    stream = EventStream(catalog.events, cursor, operations, lambda: provide_caller_again(request, state))
    return Stream(stream.lines(), media_type=STREAM_TYPE, headers={"cache-control": "no-store"})


def provide_caller_again(request: Request[object, object, State], state: State) -> Caller:
    """Ask once more who is on the line, without taking another place."""
    authenticator: Authenticator = state.authenticator
    return authenticator.authenticate(request.headers.get("authorization"))


@get("/lakes/{lake:str}/webhooks", status_code=200, sync_to_thread=True)
def list_webhooks(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], state: State, lake: FromPath[str]
) -> list[WebhookStatus]:
    """How far the webhooks of a lake have come; for its owner."""
    served = lakes.find(lake)
    if caller.principal != served.catalog.principal:
        raise NotAllowed("the webhooks of a lake are shown to its owner alone", operation="webhooks")
    return [dispatcher.status() for dispatcher in state.webhooks if dispatcher.lake == served.name]


ROUTER = Router(
    path="/api/headgate/v1", route_handlers=[list_events, list_webhooks], exception_handlers=ANSWER_OWN
)
