"""How does a process learn of commits that others make? One thread follows the events of a catalog for all.

It runs while somebody waits for a new version, and ends a few seconds after. Where there are no events, or
the catalog does not answer, it says so, and whoever waits looks for himself.
"""

import logging
import threading
import time
from collections.abc import Callable

from headgate.catalog.ports.events import EventFeed
from headgate.errors import HeadgateError, InvalidRequest, UnsupportedFeature
from headgate.table.commit_signals import COMMIT_SIGNALS, CommitSignals

_LOG = logging.getLogger(__name__)
_PAGE = 1_000
_SHARE = 10
"""Of its time it spends at most this part asking, however slow the catalog is."""
_LINGERS_SECONDS = 5.0
"""For how long it goes on when nobody waits any more."""
_AFTER_FAILURE_SECONDS = 1.0


class EventFollower:
    """Follows the events of one catalog; safe to share between threads."""

    def __init__(
        self,
        feed: EventFeed,
        *,
        every: float,
        signals: CommitSignals = COMMIT_SIGNALS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._feed, self._every, self._signals, self._now = feed, every, signals, now
        self.heard = float("-inf")
        """Of all that was committed until then it was told."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted_until = 0.0
        self._is_live = False
        self._is_useless = False

    def follow(self) -> bool:
        """Have events followed for a while; whether they are by now, so that commits are told of."""
        self._wanted_until = self._now() + _LINGERS_SECONDS
        if self._thread is None and not self._is_useless:
            self._start()
        return self._is_live

    def close(self) -> None:
        """Follow no more."""
        self._is_useless = True
        self._stop.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headgate-event-follower", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        cursor: int | None = None
        while self._is_wanted():
            began = self._now()
            try:
                cursor, is_all = self._begin() if cursor is None else self._tell_after(cursor)
                if is_all:
                    self.heard = began
                pause = max(self._every, _SHARE * (self._now() - began)) if is_all else 0.0
            except UnsupportedFeature:  # a catalog without events
                self._is_useless, pause = True, 0.0
            except HeadgateError as exc:
                _LOG.info("events are not followed just now: %s", exc)
                # Of those that are forgotten nobody can tell: it begins anew with what is newest.
                cursor, self._is_live = None, False
                pause = self._every if isinstance(exc, InvalidRequest) else _AFTER_FAILURE_SECONDS
            self._stop.wait(pause)

    def _is_wanted(self) -> bool:
        with self._lock:
            wanted = not self._is_useless and self._now() < self._wanted_until
            if not wanted:
                self._is_live, self._thread = False, None
            return wanted

    def _begin(self) -> tuple[int, bool]:
        cursor = self._feed.newest()
        self._is_live = True
        self._signals.tell_all()  # of what was committed until here
        return cursor, True

    def _tell_after(self, cursor: int) -> tuple[int, bool]:
        """Tell of a page of events; how far it goes, and whether there are no more."""
        found = self._feed.after(cursor, limit=_PAGE)
        self._signals.tell({event.table_id for event in found if event.table_id is not None})
        return found[-1].cursor if found else cursor, len(found) < _PAGE
