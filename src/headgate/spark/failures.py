"""What does it mean for the user that a Spark job failed?"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headgate.errors import HeadgateError

Meaning = Callable[[Exception], HeadgateError | None]
"""The error behind a failed job, or None if it failed for another reason."""


@contextmanager
def told(*meanings: Meaning) -> Iterator[None]:
    """Raise what a failed job means, the first that is found; else its own failure."""
    try:
        yield
    except Exception as exc:  # Spark's failures have no common class
        meant = next((found for meaning in meanings if (found := meaning(exc)) is not None), None)
        if meant is None:
            raise
        raise meant from exc


def text(failure: Exception) -> str:
    """All that a failure says; some versions of Spark tell the cause only in the stack trace."""
    return f"{failure} {getattr(failure, '_stackTrace', '')}"
