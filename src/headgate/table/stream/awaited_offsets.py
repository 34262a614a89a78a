"""What is Spark told while nothing happens? The offset that it has, and nobody is asked for it.

Spark asks for the latest offset every few milliseconds while there is nothing new. Each time the answer waits
a moment, which a commit ends: one of this process at once (``table/commit_signals.py``), one of another with
its event (``table/event_follower.py``). The catalog, or the log of a table by its path, is asked

    when a stream begins, and after each of its batches
    when a commit was signalled
    when the last time is a second ago
    when the wait is over, unless the events of all that was committed before it are known by then

so a signal that is lost costs time, and no row; and what is committed before Spark asks is in the answer,
which ``processAllAvailable`` relies on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from headgate.table.commit_signals import COMMIT_SIGNALS, CommitSignals
from headgate.table.stream.admission import ReadLimits
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.table_stream import TableStream

LONGEST_WAIT_SECONDS = 0.1
"""How long one answer waits: a query that is stopped, or has other sources, waits no longer either."""
LOOK_ANYWAY_SECONDS = 1.0
_AT_ONCE_SECONDS = 0.5
"""A query that asks again later has a trigger with an interval, and wants what there is at that moment."""


@dataclass(frozen=True, slots=True)
class _QuietRun:
    """A run of a query that was told that there is nothing new."""

    offset: StreamOffset
    seen: int
    """How many signals of its table there were when its catalog was asked."""
    told: int
    """How many signals there were of all tables when it was answered."""
    looked: float
    answered: float


class AwaitedOffsets:
    """The latest offsets of one stream, which several runs may read."""

    def __init__(
        self,
        stream: TableStream,
        *,
        signals: CommitSignals = COMMIT_SIGNALS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._signals, self._now = stream, signals, now
        self._follower = None if stream.table.member is None else stream.table.member.events
        names = [stream.columns.metadata.id]
        if stream.table.member is not None:
            names.append(stream.table.member.table_id)
        self._marks = [signals.mark(name) for name in names]
        self._quiet: dict[str, _QuietRun] = {}

    def latest_offset(
        self, run: str, start: StreamOffset | None, limits: ReadLimits | None, *, until: int | None
    ) -> StreamOffset:
        """Where the batch of a run ends that begins at ``start``, no further than the version ``until``."""
        quiet = self._quiet.get(run)
        if until is None and quiet is not None and quiet.offset == start and self._stays_quiet(quiet):
            self._quiet[run] = replace(quiet, told=self._signals.told, answered=self._now())
            return start
        seen, told, looked = self._signalled(), self._signals.told, self._now()
        end = self._stream.latest_offset(start, limits, until=until)
        if end == start:
            self._quiet[run] = _QuietRun(end, seen, told, looked, self._now())
        else:
            self.forget(run)
        return end

    def forget(self, run: str) -> None:
        """A run has ended, or goes on."""
        self._quiet.pop(run, None)

    def _stays_quiet(self, quiet: _QuietRun) -> bool:
        """Wait for a signal; whether nothing was committed before the wait that nobody has looked at."""
        asked = self._now()
        if asked - quiet.answered > _AT_ONCE_SECONDS or self._signalled() != quiet.seen:
            return False
        follower = self._follower
        is_followed = follower is not None and follower.follow()
        look_at = quiet.looked + (LOOK_ANYWAY_SECONDS if is_followed else LONGEST_WAIT_SECONDS)
        self._signals.wait(quiet.told, max(0.0, min(LONGEST_WAIT_SECONDS, look_at - asked)))
        is_known = follower is not None and is_followed and follower.heard >= asked
        return is_known and self._signalled() == quiet.seen and self._now() < look_at

    def _signalled(self) -> int:
        return sum(mark.count for mark in self._marks)
