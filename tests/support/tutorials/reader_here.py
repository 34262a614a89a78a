"""What does a tutorial show to somebody who types it into this process, which has a Spark session already?

Quick, since neither an environment nor a session is made: ``getOrCreate`` gives the session of the tests.
"""

import io
import os
import signal
import subprocess
import sys
from code import InteractiveConsole
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import NoReturn

from tests.support.http_server import free_port
from tests.support.tutorials.page import Step
from tests.support.tutorials.shown import as_on_the_page, as_typed


class _Prompt(InteractiveConsole):
    """Python's prompt, at which an error that nobody catches ends the tutorial."""

    def showtraceback(self) -> NoReturn:
        raise AssertionError("the tutorial fails") from sys.exc_info()[1]

    def showsyntaxerror(self, *_: object, **__: object) -> NoReturn:
        raise AssertionError("this cannot be typed at a prompt") from sys.exc_info()[1]


class ReaderHere:
    """Types one step after another in a folder, and tells what each shows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._prompts: dict[str, _Prompt] = {}
        self._servers: list[subprocess.Popen[str]] = []
        self._port = free_port()

    def type(self, step: Step) -> str:
        if step.opens_python:
            self._prompts[step.terminal] = _Prompt()
        if step.installs or step.opens_python:  # the environment is that of the tests
            return ""
        source = as_typed(step.source, self._port)
        shown = (
            self._type_python(step.terminal, source) if step.language == "python" else self._run(step, source)
        )
        return as_on_the_page(shown, self._folder, self._port)

    def close(self) -> None:
        for server in self._servers:
            os.killpg(server.pid, signal.SIGTERM)
            server.communicate()

    def _type_python(self, terminal: str, source: str) -> str:
        prompt = self._prompts[terminal]
        with redirect_stdout(io.StringIO()) as shown:
            try:
                for line in (*source.splitlines(), ""):
                    prompt.push(line)
            except SystemExit:
                del self._prompts[terminal]
        return shown.getvalue()

    def _run(self, step: Step, source: str) -> str:
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        command = ["bash", "-e", "-c", source]
        process = subprocess.Popen(
            command, cwd=self._folder, env=environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL if step.goes_on else None,
        )  # fmt: skip
        assert process.stdout is not None
        if step.goes_on:
            self._servers.append(process)
            return "".join(process.stdout.readline() for _ in (step.shown or "").splitlines())
        shown, _ = process.communicate()
        assert process.returncode == 0, source
        return shown


@contextmanager
def reader_here(folder: Path) -> Iterator[ReaderHere]:
    """Somebody in an empty folder, whose servers end with the block."""
    reader = ReaderHere(folder)
    try:
        yield reader
    finally:
        reader.close()
