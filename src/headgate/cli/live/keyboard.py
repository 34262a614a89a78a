"""Which key was pressed? Asked for without Enter, while something else is shown."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def single_keys() -> Iterator[None]:
    """Have keys come one by one and unseen, as long as it lasts; nothing where nobody can type."""
    if not sys.stdin.isatty():
        yield
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)
    try:
        tty.setcbreak(handle)
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


def wait_for_key(seconds: float) -> str:
    """The key that is pressed within so many seconds; nothing if none is."""
    if not sys.stdin.isatty():
        select.select([], [], [], seconds)
        return ""
    handle = sys.stdin.fileno()
    ready, _, _ = select.select([handle], [], [], seconds)
    return os.read(handle, 1).decode(errors="replace") if ready else ""
