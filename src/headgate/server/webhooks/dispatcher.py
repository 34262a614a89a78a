"""How does a webhook hear of every event? In order, at least once each, however often its receiver is away.

One process at a time delivers for a webhook, by a lease in the catalog, where its cursor is kept too: whoever
goes on after a crash repeats at most the last call. A receiver that refuses or does not answer is called
again, after pauses that grow. One that never takes a call becomes a dead letter: it stands still, nothing
of what it missed is lost while the lake keeps its events, and a start of the server tries again.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from enum import Enum

import msgspec
import urllib3

from headgate.catalog.ports.events import Event, EventFeed
from headgate.errors import HeadgateError
from headgate.server.lakes import ServedLake
from headgate.server.webhooks import signature, targets
from headgate.server.webhooks.registration import Webhook, read_secret
from headgate.table.maintenance.lease_handle import Lease

_LOG = logging.getLogger(__name__)
_PAGE = 100
_ATTEMPTS = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 300.0
_LEASE_MS = 60_000


class WebhookState(Enum):
    """How a webhook is doing."""

    WAITING = "waiting"
    """Another process delivers, or there is nothing to deliver yet."""
    DELIVERING = "delivering"
    RETRYING = "retrying"
    DEAD = "dead"
    """Its receiver took no call for too long, or may not be called."""


class WebhookStatus(msgspec.Struct, frozen=True):
    """A webhook as its owner sees it; no address and no secret."""

    name: str
    state: WebhookState
    cursor: int | None
    attempts: int
    problem: str | None


class WebhookDispatcher:
    """Delivers to one webhook, on a thread of its own."""

    def __init__(  # noqa: PLR0913 — ports, each with what a test puts in its place
        self,
        hook: Webhook,
        lake: ServedLake,
        called: Callable[[str, str], None],
        *,
        private: bool = False,
        seconds: float = 0.5,
        attempts: int = _ATTEMPTS,
        first_pause: float = _FIRST_PAUSE,
        resolve: targets.Resolve = targets.resolve_host,
    ) -> None:
        self._hook, self._lake, self._called = hook, lake, called
        self._private, self._seconds, self._most = private, seconds, attempts
        self._first_pause = first_pause
        self._resolve = resolve
        self._secret = read_secret(hook)
        self._stop = threading.Event()
        self._state, self._attempts, self._problem = WebhookState.WAITING, 0, ""
        self._cursor: int | None = None
        self._thread = threading.Thread(target=self._run, name=f"headgate-webhook-{hook.name}", daemon=True)

    @property
    def lake(self) -> str:
        """The name of the lake it is of."""
        return self._lake.name

    def start(self) -> None:
        """Begin, on the thread."""
        self._thread.start()

    def close(self) -> None:
        """Stop; a call that is under way comes to its end."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def status(self) -> WebhookStatus:
        """How it is doing."""
        return WebhookStatus(
            self._hook.name, self._state, self._cursor, self._attempts, self._problem or None
        )

    def _run(self) -> None:
        while not self._stop.is_set() and self._state is not WebhookState.DEAD:
            try:
                self._deliver_while_held()
            except HeadgateError as exc:
                self._problem = exc.message
                _LOG.warning("the webhook %s cannot go on at the moment: %s", self._hook.name, exc)
            self._stop.wait(self._seconds)

    def _deliver_while_held(self) -> None:
        leases = self._lake.catalog.leases
        holder = f"{socket.gethostname()}/{os.getpid()}"
        held = leases.on_work(self._hook.follower, holder=holder, ttl_ms=_LEASE_MS)
        if held is None:
            self._state = WebhookState.WAITING
            return
        with Lease(leases, held, ttl_ms=_LEASE_MS) as lease:
            feed = self._lake.catalog.events
            self._cursor = self._start(feed)
            while not self._stop.is_set() and self._state is not WebhookState.DEAD:
                lease.check()
                if not self._deliver_page(feed):
                    self._stop.wait(self._seconds)

    def _start(self, feed: EventFeed) -> int:
        """Where it stopped; a new one begins with what happens from now on."""
        stored = feed.load_cursor(self._hook.follower)
        if stored is None:
            stored = feed.newest()
            feed.save_cursor(self._hook.follower, stored)
        return stored

    def _deliver_page(self, feed: EventFeed) -> bool:
        """Deliver what happened next; whether there was something."""
        found = feed.after(self._cursor or 0, limit=_PAGE)
        if not found:
            return False
        wanted = tuple(event for event in found if self._hook.wants(event))
        if wanted and not self._delivered(wanted):
            return True
        self._cursor = found[-1].cursor
        feed.save_cursor(self._hook.follower, self._cursor)
        return True

    def _delivered(self, events: tuple[Event, ...]) -> bool:
        """Call until it is taken; False if the server stops, or nobody takes it."""
        body = msgspec.json.encode({"lake": self.lake, "webhook": self._hook.name, "events": events})
        self._attempts, pause = 0, self._first_pause
        while not self._stop.is_set():
            if self._call(body):
                self._state, self._attempts, self._problem = WebhookState.DELIVERING, 0, ""
                return True
            self._attempts += 1
            if self._attempts >= self._most:
                self._give_up(events[0].cursor)
                return False
            self._state = WebhookState.RETRYING
            self._stop.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        return False

    def _call(self, body: bytes) -> bool:
        seconds = int(time.time())
        headers = {
            "Content-Type": "application/json",
            signature.HEADER: signature.sign(self._secret, body, seconds=seconds),
        }
        try:
            target = targets.pin_target(self._hook.url, private=self._private, resolve=self._resolve)
            status = targets.post(target, body, headers)
        except (urllib3.exceptions.HTTPError, OSError, HeadgateError, ValueError) as exc:
            return self._failed(exc.message if isinstance(exc, HeadgateError) else type(exc).__name__)
        if not 200 <= status < 300:
            return self._failed(f"the receiver answered {status}")
        self._called(self._hook.name, "delivered")
        return True

    def _failed(self, problem: str) -> bool:
        self._problem = problem
        self._called(self._hook.name, "failed")
        return False

    def _give_up(self, cursor: int) -> None:
        self._state = WebhookState.DEAD
        self._called(self._hook.name, "dead")
        _LOG.error(
            "the webhook %s took no call for event %s in %s attempts, and is not called any more "
            "until the server "
            "starts again: %s",
            self._hook.name,
            cursor,
            self._attempts,
            self._problem,
        )
