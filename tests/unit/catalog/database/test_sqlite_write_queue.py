"""The queue of writers before SQLite's own lock: it hands on, outlives the killed and stops nobody."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.database import sqlite_write_queue
from headgate.catalog.database.sqlite_write_queue import WriteQueue
from tests.support.waiting import PATIENCE_SECONDS

_HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
_LONG = PATIENCE_SECONDS


@contextmanager
def held_by_another(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process whose turn it is, until it is told to go, or killed."""
    command = [sys.executable, "-c", _HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        try:
            yield other
        finally:
            other.kill()


def _is_free(path: Path) -> bool:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _waiting(mine: WriteQueue) -> tuple[threading.Thread, threading.Event]:
    def take() -> None:
        with mine.turn():
            came.set()

    came = threading.Event()
    thread = threading.Thread(target=take)
    thread.start()
    return thread, came


def _go(other: subprocess.Popen[str]) -> None:
    assert other.stdin is not None
    other.stdin.close()


def _kill(other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("end", [_go, _kill])
def test_a_turn_that_ends_in_any_way_is_the_next_ones(
    tmp_path: Path, end: Callable[[subprocess.Popen[str]], None]
) -> None:
    path = tmp_path / "turn"
    with held_by_another(path) as other:
        thread, came = _waiting(WriteQueue(path, patience=_LONG))
        assert not came.wait(0.2)
        end(other)
        assert came.wait(_LONG)
    thread.join()
    assert _is_free(path)


def test_who_waited_too_long_goes_on_and_keeps_nobody_out_later(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    mine = WriteQueue(path, patience=0.1)
    with held_by_another(path) as other:
        with mine.turn():
            pass
        with mine.turn():  # behind a wait that was given up and still goes on
            pass
        _go(other)
        other.wait()
        deadline = time.monotonic() + _LONG
        while not _is_free(path) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert _is_free(path)


def test_an_interrupted_turn_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    mine = WriteQueue(path, patience=_LONG)
    with pytest.raises(KeyboardInterrupt), mine.turn():
        assert not _is_free(path)
        raise KeyboardInterrupt
    assert _is_free(path)


def test_threads_of_a_process_take_turns(tmp_path: Path) -> None:
    mine, inside, most = WriteQueue(tmp_path / "turn", patience=_LONG), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with mine.turn():
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def _no_locks(*_: Any) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def test_without_such_locks_everybody_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    went_on = []
    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", _no_locks)
        with WriteQueue(tmp_path / "turn", patience=_LONG).turn():
            went_on.append("no locks")
    with WriteQueue(tmp_path / "missing" / "turn", patience=_LONG).turn():
        went_on.append("no folder")
    monkeypatch.setattr(sqlite_write_queue, "fcntl", None)
    with WriteQueue(tmp_path / "turn", patience=_LONG).turn():
        went_on.append("no fcntl")
    assert went_on == ["no locks", "no folder", "no fcntl"]


def test_after_closing_a_turn_opens_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    mine = WriteQueue(path, patience=_LONG)
    with held_by_another(path) as other:
        thread, came = _waiting(mine)
        time.sleep(0.1)
        _go(other)
        assert came.wait(_LONG)
    thread.join()
    mine.close()
    mine.close()
    with mine.turn():
        assert not _is_free(path)
