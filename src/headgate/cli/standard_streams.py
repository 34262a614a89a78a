"""Can what a command prints be written? A stream may be closed, or the disk behind it full.

With stdout closed a command does nothing: a database that it opens could be given the number of stdout, and
what is printed would go into it. With stderr closed nobody is told why something failed; the status says it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

from headgate.errors import InvalidRequest

NOT_WRITTEN = "HEADGATE_OUTPUT_NOT_WRITTEN"

T = TypeVar("T")


class OutputLost(Exception):
    """Raised where stdout does not take what is printed, past all that handle errors of a lake."""


def is_terminal() -> bool:
    """Whether somebody reads what is printed as it is printed."""
    return sys.stdout is not None and sys.stdout.isatty()


def require_streams() -> None:
    """Refuse to begin without stdout; what goes to a closed stderr goes nowhere."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # it lasts as long as the process
    if sys.stdout is None:
        raise InvalidRequest(
            "nothing can be printed, as stdout is closed, so nothing was done: send it to /dev/null to see "
            "nothing",
            code=NOT_WRITTEN,
        )


@contextmanager
def watched_output() -> Iterator[None]:
    """See to it that all that is printed inside is written; ``InvalidRequest`` if it is not."""
    stream: Any = sys.stdout
    watched: Any = _WatchedStream(stream)
    sys.stdout = watched
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough, and typer has not met with it
        _print_nowhere(stream)
        raise SystemExit(1) from None
    except OutputLost as exc:
        _print_nowhere(stream)
        raise InvalidRequest(
            f"what is to be printed cannot be written: {exc}; what it tells about may be done",
            code=NOT_WRITTEN,
        ) from exc
    finally:
        if sys.stdout is watched:  # else typer has put in its place what does not mind a broken pipe
            sys.stdout = stream


@dataclass(frozen=True, slots=True)
class _WatchedStream:
    """A stream that tells its own failures from those of others."""

    stream: TextIO

    def write(self, text: str) -> int:
        return _watched(lambda: self.stream.write(text))

    def flush(self) -> None:
        _watched(self.stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _watched(step: Callable[[], T]) -> T:
    try:
        return step()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise OutputLost(exc.strerror) from exc


def _print_nowhere(stream: TextIO) -> None:
    """Spare the interpreter the same failure when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
