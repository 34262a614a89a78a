"""How output looks: coloured tables on a terminal, plain aligned lines in a pipe, JSON when asked."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import msgspec
from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headgate.calls.summary import size_text
from headgate.cli import exit_codes
from headgate.cli.answers.failures import Failure
from headgate.cli.visible_text import visible_line, visible_lines
from headgate.errors import HeadgateError

_PIPE_WIDTH = 10_000  # a pipe has no edge to wrap at
_UNKNOWN = "–"
_GAP = 2
"""What is between two columns."""
_SHORTEST = 12
"""How narrow a text may become that goes on below."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a printed table."""

    title: str
    right: bool = False
    style: str = ""
    is_whole: bool = False
    """Whether its values stay on one line where a window is too narrow for all columns."""


def out() -> Console:
    """Where answers go."""
    return _console(stderr=False)


def err() -> Console:
    """Where goes what is told beside an answer."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.is_terminal:
        return made
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=_PIPE_WIDTH)


def show_error(error: HeadgateError, *, as_json: bool = False) -> None:
    """What happened, what to do about it, and the code to look it up by; on stderr."""
    cause, fix = exit_codes.error_cause(error), exit_codes.error_fix(error)
    if as_json:
        said = Failure(
            error=cause,
            fix=fix,
            code=error.code,
            sqlstate=error.sqlstate,
            exit_code=exit_codes.exit_code_of(error),
        )
        sys.stderr.write(_indented(said))
        return
    console = _console(stderr=True)
    console.print(Text.assemble(("error", "bold red"), ": ", visible_lines(cause)))
    if fix:
        console.print(Text.assemble(("fix", "bold green"), f": {fix}"))
    console.print(Text.assemble(("code", "bold"), f": {error.code}"))


def show_json(value: object) -> None:
    """The value as indented JSON."""
    sys.stdout.write(_indented(value))


def show_json_line(value: object) -> None:
    """The value as JSON on a line of its own, now: for what goes on."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def _indented(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def say(sentence: str) -> None:
    """One line that says what was done."""
    out().print(visible_lines(sentence), markup=False, soft_wrap=True)


def show_table(
    console: Console, columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]], *, indent: int = 0
) -> None:
    """Rows under headings; in a window that is too narrow for that each value on a line of its own."""
    columns = [replace(column, title=visible_line(column.title)) for column in columns]
    rows = [[visible_line(cell) for cell in row] for row in rows]
    if console.is_terminal:
        room = console.width - indent
        drawn = _drawn(columns, rows) if _has_room(columns, rows, room) else _records(columns, rows, room)
        console.print(Padding.indent(drawn, indent))
        return
    for line in _aligned(columns, rows):
        console.print(" " * indent + line)


def _has_room(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether all columns have room, of which those with text may go on below, but not in crumbs."""
    needed = _GAP * (len(columns) - 1)
    for at, column in enumerate(columns):
        whole = max(cell_len(text) for text in (column.title, *(row[at] for row in rows)))
        needed += whole if column.right or column.is_whole else min(whole, _SHORTEST)
    return needed <= width


def _records(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]], width: int) -> Group:
    """Each row as lines of its own, a heading and a value each."""
    titles = [column.title for column in columns]
    records = [_grid([*zip(titles, row, strict=True)], width) for row in rows]
    return Group(*(part for record in records for part in (record, Text(""))))


def _drawn(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(
            Text(column.title, style="bold"),
            justify=justify,
            style=column.style,
            overflow="fold",
            no_wrap=column.is_whole or column.right,
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _aligned(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [[column.title for column in columns], *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return [
        "  ".join(
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in lines
    ]


def show_pairs(console: Console, pairs: Mapping[str, str], *, indent: int = 0) -> None:
    """One fact a line; on a terminal what goes on does so below where it began."""
    lines = [(visible_line(key), visible_lines(value)) for key, value in pairs.items()]
    if console.is_terminal:
        console.print(Padding.indent(_grid(lines, console.width - indent), indent))
        return
    width = max((len(key) for key, _ in lines), default=0)
    for key, value in lines:
        console.print(Text.assemble(" " * indent, (key.ljust(width), "bold"), "  ", value))


def _grid(lines: Sequence[tuple[str, str]], width: int) -> RenderableType:
    """Each heading before its value; where there is no room for both side by side, they run on."""
    if max((cell_len(key) for key, _ in lines), default=0) + _GAP + _SHORTEST > width:
        return Group(*(Text.assemble((key, "bold"), " ", value, overflow="fold") for key, value in lines))
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", overflow="fold")
    grid.add_column(overflow="fold")
    for key, value in lines:
        grid.add_row(Text(key), Text(value))
    return grid


def format_count(number: int | None) -> str:
    """A number with thousands separators."""
    return _UNKNOWN if number is None else f"{number:,}"


def format_plural(number: int, thing: str) -> str:
    """A number of things, in the plural where it is due."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def format_size(number_of_bytes: int | None) -> str:
    """A size a person can compare."""
    return _UNKNOWN if number_of_bytes is None else size_text(number_of_bytes)


def format_timestamp(millis: int) -> str:
    """A moment as ``table.read(timestamp=…)`` takes it."""
    return format_iso(millis).replace("T", " ")


def format_iso(millis: int) -> str:
    """A moment as ISO 8601, in UTC."""
    whole = datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{millis % 1000:03d}Z"
