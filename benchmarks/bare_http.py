"""What do a request and its answer cost by themselves? An echo in the same server, asked by the same client.

    with serving() as url:
        elapsed, seconds = exchanges(url, clients=64, each=12, body=b"…")

Nothing is decoded, ratified or written down, so no commit through a server is faster than this.
"""

import multiprocessing
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from typing import Any

from headgate.catalog.rest.connections import KeptConnections
from tests.support.http_server import free_port

PATIENCE_SECONDS = 600
_MOST_PROCESSES = 4
_SERVE = """
import asyncio, sys, uvloop
from granian.server.embed import Server

async def echo(scope, receive, send):
    if scope["type"] != "http":
        return
    body = (await receive())["body"]
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})

with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    server = Server(echo, address="127.0.0.1", port=int(sys.argv[1]), interface="asgi", log_enabled=False)
    runner.run(server.serve())
"""

_PROCESSES = multiprocessing.get_context("forkserver")


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server that answers each request with its body, until the block ends."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(port)])
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(PATIENCE_SECONDS)


def exchanges(url: str, *, clients: int, each: int, body: bytes) -> tuple[float, list[float]]:
    """How long it took so many clients to ask so often, from first to last, and each exchange."""
    processes = min(_MOST_PROCESSES, clients)
    together, answers = _PROCESSES.Barrier(clients), _PROCESSES.Queue()
    shares = [len(range(number, clients, processes)) for number in range(processes)]
    started = [
        _PROCESSES.Process(target=_work, args=(url, share, each, body, together, answers)) for share in shares
    ]
    for process in started:
        process.start()
    ends: list[Any] = [answers.get(timeout=PATIENCE_SECONDS) for _ in range(clients)]
    for process in started:
        process.join()
    elapsed = max(ended for _, ended, _ in ends) - min(began for began, _, _ in ends)
    return elapsed, [second for _, _, seconds in ends for second in seconds]


def _work(url: str, clients: int, each: int, body: bytes, together: Barrier, answers: "Queue[Any]") -> None:
    connections = KeptConnections(
        url, most=clients, connect_seconds=PATIENCE_SECONDS, answer_seconds=PATIENCE_SECONDS, ca_file=None
    )

    def ask() -> None:
        connections.exchange("POST", "/", {}, body)
        together.wait(PATIENCE_SECONDS)
        seconds, began = list[float](), time.monotonic()
        for _ in range(each):
            start = time.perf_counter()
            connections.exchange("POST", "/", {"Content-Type": "application/json"}, body)
            seconds.append(time.perf_counter() - start)
        answers.put((began, time.monotonic(), seconds))

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
