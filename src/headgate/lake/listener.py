"""How is a callback told of every event? At least once each, in order, on a thread of its own.

No commit waits for a listener. One that raises is called again with the same event, after a pause, until it
does not.
"""

import logging
import threading
from collections.abc import Callable, Collection

from headgate.catalog.ports.events import ALL_EVENT_KINDS, Event, EventFeed, EventKind
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError

_LOG = logging.getLogger(__name__)

_AT_ONCE = 200

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0


class Listener:
    """Calls back for each event, on a thread of its own, until it is closed."""

    def __init__(
        self,
        log: EventFeed,
        callback: Callable[[Event], None],
        *,
        kinds: Collection[EventKind] = ALL_EVENT_KINDS,
        after: int | None = None,
        name: str | None = None,
        every: float = 0.5,
    ) -> None:
        self._log = log
        self._callback = callback
        self._kinds = frozenset(kinds)
        self._name = name
        self._every = every
        self._stop = threading.Event()
        self._cursor = self._start(after)
        self._thread = threading.Thread(target=self._run, name="headgate-listener", daemon=True)
        self._thread.start()

    @property
    def cursor(self) -> int:
        """The last event that was handled; a listener that begins after it misses nothing."""
        return self._cursor

    def close(self, timeout: float | None = 10.0) -> None:
        """Call no more; an event that is being handled is finished, or given up after ``timeout``."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _start(self, after: int | None) -> int:
        stored = None if self._name is None else self._log.load_cursor(self._name)
        if stored is not None:
            self._log.after(stored, limit=1)
            return stored
        start = self._log.newest() if after is None else after
        self._log.after(start, limit=1)  # a cursor that is forgotten is refused here, and not on the thread
        if self._name is not None:
            self._log.save_cursor(self._name, start)
        return start

    def _run(self) -> None:
        pause = self._every
        while not self._stop.wait(pause):
            try:
                found = self._log.after(self._cursor, limit=_AT_ONCE)
                if found:
                    self._handle(found)
                pause = 0.0 if len(found) == _AT_ONCE else self._every
            except (CatalogUnavailable, CommitUnknown) as exc:
                _LOG.warning("a listener cannot reach the catalog and will try again: %s", exc)
                pause = max(self._every, _FIRST_PAUSE)
            except HeadgateError as exc:
                _LOG.error("a listener cannot go on after event %s: %s", self._cursor, exc)
                return

    def _handle(self, found: tuple[Event, ...]) -> None:
        try:
            for event in found:
                if event.kind in self._kinds and not self._delivered(event):
                    return
                self._cursor = event.cursor
        finally:
            if self._name is not None:
                self._log.save_cursor(self._name, self._cursor)

    def _delivered(self, event: Event) -> bool:
        """Call until it succeeds; False if the listener was closed before it did."""
        pause = _FIRST_PAUSE
        while not self._stop.is_set():
            try:
                self._callback(event)
            except Exception as exc:  # a listener may fail in any way, and that is its own matter
                _LOG.warning(
                    "a listener failed on event %s and is called again: %r",
                    event.cursor,
                    exc,
                    exc_info=pause == _FIRST_PAUSE,
                )
                self._stop.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                return True
        return False
