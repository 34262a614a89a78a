"""Telling a story on a terminal or into a log: chapters, work with its time, and claims with their proof."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from headgate.cli import console
from headgate.cli.console import OutputColumn


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the story says, and whether it is so."""

    text: str
    holds: bool


class Narrator:
    """Prints as it goes and remembers what it claimed."""

    def __init__(self, out: Console) -> None:
        self.out = out
        self.claims: list[Claim] = []
        self._chapters = 0

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        self._chapters += 1
        self.heading(f"{self._chapters}. {title}")

    def heading(self, title: str) -> None:
        """Begin a part that is not of the story."""
        self.out.print()
        self.out.print(Text(title, style="bold cyan"))

    def say(self, text: str | Text) -> None:
        """A paragraph of the story, indented."""
        if self.out.is_terminal:
            self.out.print(Padding(text, (0, 0, 0, 3)))
        else:
            self.out.print(Text.assemble("   ", text))

    @contextmanager
    def work(self, text: str, steps: int = 1) -> Iterator[Callable[[], None]]:
        """Work under way, and how long it took; call what is given after each of several steps."""
        start = time.monotonic()
        with Progress(
            TextColumn("  "),
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            *((BarColumn(bar_width=24), MofNCompleteColumn()) if steps > 1 else ()),
            console=self.out,
            transient=True,
            disable=not self.out.is_terminal,
        ) as progress:
            task = progress.add_task(text, total=steps)
            yield lambda: progress.advance(task)
        self.say(Text.assemble(text, (f"  {_seconds(time.monotonic() - start)}", "dim")))

    def claim(self, text: str, *, expected: object, found: object) -> None:
        """State a fact that was checked: what was found is what was expected."""
        holds = bool(expected == found)
        self.claims.append(Claim(text, holds))
        if holds:
            self.say(Text.assemble(("✓ ", "bold green"), text))
        else:
            self.say(
                Text.assemble(("✗ ", "bold red"), f"not so: {text} (expected {expected}, found {found})")
            )

    def table(self, columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> None:
        """Rows under headings, indented."""
        console.show_table(self.out, columns, rows, indent=3)


def _seconds(duration: float) -> str:
    return f"{duration:.1f} s" if duration >= 1 else f"{duration * 1000:.0f} ms"
