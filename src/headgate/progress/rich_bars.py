"""How are bars drawn? By rich, on stderr or in a notebook, for work that is not over at once.

A bar that would be gone before it was read is not drawn: it appears with the first step that ends half a
second after the work began, and vanishes with its end. Work inside of other work gets a line of its own.
What is written to stdout passes by untouched, so that a pipe gets its data and nothing else.
"""

import threading
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress import TaskID as BarId
from typing_extensions import override

from headgate.progress.reporting import Bar, Reporter

QUIET_SECONDS = 0.5
"""Work that is over before this has no bar."""
_BETWEEN_SECONDS = 0.1


class RichReporter(Reporter):
    """Draws a bar for each piece of work; safe to share between threads."""

    def __init__(self, console: Console | None = None, *, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._console = console
        self._quiet_seconds = quiet_seconds
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._open = 0

    @override
    def begin(self, title: str, total: int) -> Bar:
        return _RichBar(self, title, total, self._quiet_seconds)

    def add(self, title: str, total: int, done: int) -> BarId:
        """Draw one more bar."""
        with self._lock:
            if self._progress is None:
                self._progress = _new_progress(self._console or Console(stderr=True))
                self._progress.start()
            self._open += 1
            return self._progress.add_task(title, total=total, completed=done)

    def update(self, bar: BarId, done: int) -> None:
        """Say how far one has come."""
        progress = self._progress
        if progress is not None:
            progress.update(bar, completed=done)

    def remove(self, bar: BarId) -> None:
        """Draw it no more."""
        with self._lock:
            progress = self._progress
            if progress is None:
                return
            progress.remove_task(bar)
            self._open -= 1
            if not self._open:
                self._progress = None
                progress.stop()


class _RichBar(Bar):
    def __init__(self, reporter: RichReporter, title: str, total: int, quiet_seconds: float) -> None:
        self._reporter = reporter
        self._title = title
        self._total = total
        self._done = 0
        self._next = time.monotonic() + quiet_seconds
        self._id: BarId | None = None

    @override
    def advance(self, steps: int) -> None:
        self._done += steps
        now = time.monotonic()
        if now < self._next or (self._id is None and self._done >= self._total):
            return
        self._next = now + _BETWEEN_SECONDS
        if self._id is None:
            self._id = self._reporter.add(self._title, self._total, self._done)
        else:
            self._reporter.update(self._id, self._done)

    @override
    def close(self) -> None:
        if self._id is not None:
            drawn, self._id = self._id, None
            self._reporter.remove(drawn)


def _new_progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
