"""When is a commit of SQLite safe from a power cut? Many commits, of many processes, share one sync.

SQLite would sync its log (``-wal``) in every commit, with all other writers kept out. Here it commits
without, and whoever must be sure syncs the log itself, afterwards, for all that have committed by then.
Numbers tell who that is, in a page of memory that all processes share, a file beside the database:

* ``begun`` is raised before a commit, while SQLite's write lock is held, so commits have one order;
* ``ended`` is raised after it, so a sync that begins later has all commits up to there;
* ``synced`` is what ``ended`` was when a sync began that has succeeded.

Nothing is told before it is durable, as if each commit had been synced. A writer waits for its own
number. A reader waits for what ``begun`` was just after its snapshot was taken: whatever it can see had
been begun by then. Either may instead sync the log itself, because what it wrote or saw is in there.

None of this depends on a lock of ours: the one below only keeps two from syncing at the same moment.
Each number says something that is true whoever writes it, and stays true if it is overwritten by a
smaller one. So a writer that dies leaves at worst a number that nobody reaches, and readers sync for
themselves until the next commit; and what a power cut left in the file is only where counting goes on.
Old commits are never in question: SQLite syncs them before it begins its log anew or removes it.

The page has ``begun`` 7, ``ended`` 6 and ``synced`` 4: commit 7 is being made, 5 and 6 are in the log and
wait for a sync. Whoever of the two gets the lock first syncs, and raises ``synced`` to 6: both return.
Commit 7 waits for the next.

``benchmarks/concurrent_writers.py`` is why it is worth its while: 16 processes share a disk there, and one
sync serves two or three commits.
"""

import mmap
import os
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

from headgate.storage.local import sync_folder

try:
    import fcntl
except ImportError:  # no such locks on Windows, where each commit is synced by SQLite
    fcntl = None  # type: ignore[assignment]

_BEGUN, _ENDED, _SYNCED, _FAILED = range(4)
_LOOK_AGAIN_SECONDS, _SLOWER, _LONGEST_PAUSE_SECONDS = 0.0002, 1.4, 0.005
_PATIENCE_SECONDS = 30.0


class NotDurable(Exception):
    """The disk did not take what was committed; whether it has it nobody knows."""


class GroupFsync:
    """The syncs of one database file, for one process."""

    def __init__(self, database: Path) -> None:
        # SQLite follows links, too: its log is beside the file itself.
        real = database.resolve()
        self._log = real.with_name(f"{real.name}-wal")
        self._path = real.with_name(f"{real.name}-sync")
        self._threads = threading.Lock()
        self._lock: int | None = None
        self._open_log: int | None = None
        self._numbers = self._mapped(real) if fcntl is not None else None

    @property
    def are_shared(self) -> bool:
        """Whether commits may leave the sync to ``wait``; otherwise SQLite must sync each."""
        return self._numbers is not None

    def last_begun_commit(self) -> int:
        """The last commit that may be visible by now."""
        return 0 if self._numbers is None else self._checked(self._numbers)[_BEGUN]

    def begin(self) -> int:
        """The number of a commit; for whoever holds SQLite's write lock, and before it commits."""
        if self._numbers is None:
            return 0
        numbers = self._checked(self._numbers)
        number = max(numbers[:_FAILED]) + 1
        numbers[_BEGUN] = number
        return number

    def end(self, number: int) -> None:
        """The commits up to this number are over, however they ended."""
        if self._numbers is not None and self._numbers[_ENDED] < number:
            self._numbers[_ENDED] = number

    def wait(self, number: int) -> None:
        """Return when the commits up to this number, ended or seen by the caller, are durable.

        Raises ``NotDurable`` if the disk failed, now or at any time since the database was set up.
        """
        numbers = self._numbers
        if numbers is None:
            if fcntl is not None:  # others may share their syncs, and we cannot see which were
                self._sync_alone()
            return
        pause, deadline = _LOOK_AGAIN_SECONDS, time.monotonic() + _PATIENCE_SECONDS
        while self._checked(numbers)[_SYNCED] < number:
            if time.monotonic() > deadline:  # whoever has the lock was stopped, or handed it to a child
                self._sync_alone()
                return
            if self._threads.acquire(timeout=pause):
                try:
                    if self._is_synced(numbers, number):
                        return
                finally:
                    self._threads.release()
                time.sleep(pause)
            pause = min(pause * _SLOWER, _LONGEST_PAUSE_SECONDS)

    def close(self) -> None:
        """Give the files back; they are opened again when needed."""
        with self._threads:
            for file in (self._lock, self._open_log):
                if file is not None:
                    os.close(file)
            self._lock = self._open_log = None

    def _is_synced(self, numbers: "memoryview[int]", number: int) -> bool:
        """Sync, unless somebody just did, or does; whether it is done."""
        try:
            if self._lock is None:
                self._lock = os.open(self._path, os.O_RDWR)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without such locks: everybody syncs for themselves
            self._sync_alone()
            return True
        try:
            if self._checked(numbers)[_SYNCED] < number:
                self._sync(numbers)
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        return True

    def _sync(self, numbers: "memoryview[int]") -> None:
        ended = numbers[_ENDED]
        try:
            self._find_log()
            if self._open_log is not None:
                _flush(self._open_log)
        except OSError as exc:
            raise self._failed(exc) from exc
        numbers[_SYNCED] = max(numbers[_SYNCED], ended)

    def _sync_alone(self) -> None:
        try:
            file = os.open(self._log, os.O_RDONLY)
        except FileNotFoundError:
            return
        except OSError as exc:
            raise NotDurable(f"{self._log} cannot be opened: {exc}") from exc
        try:
            _flush(file)
            sync_folder(str(self._log.parent))
        except OSError as exc:
            raise self._failed(exc) from exc
        finally:
            os.close(file)

    def _failed(self, exc: OSError) -> NotDurable:
        """Have everybody know: the next sync would succeed, although the disk lacks what this one had."""
        if self._numbers is not None:
            self._numbers[_FAILED] = 1
        return NotDurable(f"{self._log} could not be synced: {exc}")

    def _find_log(self) -> None:
        """Have the log open that is there now: whoever closes the database last removes it."""
        try:
            found = os.stat(self._log)
        except FileNotFoundError:
            found = None
        if self._open_log is not None:
            if found is not None and os.path.samestat(found, os.fstat(self._open_log)):
                return
            os.close(self._open_log)
            self._open_log = None
        if found is not None:
            with suppress(FileNotFoundError):
                self._open_log = os.open(self._log, os.O_RDONLY)
        if self._open_log is not None:
            # A log is durable by its name, too; SQLite sees to that only in the process that made it.
            sync_folder(str(self._log.parent))

    def _checked(self, numbers: "memoryview[int]") -> "memoryview[int]":
        if numbers[_FAILED]:
            raise NotDurable(
                f"a sync of {self._log} failed, and a second try would prove nothing: stop all that use the "
                f"database, see to its disk, look at what it has, and remove {self._path} to go on"
            )
        return numbers

    def _mapped(self, database: Path) -> "memoryview[int] | None":
        """The page with the numbers; None if there can be none."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return None
        try:
            _allocate_page(file, database)
            return memoryview(mmap.mmap(file, mmap.PAGESIZE)).cast("q")
        except (OSError, ValueError):
            return None
        finally:
            os.close(file)


def _allocate_page(file: int, database: Path) -> None:
    """A whole page on disk: memory that the file has no room for would end the process."""
    if os.fstat(file).st_size >= mmap.PAGESIZE:
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        if os.fstat(file).st_size < mmap.PAGESIZE:
            os.pwrite(file, bytes(mmap.PAGESIZE), 0)
            with suppress(OSError):  # whoever may write to the database shall write here
                os.fchmod(file, stat.S_IMODE(database.stat().st_mode))
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _flush(file: int) -> None:
    if hasattr(os, "fdatasync"):
        os.fdatasync(file)
    else:
        os.fsync(file)
