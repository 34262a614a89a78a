"""May this proposal be ratified? The decision, on paper."""

from dataclasses import dataclass
from enum import Enum, auto

from headgate.protocol.actions import EpochMillis, Version


class Decision(Enum):
    """What the catalog does with a proposal."""

    RATIFY = auto()
    REPLAY = auto()
    LOST = auto()
    GAP = auto()


@dataclass(frozen=True, slots=True)
class Head:
    """What the catalog knows of one table when it decides."""

    latest: Version
    published: Version
    latest_timestamp: EpochMillis


def decide(head: Head, target: Version, first_ratified_as: Version | None) -> Decision:
    """Ratify ``target`` exactly when it is the next version; say why otherwise.

    ``first_ratified_as`` is the version this transaction already is, if it was ratified before.
    """
    if first_ratified_as is not None:
        return Decision.REPLAY
    if target <= head.latest:
        return Decision.LOST
    if target > head.latest + 1:
        return Decision.GAP
    return Decision.RATIFY
