"""How does one request get its answer, or what is known if it does not? Over kept connections, with TLS.

Either nothing was sent, so nothing can have happened; or it was, and no whole answer came. Which of the two
is all that a client needs to know to go on rightly.
"""

import os
import secrets
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass

import urllib3
from typing_extensions import override
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, SSLError

from headgate import tracing
from headgate.catalog.wire.lake_description import CALL_ID
from headgate.settings import HttpSettings


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
        self._pool: tuple[int, urllib3.PoolManager] | None = None

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
        named = {CALL_ID: call, **tracing.carrier()} if self._echoes else tracing.carrier()
        sent = {"Content-Type": "application/json", **named, **self._authorization, **headers}
        try:
            answer = self._connections().request(
                method, self.root + path, body=body, headers=sent, preload_content=False,
                redirect=False, retries=False,
            )  # fmt: skip
            if self._echoes and answer.headers.get(CALL_ID) != call and answer.status < 400:
                answer.close()
                self.close()  # what else waits on these connections may be as late
                raise AnswerLost("what came is not the answer to this request")
            return HttpAnswer(answer.status, answer.read(), answer.headers.get("Date"))
        except (NewConnectionError, ConnectTimeoutError) as exc:
            raise NotSent(str(exc)) from exc
        except SSLError as exc:
            if isinstance(exc.args[0] if exc.args else None, ssl.SSLCertVerificationError):
                raise NotSent(f"its certificate is not trusted: {exc}") from exc
            raise AnswerLost(str(exc)) from exc
        except (HTTPError, OSError) as exc:
            raise AnswerLost(str(exc) or type(exc).__name__) from exc

    def close(self) -> None:
        """Let go of the connections; others are made when they are needed."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None and pool[0] == os.getpid():
            pool[1].clear()

    def _connections(self) -> urllib3.PoolManager:
        """Those of this process: two must never speak over one."""
        with self._lock:
            if self._pool is None or self._pool[0] != os.getpid():
                self._pool = os.getpid(), self._new_pool()
            return self._pool[1]

    def _new_pool(self) -> urllib3.PoolManager:
        settings = self._settings
        return urllib3.PoolManager(
            maxsize=settings.connections,
            timeout=urllib3.Timeout(connect=settings.connect_seconds, read=settings.answer_seconds),
            cert_reqs="CERT_REQUIRED",
            ca_certs=settings.ca_file,
        )
