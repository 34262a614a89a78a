"""What happened lately? The events in a window of the one order, and a sentence about each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headgate.catalog.ports.events import Event, EventFeed, EventKind
from headgate.errors import InvalidRequest

WINDOW = 100


@dataclass(frozen=True, slots=True)
class EventWindow:
    """The events in some places of their order, the oldest first."""

    events: tuple[Event, ...]
    end: int
    """The place after the last of them."""
    newest: int
    is_forgotten: bool = False
    """Whether older ones were deleted."""


def event_window(feed: EventFeed, before: int | None, length: int = WINDOW) -> EventWindow:
    """The events in so many places before one, or before the end."""
    newest = feed.newest()
    end = newest + 1 if before is None else before
    start = max(0, end - 1 - length)
    try:
        found, gone = feed.after(start, limit=length), False
    except InvalidRequest as exc:
        oldest = exc.fields.get("oldest")
        if not isinstance(oldest, int):
            raise
        found, gone = (feed.after(oldest, limit=length) if oldest < end - 1 else ()), True
    return EventWindow(tuple(event for event in found if event.cursor < end), end, newest, gone)


def event_sentence(event: Event) -> str:
    """What an event means."""
    return _SENTENCES[event.kind](event)


def event_detail(event: Event, name: str) -> str:
    """One of the details of an event, as text; nothing if it has none."""
    return str(event.details.get(name) or "")


def _permission(event: Event) -> str:
    allowed = event.details.get("permitted")
    kind = event_detail(event, "kind") or "a kind of maintenance"
    return f"{kind} is {'' if allowed else 'no longer '}permitted"


_SENTENCES: Mapping[EventKind, Callable[[Event], str]] = {
    EventKind.COMMIT: lambda event: f"version {event.version} was ratified",
    EventKind.CREATE: lambda _: "the table was created",
    EventKind.DROP: lambda _: "the table was dropped; it can be had back until it is purged",
    EventKind.UNDROP: lambda _: "a drop was undone",
    EventKind.PURGE: lambda _: "the table is gone for good",
    EventKind.RENAME: lambda event: f"renamed from {event_detail(event, 'from')}",
    EventKind.ADOPT: lambda _: "the table came into the catalog",
    EventKind.RELEASE: lambda _: "the table left the catalog, and is an ordinary one",
    EventKind.REFUSAL: lambda event: event_detail(event, "message") or "a proposal was refused",
    EventKind.INCIDENT: lambda event: (
        event_detail(event, "message") or "something is there that nobody ratified"
    ),
    EventKind.PERMISSION: _permission,
}
