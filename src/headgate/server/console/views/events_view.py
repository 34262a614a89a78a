"""What happened in a lake? Events, the latest first, each with a sentence that says what it means.

A page is a window of places in the one order of events, so one that is far back costs as much as the first.
Of a window only those are shown that who visits may see.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.catalog.ports.events import Event, EventFeed, EventKind
from headgate.errors import HeadgateError, InvalidRequest

WINDOW = 100


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event."""

    cursor: int
    kind: str
    table: str | None
    version: int | None
    operation: str
    timestamp: int
    sentence: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EventsPage:
    """A window of events, the latest first."""

    lines: tuple[EventLine, ...]
    before: int
    """The window ends before this place."""
    older: int | None
    newer: int | None
    is_forgotten: bool = False
    """Whether what is older was deleted."""


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


def events_page(
    window: EventWindow, kinds: frozenset[EventKind] | None = None, length: int = WINDOW
) -> EventsPage:
    """A window as a page, of all kinds or some."""
    end, gone = window.end, window.is_forgotten
    lines = tuple(
        event_line(event) for event in reversed(window.events) if kinds is None or event.kind in kinds
    )
    older = end - length if end - length > 1 and not gone else None
    newer = min(window.newest + 1, end + length) if end <= window.newest else None
    return EventsPage(lines, end, older, newer, gone)


def event_line(event: Event) -> EventLine:
    """One event, in words."""
    return EventLine(
        event.cursor,
        event.kind.value,
        event.table,
        event.version,
        event.operation or "",
        event.timestamp,
        _SENTENCES[event.kind](event),
        tuple((name, str(value)) for name, value in event.details.items() if value is not None),
    )


def _detail(event: Event, name: str) -> str:
    return str(event.details.get(name) or "")


def _permission(event: Event) -> str:
    allowed = event.details.get("permitted")
    return (
        f"{_detail(event, 'kind') or 'a kind of maintenance'} is {'' if allowed else 'no longer '}permitted"
    )


_SENTENCES: Mapping[EventKind, Callable[[Event], str]] = {
    EventKind.COMMIT: lambda event: f"version {event.version} was ratified",
    EventKind.CREATE: lambda _: "the table was created",
    EventKind.DROP: lambda _: "the table was dropped; it can be had back until it is purged",
    EventKind.UNDROP: lambda _: "a drop was undone",
    EventKind.PURGE: lambda _: "the table is gone for good",
    EventKind.RENAME: lambda event: f"renamed from {_detail(event, 'from')}",
    EventKind.ADOPT: lambda _: "the table came into the catalog",
    EventKind.RELEASE: lambda _: "the table left the catalog, and is an ordinary one",
    EventKind.REFUSAL: lambda event: _detail(event, "message") or "a proposal was refused",
    EventKind.INCIDENT: lambda event: _detail(event, "message") or "something is there that nobody ratified",
    EventKind.PERMISSION: _permission,
}


@dataclass(frozen=True, slots=True)
class RefusalLine:
    """A proposal that was refused: whose, by which rule, because of what, and what to do about it."""

    cursor: int
    timestamp: int
    table: str | None
    version: int | None
    principal: str
    rule: str
    action: str
    message: str
    advice: str


_ADVICE: Mapping[str, str] = {
    "privileges": "ask who manages grants of the table for the privilege that the message names",
    "metadata-protection": "the table's definition is frozen: have the rule taken back first",
    "foreign-keys": "keep the columns of the foreign key, or drop the key first",
    "size": "commit less at once, or have the limit raised",
    "column-names": "name the column as the rule asks",
}
"""What to do about a refusal, by the policy that refused."""
_OTHER_ADVICE = "have the commit corrected as the message says, and propose it again"


def refusal_line(event: Event) -> RefusalLine:
    """One refusal."""
    details: Mapping[str, Any] = event.details
    rule = _detail(event, "by")
    line = details.get("line")
    action = _detail(event, "action")
    return RefusalLine(
        event.cursor,
        event.timestamp,
        event.table,
        event.version,
        _detail(event, "principal"),
        rule,
        f"{action}, line {line}" if action and line else action,
        _detail(event, "message"),
        _ADVICE.get(rule, _OTHER_ADVICE),
    )


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What would become of a commit: the version it would be, or who would refuse it, and why."""

    principal: str
    version: int
    rule: str = ""
    """Empty if it would be ratified."""
    message: str = ""
    place: str = ""
    advice: str = ""


def rehearsal(refusal: HeadgateError | None, principal: str, version: int) -> Rehearsal:
    """The answer to a commit that was tried."""
    if refusal is None:
        return Rehearsal(principal, version)
    rule = str(refusal.fields.get("policy") or refusal.fields.get("rule") or refusal.code)
    action, line = refusal.fields.get("action"), refusal.fields.get("line")
    place = f"{action}, line {line}" if action and line else str(action or "")
    return Rehearsal(principal, version, rule, refusal.message, place, _ADVICE.get(rule, _OTHER_ADVICE))


def refusal_lines(events: Iterable[Event]) -> tuple[RefusalLine, ...]:
    """The refusals among some events, the latest first."""
    found = [refusal_line(event) for event in events if event.kind is EventKind.REFUSAL]
    return tuple(reversed(found))
