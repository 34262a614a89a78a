"""How is a lake at the moment? Its busiest tables, what waits, what was refused, and who holds what.

    watch = LakeWatch(opened, tables=40)
    frame = watch.look()                  asks the catalog, and of events only for those since the last look

Everything comes from the ports of the catalog, so that a lake behind a server is looked at in the same way.
Lost races are not among it: a catalog answers them, and keeps no book of them.
"""

from collections.abc import Iterable

import msgspec

from headgate.catalog.figures import activity_counts, event_sentences, table_lines
from headgate.catalog.figures.activity_counts import MINUTE_MS, MINUTES
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.events import Event
from headgate.catalog.ports.leases import HeldLease
from headgate.cli import console
from headgate.cli.folder import OpenedLake
from headgate.errors import InvalidRequest, NotAllowed, TableNotFound

_FIRST_EVENTS = 1_000
_AT_ONCE = 1_000
_SHOWN_EVENTS = 12


class _FramePart(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Keys are never renamed, only added to."""


class TableFigures(_FramePart, frozen=True, kw_only=True):
    """One table."""

    name: str
    version: int
    commits_last_minute: int
    commits_in_window: int
    commits_by_minute: tuple[int, ...]
    refusals: int
    unpublished: int
    lag_seconds: float
    """For how long the oldest commit that is not published has waited."""
    num_files: int | None
    size_in_bytes: int | None
    last_commit: str | None


class LakeTotals(_FramePart, frozen=True, kw_only=True):
    """The whole lake; what is unpublished, and the lag, of those of its tables that are looked at."""

    tables: int
    commits_last_minute: int
    commits_in_window: int
    commits_by_minute: tuple[int, ...]
    window_minutes: int
    refusals: int
    incidents: int
    unpublished: int
    lag_seconds: float


class EventFigures(_FramePart, frozen=True, kw_only=True):
    """One event."""

    cursor: int
    kind: str
    table: str | None
    version: int | None
    operation: str | None
    timestamp: str
    sentence: str


class LeaseFigures(_FramePart, frozen=True, kw_only=True):
    """One lease that has not ended."""

    subject: str
    holder: str
    version: int | None
    expires_in_seconds: float


class LakeFrame(_FramePart, frozen=True, kw_only=True):
    """A lake at one moment."""

    lake: str
    principal: str
    time: str
    totals: LakeTotals
    tables: tuple[TableFigures, ...]
    events: tuple[EventFigures, ...]
    """The latest first."""
    leases: tuple[LeaseFigures, ...] | None
    """None if the visitor may not see them."""


class LakeWatch:
    """Looks at one lake, and remembers the events of the last minutes."""

    def __init__(self, opened: OpenedLake, *, tables: int) -> None:
        self._opened = opened
        self._most_tables = tables
        self._events: tuple[Event, ...] = ()
        self._cursor: int | None = None

    def look(self) -> LakeFrame:
        """The lake now."""
        catalog = self._opened.catalog
        now = catalog.leases.now_ms()
        self._follow(now)
        entries = catalog.tables()
        tables = self._tables(entries, now)
        counts = activity_counts.count_activity(self._events, now)
        names = {str(entry.table_id): str(entry.name) for entry in entries}
        return LakeFrame(
            lake=self._opened.place,
            principal=catalog.principal,
            time=console.format_iso(now),
            totals=LakeTotals(
                tables=len(entries),
                commits_last_minute=counts.in_last_minute,
                commits_in_window=counts.commits,
                commits_by_minute=tuple(counts.commits_by_minute.values()),
                window_minutes=MINUTES,
                refusals=counts.refusals,
                incidents=counts.incidents,
                unpublished=sum(table.unpublished for table in tables),
                lag_seconds=max((table.lag_seconds for table in tables), default=0.0),
            ),
            tables=tables,
            events=tuple(map(_event_figures, reversed(self._events[-_SHOWN_EVENTS:]))),
            leases=self._leases(names, now),
        )

    def _follow(self, now: int) -> None:
        """Take in what happened since the last look, and forget what is older than the window."""
        feed = self._opened.catalog.events
        found: list[Event] = []
        try:
            while self._cursor is not None:
                page = feed.after(self._cursor, limit=_AT_ONCE)
                found.extend(page)
                self._cursor = page[-1].cursor if page else self._cursor
                if len(page) < _AT_ONCE:
                    break
        except InvalidRequest:  # what came next is forgotten already
            self._cursor = None
        if self._cursor is None:
            feed.list_pending()
            window = feed.window(limit=_FIRST_EVENTS)
            self._events, found, self._cursor = (), list(window.events), window.newest
        since = now - MINUTES * MINUTE_MS
        known = (*self._events, *found)
        latest = known[-_SHOWN_EVENTS:]
        self._events = (*(each for each in known[: -len(latest) or None] if each.timestamp >= since), *latest)

    def _tables(self, entries: Iterable[TableEntry], now: int) -> tuple[TableFigures, ...]:
        """Those where something happened of late, the latest first, then the others by name."""
        latest = {str(event.table_id): event.cursor for event in self._events}
        chosen = sorted(entries, key=lambda entry: (-latest.get(str(entry.table_id), 0), str(entry.name)))
        found = []
        for entry in chosen[: self._most_tables]:
            try:
                loaded = self._opened.catalog.load(entry.name)
            except TableNotFound:  # dropped or renamed in the middle of it
                continue
            own = (event for event in self._events if event.table_id == entry.table_id)
            found.append(_table_figures(table_lines.table_line(loaded), own, now))
        return tuple(found)

    def _leases(self, names: dict[str, str], now: int) -> tuple[LeaseFigures, ...] | None:
        try:
            held = self._opened.catalog.leases.live()
        except NotAllowed:
            return None
        return tuple(_lease_figures(each, names, now) for each in held)


def _table_figures(line: table_lines.TableLine, events: Iterable[Event], now: int) -> TableFigures:
    counts = activity_counts.count_activity(events, now)
    since = line.waiting_since_ms
    return TableFigures(
        name=line.name,
        version=line.version,
        commits_last_minute=counts.in_last_minute,
        commits_in_window=counts.commits,
        commits_by_minute=tuple(counts.commits_by_minute.values()),
        refusals=counts.refusals,
        unpublished=line.unpublished,
        lag_seconds=0.0 if since is None else max(0.0, (now - since) / 1000),
        num_files=None if line.size is None else line.size.files,
        size_in_bytes=None if line.size is None else line.size.size_bytes,
        last_commit=None if line.changed_ms is None else console.format_iso(line.changed_ms),
    )


def _event_figures(event: Event) -> EventFigures:
    return EventFigures(
        cursor=event.cursor,
        kind=event.kind.value,
        table=event.table,
        version=event.version,
        operation=event.operation,
        timestamp=console.format_iso(event.timestamp),
        sentence=event_sentences.event_sentence(event),
    )


def _lease_figures(held: HeldLease, names: dict[str, str], now: int) -> LeaseFigures:
    work, _, table_id = held.subject.rpartition("/")
    name = names.get(table_id, table_id)
    return LeaseFigures(
        subject=f"{work} of {name}" if work else name,
        holder=held.holder,
        version=held.version,
        expires_in_seconds=max(0.0, (held.expires_ms - now) / 1000),
    )
