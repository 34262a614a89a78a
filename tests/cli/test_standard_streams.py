"""Where nothing can be printed a command says so and ends with its status; no traceback tells of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.lakes import build_lake

_HEADGATE = Path(sys.executable).parent / "headgate"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams") / "lake"
    build_lake(folder)
    return folder


def _run(lake: Path, line: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What a line of a shell does, in which ``headgate`` is the command."""
    return subprocess.run(  # a line of this file
        ["/bin/sh", "-c", line.replace("headgate", str(_HEADGATE), 1)],
        capture_output=True, text=True, check=False, cwd=cwd,
        env={**os.environ, "HEADGATE_LAKE": str(lake), "PYTHONUNBUFFERED": ""},
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", ["table list", "table list --json", "--help", "sql -c 'SELECT * FROM sales.orders LIMIT 1'"]
)
@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_what_cannot_be_printed_is_told(lake: Path, words: str, where: str) -> None:
    ended = _run(lake, f"headgate {words} {where}")

    assert ended.returncode == 1
    assert "HEADGATE_OUTPUT_NOT_WRITTEN" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_nothing_is_done_that_nobody_could_be_told_of(lake: Path) -> None:
    _run(lake, "headgate schema create unseen >&-")

    assert "unseen" not in _run(lake, "headgate schema list").stdout


def test_the_status_says_what_a_closed_stderr_does_not(lake: Path) -> None:
    assert _run(lake, "headgate table show sales.nothing 2>&-").returncode == 3
    assert _run(lake, "headgate table show sales.nothing --json 2>&-").returncode == 3


def test_who_has_seen_enough_is_not_told_of_it(lake: Path) -> None:
    ended = _run(lake, "headgate table rows sales.orders --json | true")

    assert ended.stderr == ""


def test_a_lake_is_found_from_a_folder_that_was_deleted(lake: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()

    absolute = _run(lake, f"rmdir {folder}; headgate table list", cwd=folder)
    folder.mkdir()
    relative = _run(lake, f"rmdir {folder}; headgate table list --lake lake", cwd=folder)

    assert (absolute.returncode, relative.returncode) == (0, 1)
    assert "sales.orders" in absolute.stdout
    assert "the current folder was deleted" in relative.stderr
    assert "Traceback" not in relative.stderr
