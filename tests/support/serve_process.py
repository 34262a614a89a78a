"""``headgate serve`` as a process of its own, which a test may kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.http_server import free_port
from tests.support.operated_server import Answer, ask
from tests.support.waiting import PATIENCE_SECONDS


@dataclass
class ServeProcess:
    """A server that listens, and what it said."""

    process: "subprocess.Popen[str]"
    port: int
    said: list[str]
    log: Path
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path: str, *, method: str = "GET", body: bytes | None = None) -> Answer:
        return ask(self.port, path, method=method, body=body, headers=self.headers)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal it and wait for its end; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)


@contextmanager
def serve_process(place: str, folder: Path, *flags: str, port: int | None = None) -> Iterator[ServeProcess]:
    """``headgate serve`` of this place, from when it says that it listens until the block ends."""
    port = port or free_port()
    log = folder / f"serve-{port}.log"
    command = [
        sys.executable,
        "-c",
        "from headgate.cli.main import app; app()",
        "serve",
        place,
        "--port",
        str(port),
    ]
    with log.open("a") as errors:
        process = subprocess.Popen(
            [*command, *flags], stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ}
        )
    assert process.stdout is not None
    try:
        said = _until_listening(process, log)
        started = ServeProcess(process, port, said, log)
        if "--no-auth" not in flags:
            started.token = Path(said[1].partition(" is in ")[2]).read_text().strip()
            started.headers["Authorization"] = f"Bearer {started.token}"
        yield started
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE_SECONDS)
        process.stdout.close()


def _until_listening(process: "subprocess.Popen[str]", log: Path) -> list[str]:
    said: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if "--no-auth" in process.args or said[-1].startswith("the owner's token"):  # type: ignore[operator]
            return said
    raise AssertionError(f"the server did not start: {said} {log.read_text()}")
