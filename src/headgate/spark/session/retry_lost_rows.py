"""When a statement is run again: if Spark lost rows that it kept for it.

A statement computes its source and its edits once and has executors keep them. What an executor kept
is gone with it, and Spark does not compute it anew: it might be other rows. By then nothing was
proposed, or what was proposed has lost, so the statement starts over, from the newest version.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from headgate.errors import HeadgateError

_ATTEMPTS = 4
_LOST = "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"

_log = logging.getLogger(__name__)
_Given = ParamSpec("_Given")
_Done = TypeVar("_Done")


def retry_when_checkpoint_lost(statement: Callable[_Given, _Done]) -> Callable[_Given, _Done]:
    """A statement that starts over, a few times, when executors take rows with them that it had computed."""

    @wraps(statement)
    def repeated(*given: _Given.args, **named: _Given.kwargs) -> _Done:
        for attempt in range(1, _ATTEMPTS):
            try:
                return statement(*given, **named)
            except HeadgateError:
                raise
            except Exception as exc:  # Spark's failures have no common class
                if _LOST not in str(exc):
                    raise
                _log.warning("an executor is gone with rows of a statement: attempt %d failed", attempt)
        return statement(*given, **named)

    return repeated
