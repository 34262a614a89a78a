"""Commits to SQLite share syncs of its log, and yet nothing is told that a power cut could undo."""

import errno
import fcntl
import os
import sqlite3
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.database import sqlite_group_fsync
from headgate.catalog.database.engine import Database, open_sqlite
from headgate.catalog.database.sqlite_group_fsync import GroupFsync
from headgate.errors import CommitUnknown, UnsafeDatabase

LONG, SHORT = 20.0, 0.1
FULL, NORMAL = 2, 1


def _nothing() -> None:
    pass


class Disk:
    """What a power cut would leave: the log as it was when a sync began that has succeeded."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "db"
        self.log = folder / "db-wal"
        self.numbers = folder / "db-sync"
        self.syncs = 0
        self.durable = b""
        self.during: Callable[[], None] = _nothing
        """What happens while a sync is under way."""
        self._folder = folder
        self._opened: list[Database] = []

    def fdatasync(self, file: int) -> None:
        assert os.path.samestat(os.fstat(file), self.log.stat()), "not the log that is in use"
        content = self.log.read_bytes()
        self.syncs += 1
        self.during()
        self.durable = content

    def open(self) -> Database:
        """The database as another process would open it."""
        self._opened.append(open_sqlite(self.path))
        return self._opened[-1]

    def close(self) -> None:
        for database in self._opened:
            database.close()

    def notes_after_a_power_cut(self) -> set[str]:
        # Copied by another process: one that closes the file takes away its own locks of SQLite.
        copy = self._folder / "copy"
        subprocess.run(["cp", str(self.path), str(copy)], check=True)
        copy.with_name("copy-wal").write_bytes(self.durable)
        found = sqlite3.connect(copy)
        try:
            return {name for (name,) in found.execute("SELECT name FROM notes")}
        finally:
            found.close()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    monkeypatch.setattr(Database, "migrate", lambda _database: None)
    found = Disk(tmp_path)
    monkeypatch.setattr(os, "fdatasync", found.fdatasync)
    with found.open().writing() as db:
        db.exec_driver_sql("CREATE TABLE notes (name TEXT)")
        db.exec_driver_sql("INSERT INTO notes VALUES ('first')")
    found.syncs = 0
    yield found
    found.during = _nothing
    found.close()


def note(database: Database, name: str) -> None:
    with database.writing() as db:
        db.exec_driver_sql("INSERT INTO notes VALUES (?)", (name,))


def notes(database: Database) -> set[str]:
    with database.reading() as db:
        return {name for (name,) in db.exec_driver_sql("SELECT name FROM notes")}


class Call(threading.Thread):
    """A call in a thread of its own, as of another process."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        super().__init__(daemon=True)
        self._call, self._arguments = call, arguments
        self.answer: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.answer = self._call(*self._arguments)
        except Exception as exc:
            self.answer = exc

    def has_ended(self, seconds: float) -> bool:
        self.join(seconds)
        return not self.is_alive()


class Gate:
    """Stops whoever comes first, until it is opened; the others pass."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, *_: Any) -> None:
        if not self.reached.is_set():
            self.reached.set()
            assert self.opened.wait(LONG)


def test_what_was_acknowledged_outlives_a_power_cut(disk: Disk) -> None:
    lock, told = threading.Lock(), {"first"}

    def work(writer: int) -> None:
        database = disk.open()
        for number in range(6):
            note(database, f"{writer}-{number}")
            with lock:
                told.add(f"{writer}-{number}")
                assert told <= disk.notes_after_a_power_cut()

    writers = [Call(work, writer) for writer in range(4)]

    assert all(writer.has_ended(LONG) for writer in writers)
    assert [writer.answer for writer in writers] == [None] * 4
    assert len(told) == 25


def test_a_sync_that_began_before_a_commit_is_not_its_sync(disk: Disk) -> None:
    gate = disk.during = Gate()
    early = Call(note, disk.open(), "early")
    assert gate.reached.wait(LONG)
    late = Call(note, disk.open(), "late")
    while struct.unpack("2q", disk.numbers.read_bytes()[:16]) != (3, 3):  # begun and ended
        assert not late.has_ended(0.001)
    gate.opened.set()

    assert early.has_ended(LONG)
    assert late.has_ended(LONG)
    assert disk.notes_after_a_power_cut() == {"first", "early", "late"}


def test_commits_that_wait_at_the_same_moment_share_a_sync(disk: Disk) -> None:
    gate = disk.during = Gate()
    first = Call(note, disk.open(), "0")
    assert gate.reached.wait(LONG)
    others = [Call(note, disk.open(), str(number)) for number in range(1, 9)]
    while struct.unpack("2q", disk.numbers.read_bytes()[:16]) != (10, 10):
        assert not first.has_ended(0.001)
    gate.opened.set()

    assert all(call.has_ended(LONG) for call in (first, *others))
    assert disk.syncs == 2
    assert len(disk.notes_after_a_power_cut()) == 10


def _refuse(database: Database) -> None:
    with database.writing() as db:
        found = {name for (name,) in db.exec_driver_sql("SELECT name FROM notes")}
        raise LookupError(found)


def _write_nothing(database: Database) -> set[str]:
    with database.writing() as db:
        return {name for (name,) in db.exec_driver_sql("SELECT name FROM notes")}


@pytest.mark.parametrize("look", [notes, _refuse, _write_nothing])
def test_nobody_tells_of_a_commit_that_is_not_synced(disk: Disk, look: Callable[..., Any]) -> None:
    gate = disk.during = Gate()
    writer = Call(note, disk.open(), "second")
    assert gate.reached.wait(LONG)
    looker = Call(look, disk.open())

    assert not looker.has_ended(SHORT)
    gate.opened.set()
    assert looker.has_ended(LONG)
    assert "second" in str(looker.answer)
    assert writer.has_ended(LONG)


def test_a_commit_is_seen_before_its_end_is_known_and_synced_before_it_is_told(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, end = Gate(), GroupFsync.end

    def late(mine: GroupFsync, number: int) -> None:
        gate()
        end(mine, number)

    monkeypatch.setattr(GroupFsync, "end", late)
    writer = Call(note, disk.open(), "second")
    assert gate.reached.wait(LONG)

    assert notes(disk.open()) == {"first", "second"}
    assert disk.notes_after_a_power_cut() == {"first", "second"}
    gate.opened.set()
    assert writer.has_ended(LONG)


def test_a_sync_before_a_commit_that_was_begun_is_not_its_sync(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, begin = Gate(), GroupFsync.begin

    def early(mine: GroupFsync) -> int:
        number = begin(mine)
        gate()
        return number

    monkeypatch.setattr(GroupFsync, "begin", early)
    writer = Call(note, disk.open(), "second")
    assert gate.reached.wait(LONG)
    assert notes(disk.open()) == {"first"}
    assert disk.syncs == 1
    gate.opened.set()

    assert writer.has_ended(LONG)
    assert disk.notes_after_a_power_cut() == {"first", "second"}


def test_a_reader_does_not_see_what_came_after_it_looked_what_to_wait_for(disk: Disk) -> None:
    gate = disk.during = Gate()
    with disk.open().reading() as db:
        writer = Call(note, disk.open(), "second")
        assert gate.reached.wait(LONG)
        assert db.exec_driver_sql("SELECT name FROM notes").all() == [("first",)]

    assert not writer.has_ended(0)
    gate.opened.set()
    assert writer.has_ended(LONG)


def test_when_all_is_synced_nobody_syncs(disk: Disk) -> None:
    database, other = disk.open(), disk.open()
    note(database, "second")

    for look in (notes, _write_nothing):
        assert look(other) == {"first", "second"}
    with pytest.raises(LookupError):
        _refuse(other)
    assert disk.syncs == 1


def test_a_disk_that_failed_is_trusted_by_nobody_until_somebody_saw_to_it(disk: Disk) -> None:
    database, other = disk.open(), disk.open()

    def fail() -> None:
        disk.during = _nothing  # the next sync would succeed, as Linux has it
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    gate = Gate()
    disk.during = lambda: (gate(), fail())[0]
    failing = Call(note, database, "second")
    assert gate.reached.wait(LONG)
    waiting = Call(note, other, "third")
    assert not waiting.has_ended(SHORT)
    gate.opened.set()

    for call in (failing, waiting):
        assert call.has_ended(LONG)
        assert isinstance(call.answer, CommitUnknown)
    for use in (notes, _refuse, lambda database: note(database, "fourth")):
        for user in (database, other, disk.open()):
            with pytest.raises(UnsafeDatabase, match="db-sync"):
                use(user)
    assert disk.notes_after_a_power_cut() == {"first"}

    disk.close()
    disk.numbers.unlink()
    assert notes(disk.open()) == {"first", "second", "third"}


@pytest.mark.parametrize("left", [(0, 0, 0), (5, 5, 9), (9, 5, 5), (5, 9, 5)])
def test_whatever_numbers_a_power_cut_left_the_next_commit_is_synced(
    disk: Disk, left: tuple[int, ...]
) -> None:
    disk.close()
    with disk.numbers.open("r+b") as file:
        file.write(struct.pack("3q", *left))
    database = disk.open()
    note(database, "second")

    assert disk.notes_after_a_power_cut() == {"first", "second"}
    assert disk.syncs == 1
    notes(database)
    assert disk.syncs == 1


def test_a_log_that_the_last_to_close_removed_is_not_synced_for_the_new_one(disk: Disk) -> None:
    database = disk.open()
    note(database, "second")
    disk._opened[0].close()
    database._connections.close()
    assert not disk.log.exists()

    note(database, "third")  # Disk looks at which log is synced
    assert disk.notes_after_a_power_cut() == {"first", "second", "third"}


def test_a_new_log_is_durable_by_its_name_before_a_commit_in_it_is_told(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str] = []
    monkeypatch.setattr(sqlite_group_fsync, "sync_folder", named.append)
    database = disk.open()

    note(database, "a")
    assert named == [str(disk.log.parent)]
    note(database, "b")
    assert len(named) == 1


def test_a_link_to_the_database_has_the_numbers_of_the_database(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(disk.path)
    database = open_sqlite(link)
    note(database, "second")
    database.close()

    assert disk.notes_after_a_power_cut() == {"first", "second"}
    assert struct.unpack("3q", disk.numbers.read_bytes()[:24]) == (2, 2, 2)


def test_a_lock_that_never_comes_keeps_nobody_from_syncing(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_group_fsync, "_PATIENCE_SECONDS", SHORT)
    database = disk.open()
    with disk.numbers.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        note(database, "second")

    assert disk.notes_after_a_power_cut() == {"first", "second"}


def _synchronous(database: Database) -> int:
    with database.reading() as db:
        return int(db.exec_driver_sql("PRAGMA synchronous").scalar() or 0)


def test_without_the_numbers_sqlite_syncs_each_commit_and_who_reads_syncs(disk: Disk) -> None:
    """Others may have them, and not have synced yet."""
    sharing = disk.open()
    assert _synchronous(sharing) == NORMAL
    hidden = disk.numbers.rename(disk.numbers.with_name("hidden"))
    disk.numbers.mkdir()
    database = disk.open()
    assert _synchronous(database) == FULL
    disk.numbers.rmdir()
    hidden.rename(disk.numbers)

    gate = disk.during = Gate()
    writer = Call(note, sharing, "second")
    assert gate.reached.wait(LONG)
    for look in (notes, _write_nothing):
        disk.durable = b""
        assert look(database) == {"first", "second"}
        assert disk.notes_after_a_power_cut() == {"first", "second"}
    gate.opened.set()
    assert writer.has_ended(LONG)
    note(database, "third")
    assert notes(sharing) == {"first", "second", "third"}


def test_without_locks_of_files_sqlite_syncs_each_commit(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_group_fsync, "fcntl", None)
    database = disk.open()
    note(database, "second")

    assert notes(database) == {"first", "second"}
    assert _synchronous(database) == FULL
    assert disk.syncs == 0
