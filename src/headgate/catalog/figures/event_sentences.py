"""What happened, in words? A sentence about each event."""

from collections.abc import Callable, Mapping

from headgate.catalog.ports.events import Event, EventKind


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
