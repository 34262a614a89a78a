"""Whose turn is it to write, among the threads and processes that share one SQLite file?

SQLite lets one write at a time and has the others look again and again, which among 16 processes was
about 30 context switches a commit. Here they queue at a lock of the operating system, on a file beside
the database: it wakes the next when a turn ends, and the turn of a process that was killed has ended.
Nothing but speed depends on it: what keeps writers apart is SQLite's own lock. So whoever cannot have
such a file, or waited too long, goes on without a turn.

Processes A, B and C want to write to ``catalog.db``. A holds the lock of the file beside it and SQLite's; B
and C sleep in the kernel. A ends its turn, the kernel wakes B, and B takes SQLite's lock at the first look.
If A is killed, its lock goes with it. If A is stopped for 30 seconds, B goes on without a turn and looks
for SQLite's lock itself.

``benchmarks/concurrent_writers.py`` measures it, with 16 processes.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]


class WriteQueue:
    """The turns at one database file, for one process."""

    def __init__(self, path: Path, *, patience: float) -> None:
        self._path = path
        self._patience = patience
        self._threads = threading.Lock()
        self._queue: _FileLockWaiter | None = None
        self._are_possible = fcntl is not None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn: among the threads as long as it takes, among processes with patience."""
        with self._threads:
            queue = self._entered()
            is_ours = queue is not None and queue.wait(self._patience)
            try:
                yield
            finally:
                if queue is not None and is_ours:
                    queue.leave()

    def close(self) -> None:
        """Give the file back; another turn opens it again."""
        with self._threads:
            if self._queue is not None:
                self._queue.close()
                self._queue = None

    def _entered(self) -> "_FileLockWaiter | None":
        if self._queue is None and self._are_possible:
            try:
                self._queue = _FileLockWaiter(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            except OSError:  # a folder that may not be written to, or a file system without locks
                self._are_possible = False
        return self._queue


class _Ticket:
    """One wait, which ends by a turn or by giving up, whichever is first."""

    __slots__ = ("_given_up", "_lock", "called")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given_up = False
        self.called = threading.Event()

    def call(self) -> bool:
        """Say that it is one's turn; whether anybody still waits for it."""
        with self._lock:
            if not self._given_up:
                self.called.set()
            return not self._given_up

    def end(self) -> bool:
        """Wait no longer; whether it was one's turn."""
        with self._lock:
            self._given_up = not self.called.is_set()
            return not self._given_up


class _FileLockWaiter:
    """Waits at the lock of a file; where it is taken, in a thread, because such a wait knows no limit."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._places = SimpleQueue[_Ticket | None]()
        self._waiter: threading.Thread | None = None

    def wait(self, seconds: float) -> bool:
        """Whether one's turn came in that time."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._started() and self._called(seconds)
        except OSError:  # a file system that has no such locks
            return False
        return True

    def leave(self) -> None:
        """End one's turn."""
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """To be used no more."""
        if self._waiter is None:
            os.close(self._file)
        else:
            self._places.put(None)

    def _started(self) -> bool:
        if self._waiter is None:
            waiter = threading.Thread(target=self._run, name="headgate-turns", daemon=True)
            try:
                waiter.start()
            except RuntimeError:  # the interpreter is about to end
                return False
            self._waiter = waiter
        return True

    def _called(self, seconds: float) -> bool:
        place = _Ticket()
        self._places.put(place)
        try:
            place.called.wait(seconds)
        except BaseException:
            if place.end():
                self.leave()
            raise
        return place.end()

    def _run(self) -> None:
        while (place := self._places.get()) is not None:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            if not place.call():
                self.leave()
        os.close(self._file)
