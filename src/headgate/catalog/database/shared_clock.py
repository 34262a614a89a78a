"""What time is it for all who share a catalog? Not what the clock of one process says.

A lease that one process gave ends when another says so, and what it protected is then deleted. So the time of
a catalog has one source: the database server's, or where the catalog is a file, that of the file system it
is on, which says when a file beside the database was touched.
"""

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, text

from headgate.catalog.database.engine import Database
from headgate.clock import World

_SERVER = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")


class SharedWorld:
    """The world of a catalog: chance and identifiers of the process, and a time that all agree on."""

    def __init__(self, process: World, now_ms: Callable[[], int]) -> None:
        self._process = process
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms()

    def sleep(self, seconds: float) -> None:
        self._process.sleep(seconds)

    def uuid(self) -> str:
        return self._process.uuid()

    def jitter(self) -> float:
        return self._process.jitter()


def from_file_system(database: Path, process: World) -> SharedWorld:
    """The world of a catalog in a file: the time is that of its file system."""
    beside = database.with_name(f"{database.name}-clock")

    def now_ms() -> int:
        try:
            return _touched_file_time_ms(beside, database)
        except OSError:  # whoever may not write there may not write to the database either, so ends no lease
            return process.now_ms()

    return SharedWorld(process, now_ms)


def _touched_file_time_ms(path: Path, database: Path) -> int:
    try:
        os.utime(path)  # without a time, so that the file system says which
    except FileNotFoundError:
        file = os.open(path, os.O_RDWR | os.O_CREAT, stat.S_IMODE(database.stat().st_mode))
        os.close(file)
        os.utime(path)
    return path.stat().st_mtime_ns // 1_000_000


def from_server(database: Database, process: World) -> SharedWorld:
    """The world of a catalog on a server, whose time is asked once, and then counted on from.

    Not by the process's clock, which somebody may set.
    """
    with database.reading() as db:
        before = _ticking_ms()
        asked = server_time_ms(db)
    return SharedWorld(process, lambda: asked + _ticking_ms() - before)


def server_time_ms(db: Connection) -> int:
    """The time of a server, this very moment."""
    return int(db.scalar(_SERVER) or 0)


def _ticking_ms() -> int:
    """Milliseconds that pass while the machine sleeps, too, where it can tell."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return (time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)) // 1_000_000
