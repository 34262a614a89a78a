"""Which request is being worked on? One record each, for its id, its caller and what ends with it.

The id is the caller's ``X-Request-Id`` if that is a short harmless word, else a new one; it is in the answer,
in the body of an error and in every line of the log that the request brings about.
"""

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

REQUEST_ID_HEADER = "x-request-id"
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(slots=True)
class RequestRecord:
    """One request; written to by the layers it passes, from the thread that is at work on it."""

    request_id: str
    method: str = ""
    path: str = ""
    principal: str | None = None
    caller: object | None = None
    """The one who asks, once that is known: it is found out once, and takes one place."""
    ending: list[Callable[[], None]] = field(default_factory=list)
    """What is to be let go of when the request has its answer."""

    def end(self) -> None:
        """Let go of what was taken for this request."""
        while self.ending:
            self.ending.pop()()


_CURRENT: ContextVar[RequestRecord | None] = ContextVar("headgate_request", default=None)


def choose_request_id(offered: str | None) -> str:
    """The id that a caller offers, if no log and no header can be harmed by it, else a new one."""
    if offered is not None and _HARMLESS.fullmatch(offered):
        return offered
    return secrets.token_hex(8)


def begin_request(record: RequestRecord) -> None:
    """What follows, also in threads that it starts work in, belongs to this request."""
    _CURRENT.set(record)


def current_request() -> RequestRecord | None:
    """The request that is being worked on here; None outside of one."""
    return _CURRENT.get()


def current_request_id() -> str | None:
    """Its id."""
    record = _CURRENT.get()
    return None if record is None else record.request_id
