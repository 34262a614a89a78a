"""What does every request pass, before its route and after its answer?

    head and body within their limits → a place among the requests in flight → the sender of a body
    → the application, in its time
    → the id in the answer → a line in the log, a count, a duration

It stands around the whole application, so that what no route answers passes it too.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from headgate import tracing
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError, NotAuthenticated
from headgate.server import error_answers
from headgate.server.operations import limits, strange_pages
from headgate.server.operations.access_log import AccessLog
from headgate.server.operations.drain import Drain
from headgate.server.operations.limits import BodySize, RouteLimit
from headgate.server.operations.metrics import ServerMetrics
from headgate.server.operations.quotas import Quota
from headgate.server.request_record import (
    REQUEST_ID_HEADER,
    RequestRecord,
    begin_request,
    choose_request_id,
)
from headgate.server.settings import ServerSettings

_LOG = logging.getLogger(__name__)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_NO_ROUTE, _NO_SUCH_METHOD = "none", 405
_NOBODY = ""
"""As whom callers count that are not known; no principal has this name."""
_KNOWN_METHODS = _SAFE_METHODS | {"POST", "PUT", "PATCH", "DELETE"}


@dataclass(frozen=True, slots=True)
class OperationsLayer:
    """An application in its limits, with its metrics and its log."""

    app: ASGIApp
    settings: ServerSettings
    metrics: ServerMetrics
    drain: Drain
    access: AccessLog
    identify: Callable[[str | None], Awaitable[object]]
    """Refuses an ``Authorization`` header that nobody is known by, or takes a place of the one it is of."""
    requests: Quota

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self.app(scope, receive, send)
            return
        await self._serve(scope, receive, send)

    async def _serve(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        began, headers = time.perf_counter(), limits.headers_of(scope)
        record = RequestRecord(
            choose_request_id(headers.get(REQUEST_ID_HEADER)), scope["method"], scope["path"]
        )
        begin_request(record)
        answer = _Answer(send, record.request_id)
        with tracing.server_span("headgate.request", headers, {"http.request.method": scope["method"]}):
            try:
                await self._within_limits(scope, headers, receive, answer, record)
            except HeadgateError as refused:
                await answer.refuse(scope, refused)
            finally:
                record.end()
                self._account(scope, record, answer, time.perf_counter() - began)

    async def _within_limits(
        self,
        scope: HTTPScope,
        headers: Mapping[str, str],
        receive: Receive,
        answer: "_Answer",
        record: RequestRecord,
    ) -> None:
        row, settings = limits.limit_for(scope["path"]), self.settings
        limits.require_modest_head(scope, headers, settings)
        strange_pages.require_own_page(headers, settings)
        most = limits.body_limit(row, settings)
        limits.require_announced_size(headers, most)
        self.drain.enter(exempt=row.body is BodySize.NONE and row.is_timed)
        try:
            if limits.has_body(headers):
                await self._take_place(row, headers, record)
            announced = limits.announced_size(headers)
            body = await limits.read_body(
                receive, announced=announced, most=most, seconds=settings.body_seconds
            )
            limits.require_sane_json(body, settings)
            async with asyncio.timeout(settings.request_seconds if row.is_timed else None) as deadline:
                await self.app(cast("Scope", scope), _Replay(body, receive), answer)
        except TimeoutError as exc:
            if not deadline.expired():
                raise
            raise _out_of_time(scope["method"], settings.request_seconds) from exc
        finally:
            self.drain.leave()

    async def _take_place(self, row: RouteLimit, headers: Mapping[str, str], record: RequestRecord) -> None:
        """Have somebody answer for the place that a body holds while it comes in (T10).

        All whom nobody knows are one caller for that, so they cannot take the places of the others.
        """
        try:
            await self.identify(headers.get("authorization"))
        except NotAuthenticated:
            if row.body is BodySize.LARGE and limits.may_be_large(headers, self.settings):
                raise
            record.ending.append(self.requests.take(_NOBODY))

    def _account(self, scope: HTTPScope, record: RequestRecord, answer: "_Answer", seconds: float) -> None:
        method = record.method if record.method in _KNOWN_METHODS else "OTHER"
        route = cast("dict[str, Any]", scope).get("path_template") or _NO_ROUTE
        if answer.status == _NO_SUCH_METHOD:  # else each route had a series for each method it does not have
            route = _NO_ROUTE
        self.metrics.answered(method, route, answer.status, seconds)
        self.access.add(
            {
                "request_id": record.request_id,
                "principal": record.principal,
                "method": method,
                "route": route,
                "status": answer.status,
                "milliseconds": round(seconds * 1000, 3),
            }
        )


def _out_of_time(method: str, seconds: float) -> HeadgateError:
    if method in _SAFE_METHODS:
        return CatalogUnavailable(f"the answer took longer than {seconds:g} s: come again")
    return CommitUnknown(
        f"the answer took longer than {seconds:g} s, and what was asked may yet be done: send the "
        "very same request "
        "again, or look for its outcome, and delete nothing until then"
    )


class _Replay:
    """Gives an application the body that was read already, and then whatever comes."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while (message := await self._receive())["type"] == "http.request":
            pass  # the end of the body, for which nobody waited
        return message


class _Answer:
    """Sends an answer, with the id of its request."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._id = (REQUEST_ID_HEADER.encode(), request_id.encode())
        self.status = 500
        self._started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            message["headers"] = [*message.get("headers", ()), self._id]
        await self._send(message)

    async def refuse(self, scope: HTTPScope, error: HeadgateError) -> None:
        """Answer with an error, unless an answer has begun, which then ends where it is."""
        if self._started:
            _LOG.warning("an answer broke off: %s", error)
            return
        status, headers, body = error_answers.plain_answer(scope, error)
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": False})
