"""How is a lake doing? Tables with their sizes, what was committed, what waits or was refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headgate.catalog.figures import activity_counts
from headgate.catalog.figures.activity_counts import MINUTES
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.events import EventWindow
from headgate.server.console.views.plots import Plot, make_plot


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
    is_behind: bool
    """Whether something happened that has no place among the events yet."""


def matching_tables(entries: Iterable[TableEntry], words: str) -> tuple[TableEntry, ...]:
    """The tables whose names have every one of these words in them, whatever their case."""
    wanted = words.lower().split()
    return tuple(entry for entry in entries if all(word in str(entry.name).lower() for word in wanted))


def lake_activity(window: EventWindow, now_ms: int) -> LakeActivityView:
    """The last minutes of a lake, from its latest events."""
    counts = activity_counts.count_activity(window.events, now_ms)
    bars = ((_clock(at), number) for at, number in counts.commits_by_minute.items())
    return LakeActivityView(
        make_plot(
            f"Commits per minute in the last {MINUTES} minutes",
            bars,
            empty=f"No commit in the last {MINUTES} minutes.",
        ),
        counts.in_last_minute,
        counts.refusals,
        counts.incidents,
        window.is_behind,
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
