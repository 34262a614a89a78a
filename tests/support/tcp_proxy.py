"""A wire to a server on loopback that can be cut at a chosen word of the client."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum


class Cut(Enum):
    """When the wire breaks."""

    BEFORE = "before the server hears the word"
    AFTER = "after the server has answered it"


@dataclass
class Wire:
    """Passes everything on until armed; then it breaks once, at the word."""

    port: int
    word: bytes = b""
    cut: Cut | None = None
    broken: int = 0
    _listening: socket.socket = field(default_factory=socket.socket)

    def arm(self, word: bytes, cut: Cut) -> None:
        self.word, self.cut = word, cut

    @property
    def entrance(self) -> int:
        return int(self._listening.getsockname()[1])

    def serve(self) -> None:
        """Accept clients until closed."""
        self._listening.bind(("127.0.0.1", 0))
        self._listening.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        _close(self._listening)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        threading.Thread(target=_pass_on, args=(server, client), daemon=True).start()
        with suppress(OSError):
            while data := client.recv(65536):
                if self.cut is not None and self.word in data:
                    self._break(client, server, data)
                    return
                server.sendall(data)
        _close(client, server)

    def _break(self, client: socket.socket, server: socket.socket, data: bytes) -> None:
        cut, self.cut = self.cut, None
        self.broken += 1
        # The client's side goes first, so that no answer can reach it.
        client.shutdown(socket.SHUT_RDWR)
        if cut is Cut.AFTER:
            server.sendall(data)
            # The end of the session comes behind the word, so it is carried out before the server hangs up.
            server.sendall(b"X\x00\x00\x00\x04")
            with suppress(OSError):
                while server.recv(65536):
                    pass
        _close(client, server)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        _close(source, target)


def _close(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def wire(port: int) -> Iterator[Wire]:
    """A wire to the server at ``port``."""
    made = Wire(port)
    made.serve()
    try:
        yield made
    finally:
        made.close()
