"""Which proposals found their version taken, and by whom? The last of them, as long as this process runs.

Losing a race is an answer and no event: most who lose go on after the winners and are ratified. Whoever
asks why something is slow, or fails, wants to see who met whom all the same.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import Version

_MOST_KEPT = 500
_MOST_WINNERS = 5


@dataclass(frozen=True, slots=True)
class LostRace:
    """A proposal for a version that others hold."""

    lake: str
    table_id: TableId
    principal: str
    target: Version
    winners: tuple[Version, ...]
    """The first versions that it lost to."""
    at_ms: int
    is_group: bool = False


class LostRaces:
    """The races that were lost last; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[LostRace] = deque(maxlen=_MOST_KEPT)

    def add(self, race: LostRace) -> None:
        """Remember a race."""
        with self._lock:
            self._kept.append(race)

    def latest(self, lake: str) -> tuple[LostRace, ...]:
        """The races in one lake, the latest first."""
        with self._lock:
            return tuple(race for race in reversed(self._kept) if race.lake == lake)


def first_winners(versions: Sequence[Version]) -> tuple[Version, ...]:
    """As many of the winners as are remembered."""
    return tuple(versions[:_MOST_WINNERS])
