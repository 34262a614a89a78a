"""Where a commit owner writes down what it decided: the port, and a ledger in memory."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Protocol

from headgate.catalog.coordinator import rules
from headgate.catalog.coordinator.rules import Registration
from headgate.catalog.ports.commits import RatifiedCommit
from headgate.protocol.actions import TxnId, Version


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A registration, and the commit that a transaction asked about already is."""

    record: Registration
    ratified: RatifiedCommit | None = None


class Ledger(Protocol):
    """Records and commits, durable as the implementation says; equal ledgers are the same one."""

    def records(self, location: str) -> tuple[Registration, ...]:
        """Every registration at a place."""
        ...

    def open(self, record: Registration, *, abandoned: Collection[str] = ()) -> None:
        """Write a registration down, and forget those of these ids, if they ratified nothing.

        One of the same id that is there stays as it is; that may be said by ``CatalogUnavailable``.
        """
        ...

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        """A registration, and what it ratified for ``txn_id``."""
        ...

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        """Write the commit down if its version is the next one and commits are accepted; whether it was.

        In the same moment ``accepting`` says whether more may come. ``CommitUnknown`` if nobody can tell.
        """
        ...

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        """Every commit from this version on that is not forgotten, published ones too, ascending."""
        ...

    def publish(self, table_id: str, version: Version) -> None:
        """Record that everything up to this version is published; a lower version changes nothing.

        Of the published commits only the last ``rules.REMEMBERED_COMMITS`` are kept.
        """
        ...


@dataclass
class _RegisteredCommits:
    record: Registration
    commits: dict[Version, RatifiedCommit] = field(default_factory=dict)


class MemoryLedger:
    """Gone with the process; for tests, and for tables that only one process ever writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pages: dict[str, _RegisteredCommits] = {}

    def records(self, location: str) -> tuple[Registration, ...]:
        with self._lock:
            return tuple(page.record for page in self._pages.values() if page.record.location == location)

    def open(self, record: Registration, *, abandoned: Collection[str] = ()) -> None:
        with self._lock:
            for table_id in abandoned:
                if table_id in self._pages and self._pages[table_id].record.latest is None:
                    del self._pages[table_id]
            self._pages.setdefault(record.table_id, _RegisteredCommits(record))

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        with self._lock:
            page = self._pages.get(table_id)
            if page is None:
                return None
            found = (commit for commit in page.commits.values() if commit.txn_id == txn_id)
            return LedgerEntry(page.record, next(found, None) if txn_id is not None else None)

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        with self._lock:
            page = self._pages[table_id]
            if page.record.next != commit.version or not page.record.accepting:
                return False
            page.commits[commit.version] = commit
            page.record = replace(page.record, next=Version(commit.version + 1), accepting=accepting)
            return True

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        with self._lock:
            found = self._pages[table_id].commits
            return tuple(found[version] for version in sorted(found) if version >= start)

    def publish(self, table_id: str, version: Version) -> None:
        with self._lock:
            page = self._pages[table_id]
            page.record = replace(page.record, published=max(page.record.published, version))
            forgotten = rules.last_forgettable_version(page.record.published)
            page.commits = {at: commit for at, commit in page.commits.items() if at > forgotten}
