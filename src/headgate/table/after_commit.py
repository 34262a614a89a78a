"""What follows a commit and must never fail it: publishing.

In the background one thread publishes for every table of a lake. Of several processes that
commit to one table, only the last committer publishes, so they do not do each other's work; each
``publish_batch``-th version is published at once by whoever committed it.
"""

import atexit
import logging
import threading
import time

from headgate.errors import HeadgateError
from headgate.protocol.actions import Version
from headgate.settings import Publish, Settings
from headgate.table.committer import Committer

_LOG = logging.getLogger(__name__)


class AfterCommit:
    """Publishes as the settings say; safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._wake = threading.Condition()
        self._due: dict[Committer, tuple[Version, float]] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def committed(self, committer: Committer, version: Version) -> None:
        """To be called once ``version`` is ratified."""
        match self._settings.publish:
            case Publish.NOW:
                _publish(committer)
            case Publish.SOON:
                self._schedule(committer, version)
            case Publish.ON_DEMAND:
                pass

    def close(self) -> None:
        """Publish what still waits, and stop."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _schedule(self, committer: Committer, version: Version) -> None:
        full = version % self._settings.publish_batch == 0
        with self._wake:
            idle = not self._due
            waiting = self._due.get(committer)
            at_once = full or (waiting is not None and waiting[1] == 0)
            due = 0.0 if at_once else time.monotonic() + self._settings.publish_quiet_seconds
            self._due[committer] = version, due
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headgate-publisher", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            if full or idle:
                self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._due and self._closed:
                    return
                now = time.monotonic()
                ready = [item for item in self._due.items() if item[1][1] <= now or self._closed]
                if not ready:
                    soonest = min((due for _, due in self._due.values()), default=None)
                    self._wake.wait(None if soonest is None else soonest - now)
                    continue
                for committer, _ in ready:
                    del self._due[committer]
            for committer, (version, due) in ready:
                _publish(committer, unless_after=version if due else None)


def _publish(committer: Committer, *, unless_after: Version | None = None) -> None:
    """Publish; with ``unless_after`` only if no later version exists, whose committer would do it."""
    try:
        if unless_after is None or committer.frontier(known=unless_after).latest <= unless_after:
            committer.publish()
    except HeadgateError as exc:
        _LOG.warning(
            "a ratified commit could not be published yet; it is safe and will be tried again: %s", exc
        )
