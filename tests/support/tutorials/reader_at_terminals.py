"""What does a tutorial show to somebody who types it into shells, in an empty folder with the wheel alone?"""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from tests.support.http_server import free_port
from tests.support.tutorials.page import Step
from tests.support.tutorials.shown import as_on_the_page, as_typed

_LIMIT_SECONDS = 1200
"""Against hangs only; Spark is downloaded in this time if everything is installed anew."""
_END = "that was all of this block"
_AFTER_SHELL = f'echo "{_END} $?"'
_AFTER_PYTHON = f'print("{_END}", int(hasattr(__import__("sys"), "last_type")))'


class Terminal:
    """A shell that reads what is typed, and in it Python, when that is what was typed."""

    def __init__(self, name: str, folder: Path, environment: Mapping[str, str], log: Path) -> None:
        self._log = log / f"{name}.log"
        self._is_python = False
        with self._log.open("w") as errors:
            self._shell = subprocess.Popen(
                ["bash", "--noprofile", "--norc"],
                cwd=folder, env=environment, text=True, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        self._lines: Queue[str] = Queue()
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()

    def type(self, step: Step, source: str) -> str:
        """What the block shows."""
        assert self._is_python is (step.language == "python"), f"this is no place to type {source}"
        if step.goes_on:
            self._send(source)
            return "".join(self._line() for _ in (step.shown or "").splitlines())
        if step.opens_python:  # at a pipe it has to be told to prompt, as it does at a terminal
            self._send(f"{source.rstrip()} -i -q -u")
            self._is_python = True
            source = ""
        elif "exit()" in source:
            self._is_python = False
        self._send(f"{source}\n{_AFTER_PYTHON if self._is_python else _AFTER_SHELL}")
        return self._until_end(source)

    def close(self) -> None:
        if self._shell.poll() is None:
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()
        self._reading.join()

    def _send(self, text: str) -> None:
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{text}\n")
        self._shell.stdin.flush()

    def _until_end(self, source: str) -> str:
        shown = ""
        while not (line := self._line()).startswith(_END):
            shown += line
        assert line.split()[-1] == "0", f"{source} fails: {shown}{self._log.read_text()}"
        return shown

    def _line(self) -> str:
        try:
            return self._lines.get(timeout=_LIMIT_SECONDS)
        except Empty:
            raise AssertionError(f"nothing is shown: {self._log.read_text()}") from None

    def _read(self) -> None:
        assert self._shell.stdout is not None
        for line in self._shell.stdout:
            self._lines.put(line)
        self._lines.put(f"{_END}: the terminal is closed")


class ReaderAtTerminals:
    """Types one step after another, each into the terminal that the page says, and tells what it shows."""

    def __init__(self, folder: Path, environment: Mapping[str, str], log: Path) -> None:
        self._folder, self._environment, self._log = folder, environment, log
        self._terminals: dict[str, Terminal] = {}
        self._port = free_port()

    def type(self, step: Step) -> str:
        if step.terminal not in self._terminals:
            self._terminals[step.terminal] = Terminal(
                step.terminal, self._folder, self._environment, self._log
            )
        shown = self._terminals[step.terminal].type(step, as_typed(step.source, self._port))
        return as_on_the_page(shown, self._folder, self._port)

    def close(self) -> None:
        for terminal in self._terminals.values():
            terminal.close()


@contextmanager
def reader_at_terminals(
    folder: Path, environment: Mapping[str, str], log: Path
) -> Iterator[ReaderAtTerminals]:
    """Somebody in an empty folder, whose terminals are closed with the block."""
    reader = ReaderAtTerminals(folder, environment, log)
    try:
        yield reader
    finally:
        reader.close()
