"""May this proposal be ratified? The decision, on paper."""

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


@dataclass(frozen=True, slots=True)
class Head:
    """What the catalog knows of one table when it decides."""

    latest: Version
    published: Version
    latest_timestamp: EpochMillis
    latest_change: Version
    """The last version that did more than add and remove files."""


def decide(
    head: Head, target: Version, first_ratified_as: Version | None, *, any_version: bool = False
) -> Decision:
    """Ratify ``target`` exactly when it is the next version; say why otherwise.

    ``first_ratified_as`` is the version this transaction already is, if it was ratified before.
    With ``any_version`` a later one will do, unless the table itself was changed since the target.
    """
    if first_ratified_as is not None:
        return Decision.REPLAY
    if target <= head.latest:
        return Decision.ASSIGN if any_version and target > head.latest_change else Decision.LOST
    if target > head.latest + 1:
        return Decision.GAP
    return Decision.RATIFY
