"""A ledger in memory, for coordinators that forget everything with their process."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from headgate.catalog.ports.commits import RatifiedCommit
from headgate.catalog.ports.ledger import LedgerEntry, Registration, last_forgettable_version
from headgate.protocol.actions import TxnId, Version


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

    def open(self, record: Registration, *, abandoned: Iterable[str] = ()) -> None:
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
            forgotten = last_forgettable_version(page.record.published)
            page.commits = {at: commit for at, commit in page.commits.items() if at > forgotten}
