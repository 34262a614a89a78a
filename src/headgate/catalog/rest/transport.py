"""How does one request get its answer, or what is known if it does not? Over kept connections, with TLS.

Either nothing was sent, so nothing can have happened; or it was, and no whole answer came. Which of the two
is all that a client needs to know to go on rightly.
"""

import os
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import override

from headgate import tracing
from headgate.catalog.rest.connections import KeptConnections, NotAnswered, NotConnected
from headgate.catalog.wire.lake_description import CALL_ID
from headgate.settings import HttpSettings

_CALL_ID = CALL_ID.lower()


class NotSent(Exception):
    """The server was not reached: nothing can have happened."""


class AnswerLost(Exception):
    """The request went out, and no whole answer came: nobody here knows what happened."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a server answered."""

    status: int
    content: bytes
    date: str | None = None
    """When it answered by its own clock."""


class HttpTransport:
    """Asks one server; safe to share between threads, and after a fork."""

    def __init__(self, root: str, token: str | None, settings: HttpSettings, *, echoes: bool = True) -> None:
        self.root = root
        self._echoes = echoes  # a server of ours says to which request its answer belongs
        self._settings = settings
        self._authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._lock = threading.Lock()
        self._pool: tuple[int, KeptConnections] | None = None

    @override
    def __repr__(self) -> str:
        return f"HttpTransport({self.root!r})"  # and not its token

    def exchange(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpAnswer:
        """The answer to one request; ``NotSent`` or ``AnswerLost`` if there is none."""
        call = secrets.token_hex(16)
        with tracing.span("headgate.call", {"http.request.method": method, "url.path": path}):
            return self._exchange(method, path, body, headers or {}, call)

    def _exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], call: str
    ) -> HttpAnswer:
        named = {CALL_ID: call, **tracing.trace_headers()} if self._echoes else tracing.trace_headers()
        sent = {"Content-Type": "application/json", **named, **self._authorization, **headers}
        try:
            answer = self._connections().exchange(method, path, sent, body)
        except NotConnected as exc:
            raise NotSent(str(exc)) from exc
        except NotAnswered as exc:
            raise AnswerLost(str(exc)) from exc
        if self._echoes and answer.headers.get(_CALL_ID) != call and answer.status < 300:
            self.close()  # what else waits on these connections may be as late
            raise AnswerLost("what came is not the answer to this request")
        return HttpAnswer(answer.status, answer.content, answer.headers.get("date"))

    def close(self) -> None:
        """Let go of the connections; others are made when they are needed."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and pool[0] == os.getpid():
            pool[1].close()

    def _connections(self) -> KeptConnections:
        """Those of this process: two must never speak over one."""
        pool = self._pool
        if pool is not None and pool[0] == os.getpid():
            return pool[1]
        with self._lock:
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), self._new_pool()
            return self._pool[1]

    def _new_pool(self) -> KeptConnections:
        settings = self._settings
        return KeptConnections(
            self.root,
            most=settings.connections,
            connect_seconds=settings.connect_seconds,
            answer_seconds=settings.answer_seconds,
            ca_file=settings.ca_file,
        )
