"""Which transactions wrote several tables at once? Told from the events of a lake and the rows of groups."""

from collections.abc import Iterator

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.events import Event, EventFeed, EventKind
from headgate.catalog.ports.groups import GroupRecords, RatifiedGroup
from headgate.cli import console, folder
from headgate.cli.activity import members
from headgate.cli.answers.activity import TransactionAnswer
from headgate.cli.folder import OpenedLake
from headgate.errors import InvalidRequest
from headgate.protocol.actions import Version

_WINDOW = 1_000
"""How many events are looked at in one go, from the latest back."""
TRANSACTION_NOT_FOUND = "HEADGATE_TRANSACTION_NOT_FOUND"


def latest_transactions(opened: OpenedLake, limit: int) -> tuple[TransactionAnswer, ...]:
    """The latest transactions over several tables."""
    lines: dict[str, TransactionAnswer] = {}
    for line in _transactions(opened, "txn list"):
        lines.setdefault(line.group, line)
        if len(lines) == limit:
            break
    return tuple(lines.values())


def find_transaction(opened: OpenedLake, group: str) -> TransactionAnswer:
    """The transaction of that id; ``InvalidRequest`` if none is remembered."""
    found = next((line for line in _transactions(opened, "txn show") if line.group == group), None)
    if found is None:
        raise InvalidRequest(
            f"no transaction {group!r} over several tables is remembered: headgate txn list shows which are",
            code=TRANSACTION_NOT_FOUND,
        )
    return found


def _transactions(opened: OpenedLake, command: str) -> Iterator[TransactionAnswer]:
    records = folder.group_records(opened.catalog)
    if records is None:
        raise folder.needs_database(command, opened.place)
    for events in _windows(opened.catalog.events):
        lines = (_line(opened, group, events) for group in _groups(records, events))
        yield from sorted(lines, key=lambda line: line.timestamp or "", reverse=True)


def _windows(feed: EventFeed) -> Iterator[tuple[Event, ...]]:
    """The events of a lake, the latest window first, as far back as they are kept."""
    feed.list_pending()
    before: int | None = None
    while before != 1:
        window = feed.window(before, limit=_WINDOW)
        yield window.events
        before = 1 if window.is_forgotten else max(1, window.end - _WINDOW)


def _groups(records: GroupRecords, events: tuple[Event, ...]) -> tuple[RatifiedGroup, ...]:
    commits: list[tuple[TableId, Version]] = [
        (event.table_id, event.version)
        for event in events
        if event.kind is EventKind.COMMIT and event.table_id is not None and event.version is not None
    ]
    return records.groups_with(commits)


def _line(opened: OpenedLake, group: RatifiedGroup, events: tuple[Event, ...]) -> TransactionAnswer:
    written = {(member.table_id, member.version) for member in group.members}
    moments = [event.timestamp for event in events if (event.table_id, event.version) in written]
    return TransactionAnswer(
        group=group.group_id,
        timestamp=console.format_iso(max(moments)) if moments else None,
        members=members.describe_members(opened, group),
    )
