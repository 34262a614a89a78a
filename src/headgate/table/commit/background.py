"""What follows a commit and must never fail it: publishing, checkpoints and checksums.

In the background one thread does it for every table of a lake, when the commits of this process pause,
so that a burst to many tables is not slowed down by its own publishing: at the latest once two seconds
have passed (ten times ``publish_quiet_seconds``), or ``publish_batch`` commits. Of several processes that
commit to one table, only the last committer publishes, so they do not do each other's work; each
``publish_batch``-th version is published at once by whoever committed it. Whoever commits a
version that is a multiple of the table's checkpoint interval sees to the checkpoint.
"""

import atexit
import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from headgate.errors import HeadgateError
from headgate.protocol.actions import Version
from headgate.settings import Publish, Settings
from headgate.table.commit.post_commit import RETRY_SECONDS, LogUpkeep

_LOG = logging.getLogger(__name__)
_LONGEST_BURST = 10
"""How many times the quiet moment a burst may put off what waits."""


@dataclass(frozen=True, slots=True)
class _ScheduledUpkeep:
    """What waits for one table, from when on, and when even a burst of commits puts it off no longer."""

    version: Version
    interval: int
    at: float
    latest: float
    checkpoint: bool

    @property
    def at_once(self) -> bool:
        return self.latest == 0

    def due_at(self, quiet_at: float) -> float:
        """When to see to it, if the burst ends then."""
        return max(self.at, min(self.latest, quiet_at))


class PostCommitScheduler:
    """Keeps the logs of tables as the settings say; safe to share between threads."""

    def __init__(
        self,
        settings: Settings,
        then: Callable[[], None] = lambda: None,
        gathering: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``then`` is done after tables were seen to, for whatever is not about one table.

        While they are, ``gathering`` may keep what is said of them to whoever decides their commits.
        """
        self._settings = settings
        self._gathering = gathering
        self._then = then
        self._wake = threading.Condition()
        self._waiting: dict[LogUpkeep, _ScheduledUpkeep] = {}
        self._quiet_at = 0.0
        self._commits = 0
        self._thread: threading.Thread | None = None
        self._closed = False

    def committed(self, keeper: LogUpkeep, version: Version, *, interval: int) -> None:
        """To be called once ``version`` is ratified, of a table with this checkpoint interval."""
        due = version > 0 and version % interval == 0
        match self._settings.publish:
            case Publish.NOW:
                keeper.end_checkpoint_rest()
                keeper.keep(version, interval=interval, urgent=True, due=due)
                self._then()
            case Publish.SOON:
                self._schedule(keeper, version, interval=interval, due=due)
            case Publish.ON_DEMAND:
                self._then()

    def close(self) -> None:
        """Do what still waits, and stop."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()
            atexit.unregister(self.close)

    def _schedule(self, keeper: LogUpkeep, version: Version, *, interval: int, due: bool) -> None:
        full = version % self._settings.publish_batch == 0
        with self._wake:
            idle, now = not self._waiting, time.monotonic()
            waiting = self._waiting.get(keeper)
            latest = now + _LONGEST_BURST * self._settings.publish_quiet_seconds
            if waiting is not None:
                latest, due = min(latest, waiting.latest), due or waiting.checkpoint
            self._waiting[keeper] = _ScheduledUpkeep(version, interval, now, 0.0 if full else latest, due)
            self._commits += 1
            full = full or self._commits % self._settings.publish_batch == 0
            # A burst is one, however many tables it goes to.
            self._quiet_at = 0.0 if full else now + self._settings.publish_quiet_seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headgate-publisher", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            if full or idle:
                self._wake.notify()

    def _run(self) -> None:
        while (ready := self._next_ready()) is not None:
            try:
                with self._gathering():
                    for keeper, work in ready:
                        self._keep(keeper, work)
            except HeadgateError as exc:
                _LOG.warning("what was published was not written down yet, and will be tried again: %s", exc)
                self._try_again(ready)
            self._then()

    def _try_again(self, ready: list[tuple[LogUpkeep, _ScheduledUpkeep]]) -> None:
        if not self._closed:
            for keeper, work in ready:
                self._come_again(keeper, work, RETRY_SECONDS)

    def _next_ready(self) -> list[tuple[LogUpkeep, _ScheduledUpkeep]] | None:
        """Wait for what is to be done next; None once there is nothing left to do."""
        with self._wake:
            while self._waiting or not self._closed:
                now = time.monotonic()
                ready = [
                    item
                    for item in self._waiting.items()
                    if self._closed or item[1].due_at(self._quiet_at) <= now
                ]
                if ready:
                    for keeper, _ in ready:
                        del self._waiting[keeper]
                    return ready
                soonest = min((work.due_at(self._quiet_at) for work in self._waiting.values()), default=None)
                self._wake.wait(None if soonest is None else soonest - now)
        return None

    def _keep(self, keeper: LogUpkeep, work: _ScheduledUpkeep) -> None:
        if work.at_once and not work.checkpoint and not self._closed:
            if keeper.publish():
                self._come_again(keeper, work, RETRY_SECONDS)
            return
        if self._closed:
            keeper.end_checkpoint_rest()
        again = keeper.keep(work.version, interval=work.interval, urgent=work.at_once, due=work.checkpoint)
        if again is not None and not self._closed:
            self._come_again(keeper, work, again)

    def _come_again(self, keeper: LogUpkeep, work: _ScheduledUpkeep, seconds: float) -> None:
        with self._wake:
            later = time.monotonic() + seconds
            again = replace(work, at=later, latest=later)
            newer = self._waiting.get(keeper)
            if newer is not None:
                again = replace(newer, checkpoint=newer.checkpoint or work.checkpoint)
            self._waiting[keeper] = again
