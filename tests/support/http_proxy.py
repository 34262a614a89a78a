"""A proxy in front of an HTTP server on loopback that loses, cuts, repeats and delays what passes through it.

What is delayed arrives when something else has passed, not after a time: so a request may be carried out
after its client has asked again, and been answered.
"""

import random
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum

from tests.support.waiting import PATIENCE_SECONDS


class Fault(Enum):
    """What happens to one request and its answer."""

    NONE = "nothing"
    LOST_REQUEST = "the server never hears it"
    LOST_ANSWER = "the server does it, and the answer is lost"
    HALF_ANSWER = "the answer is cut off in the middle"
    TWICE_ASKED = "the server hears it twice, and the second answer is passed on"
    TWICE_ANSWERED = "the answer comes twice"
    DELAYED = "the client is hung up on, and the server hears it later"
    GATEWAY = "a gateway answers 502, and the server has done it"


_BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 15\r\n\r\n<html>no</html>"


class FaultyProxy:
    """Passes requests on, each with a fault or none; ``choose`` is asked for each."""

    def __init__(self, port: int, choose: Callable[[bytes], Fault]) -> None:
        self._port = port
        self._choose = choose
        self._lock = threading.Lock()
        self._late: list[bytes] = []
        self.seen: Counter[Fault] = Counter()
        self.requests: list[str] = []
        """The path of each, in order."""
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def serve(self) -> None:
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept nobody any more, and deliver what is late."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.deliver()

    def deliver(self) -> None:
        """Have the server hear what was delayed."""
        with self._lock:
            late, self._late = self._late, []
        for request in late:
            self._ask(request)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        with client, suppress(OSError), client.makefile("rb") as incoming:
            while request := _message(incoming):
                with self._lock:
                    fault = self._choose(request)
                    self.seen[fault] += 1
                    self.requests.append(request.split(b" ", 2)[1].decode())
                if not self._pass_on(client, request, fault):
                    return

    def _pass_on(self, client: socket.socket, request: bytes, fault: Fault) -> bool:
        """Whether the connection is still good."""
        match fault:
            case Fault.NONE:
                client.sendall(self._ask(request))
                self.deliver()
                return True
            case Fault.TWICE_ASKED:
                self._ask(request)
                client.sendall(self._ask(request))
                return True
            case Fault.TWICE_ANSWERED:
                client.sendall(self._ask(request) * 2)
                return True
            case Fault.LOST_ANSWER:
                self._ask(request)
            case Fault.HALF_ANSWER:
                answer = self._ask(request)
                client.sendall(answer[: max(1, len(answer) * 2 // 3)])
            case Fault.GATEWAY:
                self._ask(request)
                client.sendall(_BAD_GATEWAY)
            case Fault.DELAYED:
                with self._lock:
                    self._late.append(request)
            case Fault.LOST_REQUEST:
                pass
        return False

    def _ask(self, request: bytes) -> bytes:
        """The answer of the server, over a connection of its own."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE_SECONDS) as server:
            server.sendall(request)
            with server.makefile("rb") as incoming:
                return _message(incoming)


def _message(incoming: "socket.SocketIO | object") -> bytes:
    """One whole request or answer; empty at the end."""
    head, length = b"", 0
    while line := incoming.readline():  # type: ignore[union-attr]
        head += line
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        if line == b"\r\n":
            return head + bytes(incoming.read(length))  # type: ignore[union-attr]
    return b""


def seeded(seed: str, weights: Mapping[Fault, int]) -> Callable[[bytes], Fault]:
    """Chooses faults by chance, so often each."""
    chance, faults = random.Random(seed), list(weights)
    return lambda _: chance.choices(faults, list(weights.values()))[0]


@contextmanager
def faulty_proxy(port: int, choose: Callable[[bytes], Fault] = lambda _: Fault.NONE) -> Iterator[FaultyProxy]:
    """A proxy to the server at ``port``."""
    made = FaultyProxy(port, choose)
    made.serve()
    try:
        yield made
    finally:
        made.close()
