"""How does an operation of the ports get its answer without a detour? Past the framework, by its path.

Commits are asked for here, thousands a second, and for each the framework would find the route, its
dependencies and its parameters anew, at five times the cost of the commit. All operations are asked for in
the same way, so there is nothing to find: the path says which, and the rest is the same for all.

    POST …/lakes/main/commits/propose
      → who asks, known by the token or looked up → a thread: decode, ratify, encode → a line of the audit log
      → the answer

What is not such a request goes on to the framework. ``benchmarks/server_commits.py`` justifies it.
"""

import asyncio
from collections.abc import Mapping
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from headgate.catalog.wire.lake_description import (
    ACTING_AS,
    BASE_PATH,
    CALL_ID,
    MAX_REQUEST_BYTES,
    is_call_id,
)
from headgate.catalog.wire.operation_codec import OperationCodec, codec_for
from headgate.catalog.wire.operations import OPERATIONS, Repeat
from headgate.server import audit, error_answers
from headgate.server.caller import Caller, identify
from headgate.server.operations import limits
from headgate.server.operations.parts import Operations
from headgate.server.routes.own.operation_routes import OperationParts

_PREFIX = f"{BASE_PATH}/lakes/"
_ACTING_AS, _CALL_ID = ACTING_AS.lower(), CALL_ID.lower()
_CALL_ID_NAME = CALL_ID.lower().encode()
_JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class _DirectRoute:
    """One operation, as it is asked for."""

    codec: OperationCodec
    template: str
    """What its path is called in metrics and logs, as the framework would call it."""
    reads: bool


_ROUTES: Mapping[str, _DirectRoute] = {
    operation.path: _DirectRoute(
        codec_for(operation), f"{_PREFIX}{{lake}}/{operation.path}", operation.repeat is Repeat.READ
    )
    for operation in OPERATIONS
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request for an operation."""

    scope: HTTPScope
    route: _DirectRoute
    lake: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class DirectOperations:
    """An application that answers operations itself, and has another answer the rest.

    It stands inside the layer that reads bodies: what it receives first is a whole one.
    """

    app: ASGIApp
    parts: OperationParts
    operations: Operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _find_route(scope)
        if found is None:
            await self.app(scope, receive, send)
            return
        http, (lake, route) = cast("HTTPScope", scope), found
        cast("dict[str, Any]", scope)["path_template"] = route.template
        message = cast("dict[str, Any]", await receive())
        asked = _Asked(http, route, lake, limits.headers_of(http), message["body"])
        status, headers, body = await self._told(asked)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    async def _told(self, asked: _Asked) -> error_answers.PlainAnswer:
        """The answer, of which the audit log has a line by then."""
        caller: Caller | None = None
        status = 500
        try:
            try:
                shown = asked.headers.get("authorization")
                caller = await identify(self.parts.authenticator, shown, self.operations)
                answer = _answer_headers(asked, await self._content(asked, caller))
            except Exception as error:
                answer = error_answers.plain_answer(asked.scope, error)
            status = answer.status
        finally:
            audit.record_answer(asked.scope, status, caller, reads=asked.route.reads)
        return answer

    async def _content(self, asked: _Asked, caller: Caller) -> bytes:
        limits.require_size(asked.body, MAX_REQUEST_BYTES)
        loop, acting_as = asyncio.get_running_loop(), asked.headers.get(_ACTING_AS)
        answer = (self.parts.answer, asked.route.codec, asked.lake, caller, acting_as, asked.body)
        return await loop.run_in_executor(None, copy_context().run, *answer)


def _find_route(scope: Scope) -> tuple[str, _DirectRoute] | None:
    """The lake and the operation that are asked for; None if it is something else, or spelled otherwise."""
    if scope["type"] != ScopeType.HTTP:
        return None
    if scope["method"] != "POST" or not scope["path"].startswith(_PREFIX):
        return None
    lake, _, named = scope["path"][len(_PREFIX) :].partition("/")
    route = _ROUTES.get(named)
    return None if route is None or not lake or scope.get("root_path") else (lake, route)


def _answer_headers(asked: _Asked, content: bytes) -> error_answers.PlainAnswer:
    headers = [_JSON, (b"content-length", str(len(content)).encode())]
    named = asked.headers.get(_CALL_ID, "")
    if is_call_id(named):
        headers.append((_CALL_ID_NAME, named.encode()))
    return error_answers.PlainAnswer(200, headers, content)
