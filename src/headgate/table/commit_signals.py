"""Who is told at once that a table may have a new version? Whoever waits for one in this process.

A signal is a hint, and nothing is decided by it: whoever gets one asks whoever decides the table's commits,
and so does, after some time, whoever got none.

    mark = COMMIT_SIGNALS.mark(table_id)
    seen, told = mark.count, COMMIT_SIGNALS.told
    …                                               # ask for the latest version: there is nothing new
    COMMIT_SIGNALS.wait(told, seconds=0.1)          # ends at once when any table is told of
    mark.count != seen                              # whether it was this one
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakValueDictionary


@dataclass(slots=True, weakref_slot=True)
class CommitMark:
    """How often it was told that one table may have a new version."""

    count: int = 0


class CommitSignals:
    """Tells those who wait; safe to share between threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._marks = WeakValueDictionary[str, CommitMark]()
        self.told = 0
        """Greater after every signal to anybody."""

    def mark(self, table: str) -> CommitMark:
        """The mark of a table, by the id in its metadata or that of its catalog; to be held while needed."""
        with self._changed:
            return self._marks.setdefault(table, CommitMark())

    def tell(self, tables: Iterable[str]) -> None:
        """Tell those who wait for one of these tables."""
        if not self._marks:  # of a commit that nobody waits for
            return
        with self._changed:
            self._tell([mark for table in tables if (mark := self._marks.get(table)) is not None])

    def tell_all(self) -> None:
        """Tell everybody: of what was committed meanwhile nobody knows."""
        with self._changed:
            self._tell(list(self._marks.values()))

    def wait(self, told: int, seconds: float) -> None:
        """Wait until somebody is told more than ``told`` signals, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self.told != told, seconds)

    def _tell(self, marks: list[CommitMark]) -> None:
        for mark in marks:
            mark.count += 1
        if marks:
            self.told += 1
            self._changed.notify_all()


COMMIT_SIGNALS = CommitSignals()
"""Those of this process: whoever commits by one handle of a table wakes whoever waits with another."""
