"""Which transactions wrote several tables at once? Told from events, and from what was ratified together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.events import Event, EventKind
from headgate.catalog.ports.groups import RatifiedGroup, RatifiedMember
from headgate.protocol.actions import Version


@dataclass(frozen=True, slots=True)
class TransactionLine:
    """One transaction, with the tables of it that may be seen."""

    group_id: str
    timestamp: int
    members: tuple[tuple[str, int | None], ...]
    hidden: int


def committed_versions(events: Iterable[Event]) -> tuple[tuple[TableId, Version], ...]:
    """The versions that some events tell of."""
    return tuple(
        (event.table_id, event.version)
        for event in events
        if event.kind is EventKind.COMMIT and event.table_id is not None and event.version is not None
    )


def transaction_lines(
    groups: Iterable[RatifiedGroup], events: Sequence[Event]
) -> tuple[TransactionLine, ...]:
    """The transactions that have a commit among the events, the latest first."""
    moments = {(event.table_id, event.version): event for event in events if event.kind is EventKind.COMMIT}
    names = {event.table_id: event.table or "" for event in events if event.table_id is not None}
    lines = [_line(group, moments, names) for group in groups if len(group.members) > 1]
    return tuple(sorted(lines, key=lambda line: line.timestamp, reverse=True))


def _line(
    group: RatifiedGroup,
    moments: Mapping[tuple[TableId | None, Version | None], Event],
    names: Mapping[TableId, str],
) -> TransactionLine:
    seen = [member for member in group.members if member.table_id in names]
    found = (moments.get((member.table_id, member.version)) for member in seen)
    return TransactionLine(
        group.group_id,
        max((event.timestamp for event in found if event is not None), default=0),
        tuple(_member(member, names) for member in seen),
        len(group.members) - len(seen),
    )


def _member(member: RatifiedMember, names: Mapping[TableId, str]) -> tuple[str, int | None]:
    return names[member.table_id], member.version
