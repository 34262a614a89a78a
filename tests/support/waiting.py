"""Waiting for what another thread or process does, for a bounded time."""

import time
from collections.abc import Callable

_SECONDS = 60.0


def until(condition: Callable[[], bool], *, seconds: float = _SECONDS) -> None:
    """Return as soon as the condition holds; fail if it does not come to."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)
