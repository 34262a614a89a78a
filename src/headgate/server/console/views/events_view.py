"""What happened in a lake? Events, the latest first, each with a sentence that says what it means.

A page is a window of places in the one order of events, so one that is far back costs as much as the first.
Of a window only those are shown that the visitor may see.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.catalog.figures.event_sentences import event_detail, event_sentence
from headgate.catalog.ports.access import Privilege
from headgate.catalog.ports.events import Event, EventKind, EventWindow
from headgate.errors import HeadgateError

EVENTS_ON_A_PAGE = 100


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
    who: str
    """On whose behalf it was, if the event knows."""
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
    is_behind: bool = False
    """Whether something happened that has no place among the events yet."""


def events_page(
    window: EventWindow, kinds: frozenset[EventKind] | None = None, length: int = EVENTS_ON_A_PAGE
) -> EventsPage:
    """A window as a page, of all kinds or some."""
    end, gone = window.end, window.is_forgotten
    lines = tuple(
        event_line(event) for event in reversed(window.events) if kinds is None or event.kind in kinds
    )
    older = end - length if end - length > 1 and not gone else None
    newer = min(window.newest + 1, end + length) if end <= window.newest else None
    return EventsPage(lines, end, older, newer, gone, window.is_behind)


def event_line(event: Event) -> EventLine:
    """One event, in words."""
    return EventLine(
        event.cursor,
        event.kind.value,
        event.table,
        event.version,
        event.operation or "",
        event.timestamp,
        event_sentence(event),
        event_detail(event, "principal"),
        tuple((name, str(value)) for name, value in event.details.items() if value is not None),
    )


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
    "metadata-protection": "the table's definition is frozen: have the rule taken back first",
    "foreign-keys": "keep the columns of the foreign key, or drop the key first",
    "size": "commit less at once, or have the limit raised",
    "column-names": "name the column as the rule asks",
}
"""What to do about a refusal, by the policy that refused."""
_ASK = "ask who manages grants of the table for "
_PRIVILEGES = "privileges"
_TAKES = re.compile(
    rf"\btakes ({'|'.join(sorted((each.value for each in Privilege), key=len, reverse=True))})\b"
)
"""How a refusal names the privilege that is missing."""
_OTHER_ADVICE = "have the commit corrected as the message says, and propose it again"


def refusal_line(event: Event) -> RefusalLine:
    """One refusal."""
    details: Mapping[str, Any] = event.details
    rule = event_detail(event, "by")
    line = details.get("line")
    action = event_detail(event, "action")
    return RefusalLine(
        event.cursor,
        event.timestamp,
        event.table,
        event.version,
        event_detail(event, "principal"),
        rule,
        f"{action}, line {line}" if action and line else action,
        event_detail(event, "message"),
        _advice(rule, event_detail(event, "message")),
    )


def _advice(rule: str, message: str) -> str:
    """What to do about a refusal: of a missing privilege, to ask for it by its name if that was said."""
    if rule != _PRIVILEGES:
        return _ADVICE.get(rule, _OTHER_ADVICE)
    missing = _TAKES.search(message)
    return _ASK + (missing[1] if missing else "what this takes")


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


def rehearsal(
    refusal: HeadgateError | None, principal: str, version: int, lines: Sequence[int | None] = ()
) -> Rehearsal:
    """The answer to a commit that was tried; ``lines`` are those of the text that its lines were made of."""
    if refusal is None:
        return Rehearsal(principal, version)
    rule = str(refusal.fields.get("policy") or refusal.fields.get("rule") or refusal.code)
    action, line, message = refusal.fields.get("action"), refusal.fields.get("line"), refusal.message
    if isinstance(line, int) and 0 < line <= len(lines):
        sent, line = line, lines[line - 1]
        place = "the commitInfo that was put before it" if line is None else f"line {line}"
        message = message.replace(f"(line {sent}, ", f"({place}, ", 1)
    place = f"{action}, line {line}" if action and line else str(action or "")
    return Rehearsal(principal, version, rule, message, place, _advice(rule, message))


def refusal_lines(events: Iterable[Event]) -> tuple[RefusalLine, ...]:
    """The refusals among some events, the latest first."""
    found = [refusal_line(event) for event in events if event.kind is EventKind.REFUSAL]
    return tuple(reversed(found))
