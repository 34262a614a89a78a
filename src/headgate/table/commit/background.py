"""What follows a commit and must never fail it: publishing, checkpoints and checksums.

In the background one thread does it for every table of a lake. Of several processes that commit
to one table, only the last committer publishes, so they do not do each other's work; each
``publish_batch``-th version is published at once by whoever committed it. Whoever commits a
version that is a multiple of the table's checkpoint interval sees to the checkpoint.
"""

import atexit
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from headgate.protocol.actions import Version
from headgate.settings import Publish, Settings
from headgate.table.commit.post_commit import RETRY_SECONDS, LogUpkeep


@dataclass(frozen=True, slots=True)
class _ScheduledUpkeep:
    """What waits for one table, and until when."""

    version: Version
    interval: int
    at: float
    checkpoint: bool

    @property
    def at_once(self) -> bool:
        return self.at == 0


class PostCommitScheduler:
    """Keeps the logs of tables as the settings say; safe to share between threads."""

    def __init__(self, settings: Settings, then: Callable[[], None] = lambda: None) -> None:
        """``then`` is done after a table was seen to, for whatever is not about one table."""
        self._settings = settings
        self._then = then
        self._wake = threading.Condition()
        self._waiting: dict[LogUpkeep, _ScheduledUpkeep] = {}
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
            idle = not self._waiting
            waiting = self._waiting.get(keeper)
            at_once = full or (waiting is not None and waiting.at_once)
            at = 0.0 if at_once else time.monotonic() + self._settings.publish_quiet_seconds
            due = due or (waiting is not None and waiting.checkpoint)
            self._waiting[keeper] = _ScheduledUpkeep(version, interval, at, due)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="headgate-publisher", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            if full or idle:
                self._wake.notify()

    def _run(self) -> None:
        while True:
            with self._wake:
                if not self._waiting and self._closed:
                    return
                now = time.monotonic()
                ready = [item for item in self._waiting.items() if item[1].at <= now or self._closed]
                if not ready:
                    soonest = min((work.at for work in self._waiting.values()), default=None)
                    self._wake.wait(None if soonest is None else soonest - now)
                    continue
                for keeper, _ in ready:
                    del self._waiting[keeper]
            for keeper, work in ready:
                self._keep(keeper, work)
            self._then()

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
            later = _ScheduledUpkeep(work.version, work.interval, time.monotonic() + seconds, work.checkpoint)
            newer = self._waiting.get(keeper)
            if newer is not None:
                due = newer.checkpoint or work.checkpoint
                later = _ScheduledUpkeep(newer.version, newer.interval, newer.at, due)
            self._waiting[keeper] = later
