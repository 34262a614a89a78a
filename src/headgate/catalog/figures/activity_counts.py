"""How much happened in the last minutes? Commits of each minute, refusals and incidents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headgate.catalog.ports.events import Event, EventKind

MINUTES = 30
MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class ActivityCounts:
    """What happened in the last ``MINUTES``."""

    commits_by_minute: Mapping[int, int]
    """Of each minute since 1970, the oldest first; also of those in which there was none."""
    in_last_minute: int
    refusals: int
    incidents: int

    @property
    def commits(self) -> int:
        """All commits of these minutes."""
        return sum(self.commits_by_minute.values())


def count_activity(events: Iterable[Event], now_ms: int) -> ActivityCounts:
    """The last minutes, from the events of them; older ones are passed over."""
    minute = now_ms // MINUTE_MS
    commits: dict[int, int] = dict.fromkeys(range(minute - MINUTES + 1, minute + 1), 0)
    others: dict[EventKind, int] = {}
    just_now = 0
    for event in events:
        at = event.timestamp // MINUTE_MS
        if at not in commits:
            continue
        if event.kind is EventKind.COMMIT:
            commits[at] += 1
            just_now += event.timestamp > now_ms - MINUTE_MS
        else:
            others[event.kind] = others.get(event.kind, 0) + 1
    return ActivityCounts(
        commits, just_now, others.get(EventKind.REFUSAL, 0), others.get(EventKind.INCIDENT, 0)
    )
