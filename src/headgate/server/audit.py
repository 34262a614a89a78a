"""Who did what, on what, and what came of it? A line for every call that changes something, or is refused.

It is written before the answer leaves, so nobody holds an answer that the log does not have. A line is one
JSON object, in which no character of a caller's can begin another line (T11), and no secret stands (T15).
Where lines go is decided by whoever configures the logger ``headgate.audit``.
"""

import logging
from collections.abc import Mapping
from typing import Any

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from headgate.redaction import redact
from headgate.server.caller import Caller
from headgate.server.operations.logs import FieldsAsLine, log_fields
from headgate.server.request_record import current_request_id

AUDIT = logging.getLogger("headgate.audit")
CHANGES_NOTHING = "changes_nothing"
"""An ``opt`` of a route that asks with POST: its calls are told only if they are refused."""
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST = 1_024


class AuditMiddleware(ASGIMiddleware):
    """Tells of each call before its answer begins, or once it failed without one."""

    scopes = (ScopeType.HTTP,)

    @override
    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        answered = False

        async def recording(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                _record_if_told(scope, message["status"])
            await send(message)

        try:
            await next_app(scope, receive, recording)
        finally:
            if not answered:
                _record_if_told(scope, 500)


def record_call(call: Mapping[str, object]) -> None:
    """Write one call down: as a line, and as fields for handlers that know what to do with them."""
    log_fields(AUDIT, FieldsAsLine("call", call), call)


def record_answer(scope: Scope, status: int, caller: Caller | None, *, reads: bool) -> None:
    """Write down how a call was answered, unless it was answered and changes nothing."""
    if status >= 400 or not reads:
        record_call(_call(scope, status, caller))


def _record_if_told(scope: Scope, status: int) -> None:
    handler: Any = scope.get("route_handler")
    reads = scope.get("method") in _READING or bool(handler is not None and handler.opt.get(CHANGES_NOTHING))
    state: Mapping[str, Any] = scope.get("state") or {}
    record_answer(scope, status, state.get("caller"), reads=reads)


def _call(scope: Scope, status: int, caller: Caller | None) -> dict[str, object]:
    client = scope.get("client")
    return {
        "principal": None if caller is None else str(caller.principal),
        "token_id": None if caller is None else caller.token_id,
        "method": scope.get("method"),
        "path": _shown(scope["path"]),
        "status": status,
        "outcome": _outcome(status),
        "request_id": current_request_id(),
        "from": None if client is None else _shown(str(client[0])),
    }


def _outcome(status: int) -> str:
    if status < 400:
        return "done"
    return "refused" if status < 500 else "failed"


def _shown(text: str) -> str:
    """A text of a caller's, without secrets, and short."""
    return redact(text)[:_LONGEST]
