"""What ends with which status when it is stopped: who follows is interrupted, who serves ends well."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headgate.cli.live import command as live
from headgate.cli.live import keyboard
from headgate.cli.main import app
from tests.support.lakes import build_lake

_PATIENCE_SECONDS = 60
_PROGRAM = "from headgate.cli.main import app; app()"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stopped") / "lake"
    build_lake(folder)
    return folder


@contextmanager
def _running(lake: Path, words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that has begun to print; Ctrl-C ends it even where a shell started the tests with ``&``."""
    command = [sys.executable, "-u", "-c", _PROGRAM, *words.split(), "--lake", str(lake)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 — before any thread
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("words", "sent", "status"),
    [
        ("event follow --after 0", signal.SIGINT, 130),
        ("stream read sales.orders --follow --from 0", signal.SIGINT, 130),
        ("worker run", signal.SIGINT, 0),
        ("worker run", signal.SIGTERM, 0),
    ],
)
def test_a_command_that_is_stopped_ends_with_its_status(
    lake: Path, words: str, sent: signal.Signals, status: int
) -> None:
    with _running(lake, words) as process:
        process.send_signal(sent)
        _, told = process.communicate(timeout=_PATIENCE_SECONDS)

    assert (process.returncode, told) == (status, "")


def test_a_live_view_is_left_by_ctrl_c(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_seconds: float) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(keyboard, "wait_for_key", interrupt)
    monkeypatch.setattr(live.console, "out", lambda: live.console.Console(force_terminal=True))

    assert CliRunner().invoke(app, ["top", "--lake", str(lake)]).exit_code == 0
