"""Waiting for what another thread or process does, for a bounded time."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 300.0
"""Against hangs only: so long that no loaded machine is taken for one."""


def until(condition: Callable[[], bool]) -> None:
    """Return as soon as the condition holds; fail if it does not come to."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)
