"""A proxy in front of an S3 server that spoils requests as a script tells it."""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from typing_extensions import override

from tests.support.waiting import PATIENCE_SECONDS


class Fault(Enum):
    """What happens to a request."""

    PASS = auto()
    CONFLICT = auto()
    """Not forwarded, answered 409 as S3 does while another request for the key is under way."""
    UNAVAILABLE = auto()
    """Not forwarded, answered 503."""
    FORBIDDEN = auto()
    """Not forwarded, answered 403."""
    CUT = auto()
    """Not forwarded, the connection closed."""
    LOSE_REPLY = auto()
    """Forwarded, the connection closed instead of a reply."""
    FAIL_AFTERWARDS = auto()
    """Forwarded, and answered 500 whatever the server said."""
    STALL = auto()
    """Forwarded, and answered only when the client has long given up."""
    ARRIVE_LATE = auto()
    """The connection closed at once, the request forwarded later."""
    UNCONDITIONAL = auto()
    """Forwarded without its condition, as stores do that have never heard of it."""


ANSWERED = {Fault.CONFLICT: 409, Fault.UNAVAILABLE: 503, Fault.FORBIDDEN: 403}
"""Faults that the server never hears of, with what the client is told."""


@dataclass(frozen=True)
class Request:
    """A request before it is forwarded; its number counts from 0 since the script was given."""

    number: int
    method: str
    path: str
    is_conditional: bool


Script = Callable[[Request], Fault]


def passing(_: Request) -> Fault:
    """Spoil nothing."""
    return Fault.PASS


@dataclass
class Proxy:
    """A running proxy; ``script`` may be changed at any time."""

    target: str
    late_seconds: float
    url: str = ""
    seen: list[tuple[Request, Fault]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    late: list[threading.Thread] = field(default_factory=list)
    _script: Script = passing
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, script: Script) -> None:
        """Follow this script, counting from 0 again."""
        with self._lock:
            self._script, self.seen = script, []

    def judge(self, method: str, path: str, *, is_conditional: bool) -> Fault:
        """What the script has for this request."""
        with self._lock:
            request = Request(len(self.seen), method, path, is_conditional)
            fault = self._script(request)
            self.seen.append((request, fault))
            return fault

    def settle(self) -> None:
        """Pass everything from now on, once what was to arrive late has arrived."""
        self.play(passing)
        for thread in self.late:
            thread.join()
        self.late.clear()


@contextmanager
def proxy(target: str, *, late_seconds: float = 0.05) -> Iterator[Proxy]:
    """A proxy for the server at ``target`` that runs for a while."""
    running = Proxy(target.removeprefix("http://"), late_seconds)
    handler = type("Handler", (_Handler,), {"proxy": running})
    with _Server(("127.0.0.1", 0), handler) as server:
        running.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.settle()
            running.closing.set()
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


class _Handler(BaseHTTPRequestHandler):
    proxy: ClassVar[Proxy]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every reply with a body waits 40 ms

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        is_conditional = "if-none-match" in self.headers
        fault = self.proxy.judge(self.command, self.path, is_conditional=is_conditional)
        match fault:
            case Fault.CONFLICT | Fault.UNAVAILABLE | Fault.FORBIDDEN:
                self._answer(ANSWERED[fault], {}, b"")
            case Fault.CUT:
                self.close_connection = True
            case Fault.ARRIVE_LATE:
                self._forward_later(body)
                self.close_connection = True
            case Fault.LOSE_REPLY:
                self._forward(body)
                self.close_connection = True
            case Fault.STALL:
                self._forward(body)
                self.proxy.closing.wait(2)
                self.close_connection = True
            case Fault.FAIL_AFTERWARDS:
                self._forward(body)
                self._answer(500, {}, b"")
            case Fault.UNCONDITIONAL:
                del self.headers["if-none-match"]
                self._answer(*self._forward(body))
            case Fault.PASS:
                self._answer(*self._forward(body))

    do_PUT = do_HEAD = do_POST = do_DELETE = do_GET  # noqa: N815 — names that the server asks for

    def _forward_later(self, body: bytes) -> None:
        def forward() -> None:
            self.proxy.closing.wait(self.proxy.late_seconds)
            self._forward(body)

        thread = threading.Thread(target=forward)
        self.proxy.late.append(thread)
        thread.start()

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.proxy.target, timeout=PATIENCE_SECONDS)
        try:
            connection.request(self.command, self.path, body or None, dict(self.headers.items()))
            reply = connection.getresponse()
            return reply.status, dict(reply.headers.items()), reply.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        kept = {name.lower(): value for name, value in headers.items()}
        self.send_response_only(status)
        for name, value in kept.items():
            if name not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        length = kept.get("content-length", "0") if self.command == "HEAD" else str(len(body))
        self.send_header("content-length", length)
        self.end_headers()
        self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass
