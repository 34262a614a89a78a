"""How does a frame look? A line of totals, tables, events and leases, for a screen or as plain lines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate.cli import console
from headgate.cli.console import OutputColumn
from headgate.cli.live.frames import LakeFrame, TableFigures
from headgate.cli.visible_text import visible_line

_BARS = "▁▂▃▄▅▆▇█"
_TO_THE_SECOND = slice(11, 19)
_FIRST = 8
"""How many events and leases are shown at most."""


class TableSort(Enum):
    """By what tables are sorted, the most first."""

    COMMITS = "commits"
    BACKLOG = "backlog"
    LAG = "lag"
    SIZE = "size"
    NAME = "name"

    @property
    def following(self) -> "TableSort":
        """What the key s changes it to."""
        all_of_them = list(TableSort)
        return all_of_them[(all_of_them.index(self) + 1) % len(all_of_them)]


_KEYS: dict[TableSort, Callable[[TableFigures], Any]] = {
    TableSort.COMMITS: lambda table: (-table.commits_last_minute, -table.commits_in_window, table.name),
    TableSort.BACKLOG: lambda table: (-table.unpublished, table.name),
    TableSort.LAG: lambda table: (-table.lag_seconds, table.name),
    TableSort.SIZE: lambda table: (-(table.size_in_bytes or 0), table.name),
    TableSort.NAME: lambda table: table.name,
}
_TABLE_COLUMNS = (
    OutputColumn("table", style="bold"),
    OutputColumn("version", right=True),
    OutputColumn("commits/min", right=True),
    OutputColumn("30 min", right=True),
    OutputColumn("unpublished", right=True),
    OutputColumn("lag", right=True),
    OutputColumn("refused", right=True),
    OutputColumn("files", right=True),
    OutputColumn("size", right=True),
    OutputColumn("last commit (UTC)"),
)
_EVENT_COLUMNS = tuple(map(OutputColumn, ("time (UTC)", "event", "table", "what happened")))
_LEASE_COLUMNS = (
    OutputColumn("lease on"),
    OutputColumn("version", right=True),
    OutputColumn("holder"),
    OutputColumn("ends in", right=True),
)


_LEAST = ("files", "size", "last commit (UTC)", "version", "30 min", "refused", "lag")
"""What a narrow screen goes without, the first one first."""
_GAP = 2
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class FrameSection:
    """Rows under headings."""

    columns: tuple[OutputColumn, ...]
    rows: Sequence[Sequence[str]]
    cut: int = 0
    """The column whose values are cut off on a screen that is too narrow for all."""

    @property
    def widths(self) -> list[int]:
        """What each column takes if nothing is cut off."""
        lines = [[column.title for column in self.columns], *self.rows]
        return [max(cell_len(line[at]) for line in lines) for at in range(len(self.columns))]

    @property
    def width(self) -> int:
        """What all of them take, with what is between them."""
        return sum(self.widths) + _GAP * (len(self.columns) - 1)

    def without(self, title: str) -> "FrameSection":
        """The same but for a column."""
        kept = [at for at, column in enumerate(self.columns) if column.title != title]
        rows = [[row[at] for at in kept] for row in self.rows]
        return replace(self, columns=tuple(self.columns[at] for at in kept), rows=rows)

    def fitted(self, width: int) -> "FrameSection":
        """As much as a screen of this width has room for."""
        found = self
        for title in _LEAST:
            if found.width > width:
                found = found.without(title)
        room = max(_SHORTEST, found.widths[found.cut] - max(0, found.width - width))
        return replace(found, rows=[found.cut_off(row, room) for row in found.rows])

    def cut_off(self, row: Sequence[str], room: int) -> list[str]:
        """A row whose one cell is not longer than this."""
        cell = Text(row[self.cut])
        cell.truncate(room, overflow="ellipsis")
        return [cell.plain if at == self.cut else each for at, each in enumerate(row)]


def sorted_frame(frame: LakeFrame, sort: TableSort) -> tuple[TableFigures, ...]:
    """The tables of a frame in this order."""
    return tuple(sorted(frame.tables, key=_KEYS[sort]))


def print_frame(out: Console, frame: LakeFrame, sort: TableSort) -> None:
    """A frame as lines, once."""
    out.print(headline(frame))
    out.print(totals_line(frame))
    for section in _sections(frame, sort, len(frame.tables)):
        out.print()
        console.show_table(out, section.columns, section.rows)


def draw_frame(
    frame: LakeFrame, sort: TableSort, size: ConsoleDimensions, problem: str | None
) -> RenderableType:
    """A frame for a screen of this size."""
    rest = min(_FIRST, len(frame.events)) + min(_FIRST, len(frame.leases or ())) + 13
    parts: list[RenderableType] = [
        Text(headline(frame), style="bold"),
        Text(totals_line(frame)),
        Text(f"{_sparkline(frame)}  commits per minute, 30 minutes"),
        Text(visible_line(problem), style="bold red") if problem else Text(""),
        *(_drawn(each.fitted(size.width)) for each in _sections(frame, sort, max(3, size.height - rest))),
        Text(f"sorted by {sort.value}: s sorts by {sort.following.value}, q leaves", style="dim"),
    ]
    return Group(*parts)


def headline(frame: LakeFrame) -> str:
    """Which lake it is, for whom and when."""
    return visible_line(f"{frame.lake}  as {frame.principal}  {frame.time.replace('T', ' ')}")


def totals_line(frame: LakeFrame) -> str:
    """The lake in one line."""
    totals = frame.totals
    return "  ".join(
        (
            console.format_plural(totals.tables, "table"),
            f"{console.format_plural(totals.commits_last_minute, 'commit')} in the last minute",
            f"{totals.unpublished:,} unpublished",
            f"lag {_duration(totals.lag_seconds)}",
            f"{totals.refusals:,} refused",
            console.format_plural(totals.incidents, "incident"),
            "" if frame.leases is None else console.format_plural(len(frame.leases), "lease"),
        )
    ).rstrip()


def _sections(frame: LakeFrame, sort: TableSort, most_tables: int) -> list[FrameSection]:
    tables = [_table_row(table) for table in sorted_frame(frame, sort)[:most_tables]]
    events = [
        (
            event.timestamp[_TO_THE_SECOND],
            event.kind,
            visible_line(event.table or ""),
            visible_line(event.sentence),
        )
        for event in frame.events[:_FIRST]
    ]
    leases = [
        (
            visible_line(lease.subject),
            "" if lease.version is None else str(lease.version),
            visible_line(lease.holder),
            _duration(lease.expires_in_seconds),
        )
        for lease in (frame.leases or ())[:_FIRST]
    ]
    sentence = len(_EVENT_COLUMNS) - 1
    found = [FrameSection(_TABLE_COLUMNS, tables), FrameSection(_EVENT_COLUMNS, events, cut=sentence)]
    return [*found, FrameSection(_LEASE_COLUMNS, leases)] if leases else found


def _table_row(table: TableFigures) -> tuple[str, ...]:
    return (
        visible_line(table.name),
        str(table.version),
        f"{table.commits_last_minute:,}",
        f"{table.commits_in_window:,}",
        f"{table.unpublished:,}",
        _duration(table.lag_seconds),
        f"{table.refusals:,}",
        console.format_count(table.num_files),
        console.format_size(table.size_in_bytes),
        (table.last_commit or "").replace("T", " ")[:19],
    )


def _drawn(section: FrameSection) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in section.columns:
        table.add_column(
            Text(column.title, style="bold"), justify="right" if column.right else "left",
            style=column.style, no_wrap=True, overflow="ellipsis",
        )  # fmt: skip
    for row in section.rows:
        table.add_row(*map(Text, row))
    return table


def _sparkline(frame: LakeFrame) -> str:
    minutes = frame.totals.commits_by_minute
    most = max(minutes, default=0)
    return "".join(_BARS[0 if not most else (len(_BARS) - 1) * number // most] for number in minutes)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 172_800 else f"{seconds / 86_400:.0f} d"
