"""How does a server stop without losing an answer? It takes nothing new, and waits for what it has begun."""

import asyncio
import threading

from headgate.errors import CatalogUnavailable


class Drain:
    """Counts the requests in flight, and says when no more are taken; safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._in_flight = 0
        self._draining = threading.Event()

    @property
    def is_draining(self) -> bool:
        """Whether the server is about to stop."""
        return self._draining.is_set()

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""
        with self._lock:
            return self._in_flight

    def enter(self, *, exempt: bool) -> None:
        """A request begins; ``CatalogUnavailable`` if none is taken now. Probes are ``exempt``."""
        with self._lock:
            if not exempt and self.is_draining:
                raise _refused("the server is about to stop", "HEADGATE_SERVER_STOPPING")
            if not exempt and self._in_flight >= self._most:
                raise _refused(f"the server has {self._most} requests already", "HEADGATE_SERVER_BUSY")
            self._in_flight += 1

    def leave(self) -> None:
        """A request has its answer."""
        with self._lock:
            self._in_flight -= 1

    def begin(self) -> None:
        """Take nothing new from here on; streams end."""
        self._draining.set()

    async def wait_until_empty(self, seconds: float) -> bool:
        """Wait until every request has its answer, so long at most; whether they all have."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while self.in_flight and loop.time() < deadline:
            await asyncio.sleep(0.01)
        return not self.in_flight


def _refused(why: str, code: str) -> CatalogUnavailable:
    return CatalogUnavailable(f"{why}; nothing was changed: come again in a moment", code=code)
