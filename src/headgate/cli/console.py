"""How output looks: coloured tables on a terminal, plain aligned lines in a pipe, JSON when asked."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import msgspec
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headgate.errors import HeadgateError, Retry, TableNotFound

_PIPE_WIDTH = 10_000  # a pipe has no edge to wrap at
_UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a printed table."""

    title: str
    right: bool = False
    style: str = ""


def out() -> Console:
    """Where answers go."""
    return _console(stderr=False)


def _console(*, stderr: bool) -> Console:
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if made.is_terminal:
        return made
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=_PIPE_WIDTH)


def show_error(error: HeadgateError) -> None:
    """What happened, what to do about it, and the code to look it up by; on stderr."""
    console = _console(stderr=True)
    console.print(Text.assemble(("error", "bold red"), ": ", error.message))
    fix = _fix(error)
    if fix:
        console.print(Text.assemble(("fix", "bold green"), f": {fix}"))
    console.print(Text.assemble(("code", "bold"), f": {error.code}"))


def _fix(error: HeadgateError) -> str | None:
    if isinstance(error, TableNotFound):
        return "headgate tables lists the tables of a lake"
    match error.retry:
        case Retry.SAME:
            return "this may pass; run the command again"
        case Retry.RERUN | Retry.REBASE:
            return "nothing was committed; run the command again"
        case Retry.NEVER:
            return None


def show_json(value: object) -> None:
    """The value as indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    sys.stdout.write(text + "\n")


def show_table(
    console: Console, columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]], *, indent: int = 0
) -> None:
    """Rows under headings."""
    if console.is_terminal:
        console.print(Padding.indent(_drawn(columns, rows), indent))
        return
    for line in _aligned(columns, rows):
        console.print(" " * indent + line)


def _drawn(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column.right else "left"
        table.add_column(
            Text(column.title, style="bold"), justify=justify, style=column.style, overflow="fold"
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
    """One fact a line."""
    width = max((len(key) for key in pairs), default=0)
    for key, value in pairs.items():
        console.print(Text.assemble(" " * indent, (key.ljust(width), "bold"), "  ", value))


def format_count(number: int | None) -> str:
    """A number with thousands separators."""
    return _UNKNOWN if number is None else f"{number:,}"


def format_plural(number: int, thing: str) -> str:
    """A number of things, in the plural where it is due."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def format_size(number_of_bytes: int | None) -> str:
    """A size a person can compare."""
    if number_of_bytes is None:
        return _UNKNOWN
    amount = float(number_of_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def format_timestamp(millis: int) -> str:
    """A moment as ``table.read(timestamp=…)`` takes it."""
    return format_iso(millis).replace("T", " ")


def format_iso(millis: int) -> str:
    """A moment as ISO 8601, in UTC."""
    whole = datetime.fromtimestamp(millis // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{millis % 1000:03d}Z"
