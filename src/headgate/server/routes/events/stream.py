"""How is an event told to whoever stays on the line? As server-sent events, each with its cursor as its id.

    id: 41
    event: commit
    data: {"cursor":41,"kind":"commit","table":"sales.orders",…}

Whoever comes back with ``Last-Event-ID: 41`` goes on with 42. Now and then it says ``: alive``, and asks anew
who is on the line: a stream ends when the caller's token is no longer good, and when the server is about to
stop.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec
from litestar.concurrency import sync_to_thread

from headgate.catalog.ports.events import Event, EventFeed
from headgate.errors import CatalogUnavailable, NotAuthenticated
from headgate.server.operations.parts import Operations

_PAGE = 500
_HEARTBEAT = b": alive\n\n"


@dataclass(frozen=True, slots=True)
class EventStream:
    """The events of one lake for one caller, from a cursor on."""

    feed: EventFeed
    cursor: int
    operations: Operations
    authenticate: Callable[[], object]
    """``NotAuthenticated`` once the caller's token is no longer good."""

    async def lines(self) -> AsyncIterator[bytes]:
        """The stream, until something ends it."""
        settings, cursor, asked = self.operations.settings, self.cursor, time.monotonic()
        yield _HEARTBEAT
        while not self.operations.drain.is_draining:
            if time.monotonic() - asked >= settings.heartbeat_seconds:  # however much there is to tell
                if not await self._is_still_known():
                    return
                yield _HEARTBEAT
                asked = time.monotonic()
            found, cursor = await self._after(cursor)
            if found:
                yield b"".join(format_event(event) for event in found)
            if len(found) < _PAGE:
                await asyncio.sleep(settings.events_seconds)

    async def _after(self, cursor: int) -> tuple[tuple[Event, ...], int]:
        try:
            return await sync_to_thread(next_page, self.feed, cursor, _PAGE)
        except CatalogUnavailable:  # it may pass, and nothing is missed
            return (), cursor

    async def _is_still_known(self) -> bool:
        try:
            await sync_to_thread(self.authenticate)
        except NotAuthenticated:
            return False
        return True


def next_page(feed: EventFeed, cursor: int, limit: int) -> tuple[tuple[Event, ...], int]:
    """What happened after a cursor, and the one to go on from.

    It moves past what the caller may not see, which would else be looked through anew at every look (T10).
    """
    newest = feed.newest()
    found = feed.after(cursor, limit=limit)
    if len(found) == limit:
        return found, found[-1].cursor
    return found, max([cursor, newest, *(event.cursor for event in found[-1:])])


def format_event(event: Event) -> bytes:
    """One event as it goes over the line; JSON has no line breaks of its own."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (
        event.cursor, event.kind.value.encode(), msgspec.json.encode(event),
    )  # fmt: skip
