"""What becomes of the numbers that clients report of their commits? Whoever keeps them is handed each."""

from typing import Protocol

from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.delta_api import CommitReport


class CommitReports(Protocol):
    """Hears of commits what their writers measured; safe to share between threads, and quick."""

    def record(self, lake: str, table: TableEntry, report: CommitReport) -> None:
        """Hear of one commit; nobody waits for it to be kept, and it may be wrong."""
        ...


class UnkeptReports:
    """Keeps nothing, as Unity Catalog does."""

    def record(self, lake: str, table: TableEntry, report: CommitReport) -> None: ...
