"""What happened in a lake, in one order, for those who follow it: the port, and the events."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import CommitInfo, EpochMillis, TxnId, Version


class EventKind(Enum):
    """What can happen."""

    COMMIT = "commit"
    CREATE = "create"
    DROP = "drop"
    UNDROP = "undrop"
    PURGE = "purge"
    RENAME = "rename"
    ADOPT = "adopt"
    RELEASE = "release"
    REFUSAL = "refusal"
    """A proposal was refused by a rule or a policy; nothing changed."""
    INCIDENT = "incident"
    """Something is there that nobody who keeps the rules put there; somebody should look."""
    PERMISSION = "permission"
    """A kind of maintenance was permitted, or no longer is."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened; ``cursor`` is its place in the one order of all events of a lake.

    The events of a table come in the order of its versions; ``version`` is the one committed or, for
    other kinds, the latest at that moment.
    """

    cursor: int
    kind: EventKind
    table: str | None
    table_id: TableId | None
    version: Version | None
    txn_id: TxnId | None
    operation: str | None
    timestamp: EpochMillis
    details: Mapping[str, Any]


_LONGEST_OPERATION = 255


def operation_name(info: CommitInfo | None) -> str | None:
    """What a commit calls itself, as far as a database can hold it."""
    said = None if info is None else info.operation
    return None if said is None else said.replace("\0", "")[:_LONGEST_OPERATION]


ALL_EVENT_KINDS = frozenset(EventKind)


@dataclass(frozen=True, slots=True)
class EventWindow:
    """The events in some places of their order, the oldest first."""

    events: tuple[Event, ...]
    end: int
    """The place after the last of them."""
    newest: int
    """The last place that was given."""
    is_forgotten: bool = False
    """Whether older ones were deleted."""
    is_behind: bool = False
    """Whether there are events that have no place yet."""


class EventCursors(Protocol):
    """How far those who follow the events of a catalog have come, by their names."""

    def load_cursor(self, name: str) -> int | None:
        """How far the follower of that name has come."""
        ...

    def save_cursor(self, name: str, cursor: int) -> None:
        """Remember how far a follower has come."""
        ...


class EventFeed(EventCursors, Protocol):
    """The events of one catalog, as far as the caller may see them; safe to share between threads."""

    def after(self, cursor: int, *, limit: int = 1_000) -> tuple[Event, ...]:
        """What happened after ``cursor``, in order, the oldest first; 0 is before everything.

        ``InvalidRequest`` if some of it is forgotten already.
        """
        ...

    def newest(self) -> int:
        """The cursor of what happened last."""
        ...

    def window(self, before: int | None = None, *, limit: int = 100) -> EventWindow:
        """What happened in ``limit`` places before one, or lately: for whoever looks, and does not follow.

        Only so many events are given their places first as take a moment; ``after`` and ``newest`` wait for
        all of them. Nothing is refused because some of it is forgotten.
        """
        ...

    def list_pending(self) -> None:
        """Give every event so far its place in the order."""
        ...

    def forget(self, age_ms: int) -> int:
        """Delete events that were listed longer ago than this; how many. Cursors before them are refused."""
        ...
