"""How are answers shown? As aligned tables, one value a line, or JSON lines; on the screen or in a file."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

import msgspec
from rich.console import Console

from headgate.cli import console
from headgate.cli.console import OutputColumn
from headgate.cli.shell.answer import StatementAnswer
from headgate.cli.visible_text import visible_lines
from headgate.errors import InvalidRequest

_FILE_WIDTH = 10_000


@dataclass(frozen=True, slots=True)
class StatementResult:
    """An answer, to which statement, and how long it took."""

    number: int
    line: int
    text: str
    answer: StatementAnswer
    seconds: float


class ResultColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column of an answer, as JSON."""

    name: str
    type: str


class ResultSummary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to one statement, as a line of JSON. Keys are never renamed, only added to."""

    number: int
    line: int
    statement: str
    columns: tuple[ResultColumn, ...]
    rows: list[dict[str, Any]]
    row_count: int
    truncated: bool
    seconds: float


class ResultWriter(Protocol):
    """Shows results."""

    def show(self, result: StatementResult) -> None:
        """Show what one statement answered."""
        ...


@dataclass(slots=True)
class TextWriter:
    """Shows results to people."""

    timing: bool = False
    expanded: bool = False
    file: IO[str] | None = field(default=None, repr=False)

    def show(self, result: StatementResult) -> None:
        """The rows, how many they are, and how long it took."""
        out, answer = self.console(), result.answer
        text = answer.only_text()
        if not answer.names:
            out.print("done")
        elif text is not None:
            out.print(visible_lines(text), soft_wrap=True)
        elif self.expanded:
            _show_expanded(out, answer)
        else:
            self.show_rows(_columns(answer), answer.cells())
        if answer.names and text is None:
            out.print(_count(answer))
        if self.timing:
            out.print(f"{result.seconds:.3f} s")

    def show_rows(self, columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> None:
        """Rows under headings."""
        console.show_table(self.console(), columns, rows)

    def console(self) -> Console:
        """Where results go at the moment."""
        if self.file is None:
            return console.out()
        return Console(file=self.file, width=_FILE_WIDTH, highlight=False, markup=False, emoji=False)

    def write_to(self, path: str | None) -> None:
        """Send what follows into a file, or to the screen again."""
        if self.file is not None:
            self.file.close()
            self.file = None
        if path is not None:
            try:
                self.file = Path(path).expanduser().open("w", encoding="utf-8")
            except OSError as exc:
                raise InvalidRequest(
                    f"results cannot be written to {path!r}: {exc.strerror}; name another file"
                ) from exc


class JsonWriter:
    """Shows results to programs."""

    def show(self, result: StatementResult) -> None:
        """One line of JSON."""
        answer = result.answer
        names = answer.unique_names
        summary = ResultSummary(
            number=result.number,
            line=result.line,
            statement=result.text,
            columns=tuple(
                ResultColumn(name=name, type=kind) for name, kind in zip(names, answer.types, strict=True)
            ),
            rows=answer.plain_rows(),
            row_count=answer.count,
            truncated=answer.has_more,
            seconds=round(result.seconds, 6),
        )
        sys.stdout.write(msgspec.json.encode(summary).decode() + "\n")
        sys.stdout.flush()


def _columns(answer: StatementAnswer) -> list[OutputColumn]:
    return [OutputColumn(name, right=answer.is_right(index)) for index, name in enumerate(answer.names)]


def _show_expanded(out: Console, answer: StatementAnswer) -> None:
    for number, row in enumerate(answer.cells(), 1):
        out.print(f"-[ row {number} ]-")
        console.show_pairs(out, dict(zip(answer.unique_names, row, strict=True)))


def _count(answer: StatementAnswer) -> str:
    if answer.has_more:
        return f"(the first {console.format_plural(answer.count, 'row')}; \\limit 0 or --limit 0 shows all)"
    return f"({console.format_plural(answer.count, 'row')})"
