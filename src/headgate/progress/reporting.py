"""Who hears how far long work has come? Nobody, unless somebody looks: a terminal, a notebook, or a reporter.

    with reporting.tracked("delete files", files) as each:
        for file in each:
            …

    with reporting.steps("publish versions", len(versions)) as advance:
        advance(256)

Work never fails because of what is reported, nor waits for it. The default reporter draws bars on stderr if
that is a terminal, or in a notebook; it is loaded when the first bar is drawn. Work on other threads, such
as publishing in the background, shows none. ``HEADGATE_PROGRESS=0`` switches bars off.
"""

import importlib
import os
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from typing import Protocol, TypeVar

PROGRESS_VARIABLE = "HEADGATE_PROGRESS"
"""Set this variable of the environment to 0, and no bar is drawn."""

_OFF = frozenset({"0", "off", "no", "false"})
_BARS = "headgate.progress.rich_bars"

Item = TypeVar("Item")


class Bar(Protocol):
    """How far one piece of work has come."""

    def advance(self, steps: int) -> None:
        """So many more steps are done; called often, so it returns at once."""
        ...

    def close(self) -> None:
        """The work has ended, in whatever way."""
        ...


class Reporter(Protocol):
    """Hears of work that may take long; what it raises is ignored, and it hears no more of that work."""

    def begin(self, title: str, total: int) -> Bar:
        """Work of so many steps begins."""
        ...


_REPORTER: ContextVar[Reporter | None] = ContextVar("headgate-progress")


@contextmanager
def reporting_to(reporter: Reporter | None) -> Iterator[None]:
    """Have this reporter, or with None nobody, hear of what is done inside, on this thread."""
    token = _REPORTER.set(reporter)
    try:
        yield
    finally:
        _REPORTER.reset(token)


@contextmanager
def steps(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Work of so many steps: call what is given with how many more are done."""
    reporter = None if total < 2 else _current_reporter()
    if reporter is None:
        yield _nobody
        return
    bar = _GuardedBar(reporter, title, total)
    try:
        yield bar.advance
    finally:
        bar.close()


@contextmanager
def tracked(title: str, items: Iterable[Item], total: int | None = None) -> Iterator[Iterator[Item]]:
    """The items, each a step that is done when the next is asked for; ``total`` if they cannot be counted.

    A block, so that the bar ends with the work even if the traceback of its failure is kept.
    """
    with steps(title, len(items) if isinstance(items, Collection) else total or 0) as advance:
        yield _counted(items, advance)


def _counted(items: Iterable[Item], advance: Callable[[int], None]) -> Iterator[Item]:
    for item in items:
        yield item
        advance(1)


def _nobody(_steps: int) -> None:
    """Nobody listens."""


class _GuardedBar:
    """A bar whose failures end the bar, and nothing else."""

    def __init__(self, reporter: Reporter, title: str, total: int) -> None:
        self._bar: Bar | None = None
        with suppress(Exception):
            self._bar = reporter.begin(title, total)

    def advance(self, count: int) -> None:
        if self._bar is None:
            return
        try:
            self._bar.advance(count)
        except Exception:  # whoever shows it may fail in any way
            self.close()

    def close(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            with suppress(Exception):
                bar.close()


def _current_reporter() -> Reporter | None:
    try:
        return _REPORTER.get()
    except LookupError:
        return _default_reporter()


def _default_reporter() -> Reporter | None:
    if threading.current_thread() is not threading.main_thread():
        return None
    if os.environ.get(PROGRESS_VARIABLE, "").lower() in _OFF or not (_is_terminal() or _is_notebook()):
        return None
    return _rich_reporter()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return False


def _is_notebook() -> bool:
    """Whether this is the process of a notebook, by its shell: nothing is loaded to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


@cache
def _rich_reporter() -> Reporter:
    reporter: Reporter = importlib.import_module(_BARS).RichReporter()
    return reporter
