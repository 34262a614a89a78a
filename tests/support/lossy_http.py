"""A way to a server on which an answer is lost: the work was done, and the client does not hear of it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3

from tests.support.waiting import PATIENCE_SECONDS


class Loss(Enum):
    """What the client gets instead."""

    ERROR = "status 500"
    SILENCE = "a connection that ends"


@dataclass
class LossyWay:
    """Passes requests on; the next ``count`` answers to those that match are lost."""

    target: str
    url: str = ""
    method: str = ""
    part: str = ""
    loss: Loss = Loss.ERROR
    count: int = 0
    passed: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, path and the status that the server answered, in order; lost or not."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def lose(self, method: str, part: str, loss: Loss, *, count: int = 1) -> None:
        self.method, self.part, self.loss, self.count = method, part, loss, count

    def is_lost(self, method: str, path: str, status: int) -> bool:
        with self.lock:
            self.passed.append((method, path, status))
            wanted = self.count > 0 and method == self.method and self.part in path
            self.count -= wanted
            return wanted


def _handler(way: LossyWay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kept = {
                name: value
                for name, value in self.headers.items()
                if name.lower() not in ("host", "content-length", "connection")
            }
            answer = urllib3.request(
                self.command,
                way.target + self.path,
                body=body or None,
                headers=kept,
                retries=False,
                timeout=PATIENCE_SECONDS,
            )
            lost = way.is_lost(self.command, self.path, answer.status)
            if lost and way.loss is Loss.SILENCE:
                self.close_connection = True
                return
            self.send_response(500 if lost else answer.status)
            content = b"{}" if lost else answer.data
            self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _pass_on  # noqa: N815

        def log_message(self, *_: object) -> None:
            """The tests say what they saw."""

    return Handler


@contextmanager
def lossy(target: str) -> Iterator[LossyWay]:
    """A way to the server at ``target``, until the block ends."""
    way = LossyWay(target)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(way))
    server.daemon_threads = True
    way.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield way
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=PATIENCE_SECONDS)
