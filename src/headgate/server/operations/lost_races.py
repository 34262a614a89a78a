"""Which proposals found their version taken, and by whom? The last of them, as long as this process runs.

Losing a race is an answer and no event: most who lose go on after the winners and are ratified. Whoever
asks why something is slow, or fails, wants to see who met whom all the same.
"""

import secrets
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from headgate.catalog.ports.commits import InlineCommit, Proposal, StagedCommit, TableId
from headgate.protocol.actions import TxnId, Version

_MOST_KEPT = 500
_MOST_WINNERS = 5
_MOST_CONTENTS = 50
_LARGEST_CONTENT = 64 * 1024


@dataclass(frozen=True, slots=True)
class LostProposal:
    """What was proposed: by its transaction it is known again, and its content explains why it lost."""

    txn_id: TxnId
    content: InlineCommit | StagedCommit | None = field(default=None, repr=False)
    """None if it was long, or is one of many since."""


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
    proposal: LostProposal | None = None
    race_id: str = field(default_factory=lambda: secrets.token_hex(8))


class LostRaces:
    """The races that were lost last; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[LostRace] = deque(maxlen=_MOST_KEPT)

    def add(self, race: LostRace) -> None:
        """Remember a race."""
        with self._lock:
            self._kept.append(race)
            if len(self._kept) > _MOST_CONTENTS and (old := self._kept[-_MOST_CONTENTS - 1].proposal):
                forgetful = replace(self._kept[-_MOST_CONTENTS - 1], proposal=LostProposal(old.txn_id))
                self._kept[-_MOST_CONTENTS - 1] = forgetful

    def find(self, lake: str, race_id: str) -> LostRace | None:
        """One race in a lake; None if it is forgotten, or another process remembers it."""
        return next((race for race in self.latest(lake) if race.race_id == race_id), None)

    def latest(self, lake: str) -> tuple[LostRace, ...]:
        """The races in one lake, the latest first."""
        with self._lock:
            return tuple(race for race in reversed(self._kept) if race.lake == lake)


def first_winners(versions: Sequence[Version]) -> tuple[Version, ...]:
    """As many of the winners as are remembered."""
    return tuple(versions[:_MOST_WINNERS])


def lost_proposal(proposal: Proposal) -> LostProposal:
    """What is remembered of a proposal."""
    content = proposal.content
    is_long = isinstance(content, InlineCommit) and len(content.content) > _LARGEST_CONTENT
    return LostProposal(proposal.txn_id, None if is_long else content)
