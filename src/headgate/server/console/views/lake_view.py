"""How is a lake doing? Tables with their sizes, what was committed, what waits or was refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.events import Event, EventKind
from headgate.catalog.ports.serving import LoadedTable
from headgate.protocol.log import version_checksum
from headgate.server.console.views.plots import Plot, make_plot

MINUTES = 30
_MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class TableSize:
    """How many files a table has and how large they are, by its newest checksum that the catalog knows."""

    files: int
    size_bytes: int
    version: int


@dataclass(frozen=True, slots=True)
class TableLine:
    """A table in the list of a lake."""

    name: str
    version: int
    unpublished: int
    changed_ms: int | None
    size: TableSize | None


@dataclass(frozen=True, slots=True)
class LakeFigures:
    """What a server counts of a lake; None where this server does not."""

    unpublished: float | None = None
    lag_seconds: float | None = None
    ratified: float = 0
    conflicts: float = 0
    refused: float = 0


@dataclass(frozen=True, slots=True)
class LakeActivityView:
    """What happened in the last minutes."""

    commits: Plot
    in_last_minute: int
    refusals: int
    incidents: int


def table_size(loaded: LoadedTable) -> TableSize | None:
    """How large a table is, if the catalog knows a checksum of it."""
    known = loaded.known.content
    checksum = None if known is None else version_checksum.parse(known.content)
    if known is None or checksum is None:
        return None
    return TableSize(checksum.num_files, checksum.table_size_bytes, known.version)


def table_line(loaded: LoadedTable) -> TableLine:
    """A table as a line of the list."""
    tail = loaded.tail
    waiting = max(0, tail.latest - tail.published)
    return TableLine(str(loaded.entry.name), tail.latest, waiting, tail.latest_timestamp, table_size(loaded))


def matching_tables(entries: Iterable[TableEntry], words: str) -> tuple[TableEntry, ...]:
    """The tables whose names have every one of these words in them, whatever their case."""
    wanted = words.lower().split()
    return tuple(entry for entry in entries if all(word in str(entry.name).lower() for word in wanted))


def lake_activity(events: Iterable[Event], now_ms: int) -> LakeActivityView:
    """The last minutes of a lake, from its latest events."""
    minute = now_ms // _MINUTE_MS
    commits: dict[int, int] = dict.fromkeys(range(minute - MINUTES + 1, minute + 1), 0)
    others: dict[EventKind, int] = {}
    just_now = 0
    for event in events:
        at = event.timestamp // _MINUTE_MS
        if at not in commits:
            continue
        if event.kind is EventKind.COMMIT:
            commits[at] += 1
            just_now += event.timestamp > now_ms - _MINUTE_MS
        else:
            others[event.kind] = others.get(event.kind, 0) + 1
    bars = ((_clock(at), number) for at, number in commits.items())
    return LakeActivityView(
        make_plot(f"Commits per minute in the last {MINUTES} minutes", bars),
        just_now,
        others.get(EventKind.REFUSAL, 0),
        others.get(EventKind.INCIDENT, 0),
    )


def lake_figures(samples: Mapping[str, float | None]) -> LakeFigures:
    """What a server counts of a lake, from its metrics by their short names."""
    return LakeFigures(
        samples.get("unpublished"),
        samples.get("lag_seconds"),
        samples.get("ratified") or 0,
        samples.get("conflict") or 0,
        samples.get("refused") or 0,
    )


def _clock(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%H:%M")
