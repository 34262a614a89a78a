"""What does this process know of a table already? The newest snapshot it has seen, and one to append to.

Whoever appends needs no files: what the catalog tells of a table is enough, and its log stays unread. Such a
snapshot is kept apart, because whoever reads would have to go back to the log for its files.

``benchmarks/many_tables.py`` justifies it: there each commit is the first of its handle, and to read a
checkpoint and a few commits for it took as long as the commit.
"""

import threading
from collections.abc import Callable

from headgate.table.read.snapshot import Snapshot


class KnownSnapshots:
    """The newest snapshots of one table; safe to share between threads."""

    def __init__(self, on_load: Callable[[Snapshot], None] = lambda _loaded: None) -> None:
        """``on_load`` hears of each one that was loaded from the log and is news."""
        self._lock = threading.Lock()
        self._on_load = on_load
        self._loaded: Snapshot | None = None
        self._unread: Snapshot | None = None

    @property
    def loaded(self) -> Snapshot | None:
        """The newest one that was loaded from the log."""
        return self._loaded

    @property
    def newest(self) -> Snapshot | None:
        """The newest one, whether or not its files are known."""
        return self._unread or self._loaded

    def advance(self, found: Snapshot) -> None:
        """Keep a snapshot if it is news."""
        with self._lock:
            if found.files.is_unread:
                if self.newest is None or found.version > self.newest.version:
                    self._unread = found
                return
            is_news = self._loaded is None or found.version > self._loaded.version
            if is_news:
                self._loaded = found
            if self._unread is not None and self._unread.version <= found.version:
                self._unread = None
        if is_news:
            self._on_load(found)

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._loaded = self._unread = None
