"""What a transaction reads while it runs, written down by scans that may run at the same time."""

import threading
from collections.abc import Iterable
from typing import Protocol

from headgate.protocol.actions import Version
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.transaction.attempt import ReadSet


class ReadObserver(Protocol):
    """Wants to know what is read of a table, by version; safe to share between threads."""

    def scanned(self, version: Version, predicate: Predicate | None, files: Iterable[str]) -> None:
        """Rows were asked for, by a predicate or all of them; they are in these files, by path."""
        ...

    def looked_up_domains(self, version: Version) -> None:
        """The metadata domains were asked for."""
        ...


class ReadRecorder:
    """Remembers every scan of a transaction; safe to share between threads.

    An entry that got lost would be a conflict that nobody sees, so everything is under one lock (P20).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._predicates: dict[Predicate, None] = {}
        self._files: set[str] = set()
        self._whole_table = False
        self._domains = False

    def scanned(self, predicate: Predicate, files: Iterable[str]) -> None:
        """Rows were asked for by ``predicate``, and found in these files, by path."""
        found = tuple(files)
        with self._lock:
            self._predicates[predicate] = None
            self._files.update(found)

    def scanned_everything(self) -> None:
        """Any row may have been seen, in a way that left no trace here."""
        with self._lock:
            self._whole_table = True

    def domains(self) -> None:
        """Metadata domains were looked up."""
        with self._lock:
            self._domains = True

    def freeze(self) -> ReadSet:
        """What was read so far."""
        with self._lock:
            return ReadSet(
                predicates=tuple(self._predicates),
                files=frozenset(self._files),
                whole_table=self._whole_table,
                domains=self._domains,
            )
