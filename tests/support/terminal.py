"""A command in a terminal of its own: what it shows, and keys for it."""

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

_HANGS_AFTER = 300.0
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78]|\][^\x07]*\x07)")


@dataclass(slots=True)
class Terminal:
    """The near end of a terminal."""

    handle: int
    process: subprocess.Popen[bytes]
    shown: str = ""
    """All that was shown, without escape sequences."""
    _raw: bytes = field(default=b"", repr=False)

    def wait_for(self, text: str, *, since: int = 0) -> str:
        """What is shown from a place on, once a text is among it."""
        deadline = time.monotonic() + _HANGS_AFTER
        while text not in self.shown[since:]:
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} is not shown, but:\n{self.shown[since:]}")
            if not self._read() and text not in self.shown[since:]:
                raise AssertionError(f"it ended without {text!r}:\n{self.shown[since:]}")
        return self.shown[since:]

    def press(self, keys: str) -> int:
        """Type; the place from which on what is shown is an answer."""
        before = len(self.shown)
        os.write(self.handle, keys.encode())
        return before

    def end(self) -> int:
        """Read what is left; the exit code."""
        while self._read():
            pass
        return self.process.wait(_HANGS_AFTER)

    def _read(self) -> bool:
        ready, _, _ = select.select([self.handle], [], [], 1.0)
        if not ready:
            return True
        try:
            found = os.read(self.handle, 65_536)
        except OSError:  # nobody has the other end open
            return False
        self._raw += found
        self.shown = _ESCAPES.sub("", self._raw.decode(errors="replace")).replace("\r", "")
        return bool(found)


@contextmanager
def run_in_terminal(*arguments: str, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """``headgate`` with these arguments, stopped afterwards if it still runs."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from headgate.cli.main import app; app()", *arguments],
        stdin=far, stdout=far, stderr=far, start_new_session=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40", "PROMPT_TOOLKIT_NO_CPR": "1",
             **environment},
    )  # fmt: skip
    os.close(far)
    try:
        yield Terminal(near, process)
    finally:
        process.kill()
        process.wait()
        os.close(near)
