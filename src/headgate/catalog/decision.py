"""May this proposal be ratified? The decision, on paper.

A table is at version 8, and the last commit that did more than add and remove files was 3:

    proposed as 9                                RATIFY
    proposed as 8                                LOST, to 8
    a blind append proposed as 6, or any later   ASSIGN: it becomes 9
    the same proposed as 3                       LOST: it has not seen what version 3 changed
    proposed as 10                               GAP
    proposed as 7, and was ratified as 7         REPLAY: the answer it got then
"""

from dataclasses import dataclass
from enum import Enum, auto

from headgate.protocol.actions import EpochMillis, Version


class Decision(Enum):
    """What the catalog does with a proposal."""

    RATIFY = auto()
    ASSIGN = auto()
    """Ratify it as the next version, which is a later one than it was proposed for."""
    REPLAY = auto()
    LOST = auto()
    GAP = auto()
    PUBLISH_FIRST = auto()
    """It could be ratified, if fewer commits were waiting to be published (K7)."""
    PUT_IF_ABSENT = auto()
    """It could be ratified, but only by creating its published file, as others may do (K8)."""
    FROZEN = auto()
    """It could be ratified, if the catalog were not giving the table back."""


@dataclass(frozen=True, slots=True)
class TableHead:
    """What the catalog knows of one table when it decides."""

    latest: Version
    published: Version
    latest_timestamp: EpochMillis
    latest_change: Version
    """The last version that did more than add and remove files."""
    frozen: bool = False
    """Whether the table is being given back."""
    unpublished_bytes: int = 0
    """How much content the catalog holds for readers."""
    shares_log: bool = False
    """Whether others may publish the table's next version themselves."""

    @property
    def is_ours_alone(self) -> bool:
        """Whether the catalog alone knows what the table is, and nobody need look at its log."""
        return not self.frozen and not self.shares_log


@dataclass(frozen=True, slots=True)
class UnpublishedLimits:
    """How much may wait to be published before the next commit has to see to that."""

    commits: int = 1_000
    bytes: int = 64 * 1024 * 1024

    def reached(self, head: TableHead) -> bool:
        """Whether one more is too many."""
        waiting = head.latest - head.published
        return waiting > 0 and (waiting >= self.commits or head.unpublished_bytes >= self.bytes)


DEFAULT_LIMITS = UnpublishedLimits()


def decide(
    head: TableHead,
    target: Version,
    first_ratified_as: Version | None,
    *,
    any_version: bool = False,
    limits: UnpublishedLimits = DEFAULT_LIMITS,
) -> Decision:
    """Ratify ``target`` exactly when it is the next version; say why otherwise.

    ``first_ratified_as`` is the version this transaction already is, if it was ratified before.
    With ``any_version`` a later one will do, unless the table itself was changed since the target.
    """
    if first_ratified_as is not None:
        return Decision.REPLAY
    if target <= head.latest and not (any_version and target > head.latest_change):
        return Decision.LOST
    if target > head.latest + 1:
        return Decision.GAP
    if head.frozen:
        return Decision.FROZEN
    if head.shares_log:
        return Decision.PUT_IF_ABSENT
    if limits.reached(head):
        return Decision.PUBLISH_FIRST
    return Decision.ASSIGN if target <= head.latest else Decision.RATIFY
