"""Services that give out tokens, on loopback: each request is kept, and answered as the test says."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.waiting import PATIENCE_SECONDS


@dataclass(frozen=True)
class Asked:
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class TokenServices:
    url: str
    answer: Callable[[Asked], tuple[int, bytes]]
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def token_services(answer: Callable[[Asked], tuple[int, bytes]]) -> Iterator[TokenServices]:
    """Services that answer by this function, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = Asked(self.path, dict(self.headers), body)
            running.asked.append(asked)
            status, content = running.answer(asked)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = TokenServices(f"http://127.0.0.1:{server.server_port}", answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_SECONDS)
