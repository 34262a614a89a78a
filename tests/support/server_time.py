"""How much of the processor does a server take for a request? Others on the machine change little of it.

A slow machine must not fail a test, and a slow page must. So what a page takes is compared with a loop that
is run in the same process: where that takes as long as on the machine the limit was set on, the limit is as
it says; where it takes twice as long, so may the page.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

LIMIT_MS = 300
"""What a page may take."""
_LOOP_MS = 15
"""What the loop takes where the limit was set."""
_ROUNDS = 5
_STREAMS = "/live"

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]


class Asked(NamedTuple):
    """What is asked for: a page, or a part of it that it fetches by itself."""

    method: str
    path: str
    is_part: bool

    def __str__(self) -> str:
        return f"{self.method} {self.path}{' (part)' if self.is_part else ''}"


@dataclass(frozen=True)
class RequestTimes:
    """What the requests took, by what was asked for."""

    taken: dict[Asked, list[float]] = field(default_factory=dict)
    """Milliseconds of the processor, of all threads of this process."""

    def best(self) -> dict[Asked, float]:
        """The least of each: what it takes once templates and tables are known."""
        return {asked: min(taken) for asked, taken in self.taken.items()}

    def slow(self) -> list[Asked]:
        """What takes longer than it may on this machine."""
        return _above_limit(self.best())

    def slow_at_first(self) -> list[Asked]:
        """What took longer than it may on this machine when it was asked for first, and nothing beside it."""
        return _above_limit({asked: taken[0] for asked, taken in self.taken.items()})

    def told(self) -> str:
        """What everything took at best and at first, the slowest last."""
        rows = sorted((min(taken), taken[0], str(asked)) for asked, taken in self.taken.items())
        lines = (f"{best:8.1f} ms, {first:8.1f} at first  {asked}" for best, first, asked in rows)
        return "\n".join((f"the loop: {loop_ms():.1f} ms, with {_LOOP_MS} the limit is {LIMIT_MS}", *lines))


def _above_limit(taken: Mapping[Asked, float]) -> list[Asked]:
    most = LIMIT_MS * max(1.0, loop_ms() / _LOOP_MS)
    return [asked for asked, milliseconds in taken.items() if milliseconds > most]


def timed_app(app: App, times: RequestTimes) -> App:
    """The same application, which writes down what its requests take."""

    async def timed(
        scope: Scope, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        if scope["type"] != "http" or scope["path"].endswith(_STREAMS):
            await app(scope, receive, send)
            return
        began = time.process_time()
        try:
            await app(scope, receive, send)
        finally:
            times.taken.setdefault(_asked(scope), []).append((time.process_time() - began) * 1000)

    return timed


def _asked(scope: Scope) -> Asked:
    is_part = dict(scope["headers"]).get(b"hx-request-type") == b"partial"
    query = scope["query_string"].decode()
    return Asked(scope["method"], f"{scope['path']}{'?' + query if query else ''}", is_part)


def loop_ms() -> float:
    """What this process takes for a fixed piece of work; the least of some rounds."""
    return min(_loop() for _ in range(_ROUNDS)) * 1000


def _loop() -> float:
    began = time.thread_time()
    for number in range(50_000):
        msgspec.json.decode(msgspec.json.encode({"path": f"{number}.parquet", "size": number}))
    return time.thread_time() - began
