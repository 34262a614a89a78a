"""A proxy before an HTTP server that loses, doubles, cuts and delays what it is told to."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.support.waiting import PATIENCE_SECONDS


class Fault(Enum):
    """What becomes of a request, or of its answer."""

    UNHEARD = "the request does not arrive, and the connection breaks"
    LOST = "the request is carried out, and the connection breaks before the answer"
    FAILED = "the request is carried out, and answered 500"
    CUT = "the request is carried out, and half of the answer arrives"
    DOUBLED = "the request is carried out twice, and the second answer arrives"
    MISSING = "the server does not know the route"


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    body: bytes


@dataclass
class Proxy:
    """Passes everything on; each rule is for one request, or for all if it is for ever."""

    url: str
    rules: list[tuple[str, str, Fault]] = field(default_factory=list)
    hidden: tuple[str, ...] = ()
    """What is in the path of routes that the server seems not to have."""
    seen: list[Seen] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def arm(self, method: str, path: str, fault: Fault, *, times: int = 1) -> None:
        """Let this befall the next requests of that method with this in their path or body."""
        self.rules += [(method, path, fault)] * times

    def fault(self, asked: Seen) -> Fault | None:
        with self._lock:
            self.seen.append(asked)
            if any(part in asked.path for part in self.hidden):
                return Fault.MISSING
            for rule in self.rules:
                if rule[0] == asked.method and rule[1] in asked.path + asked.body.decode():
                    self.rules.remove(rule)
                    return rule[2]
            return None


@contextmanager
def faulty(upstream: str) -> Iterator[Proxy]:
    """A proxy before the server at this address, until the block ends."""
    host = urlsplit(upstream).netloc

    def forward(asked: Seen, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(host, timeout=PATIENCE_SECONDS)
        try:
            connection.request(asked.method, asked.path, asked.body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked = Seen(self.command, self.path, body)
            kept = ("Authorization", "Content-Type")
            headers = {name: self.headers[name] for name in kept if self.headers[name]}
            fault = running.fault(asked)
            if fault is Fault.MISSING:
                return self._answer(404, b"<html>there is nothing here</html>")
            if fault is Fault.UNHEARD:
                return self._hang_up()
            status, content = forward(asked, headers)
            if fault is Fault.DOUBLED:
                status, content = forward(asked, headers)
            if fault is Fault.LOST:
                return self._hang_up()
            if fault is Fault.FAILED:
                return self._answer(500, b'{"error":{"message":"broken","type":"InternalException"}}')
            return self._answer(status, content, cut=fault is Fault.CUT)

        do_GET = do_POST = do_DELETE = do_HEAD = do_PATCH = _handle  # noqa: N815

        def _hang_up(self) -> None:
            self.close_connection = True

        def _answer(self, status: int, content: bytes, *, cut: bool = False) -> None:
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            self.close_connection = cut

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running = Proxy(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_SECONDS)
