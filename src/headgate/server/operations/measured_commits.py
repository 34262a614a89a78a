"""What becomes of the numbers that clients report of their commits? They are counted, and written down.

A line of the log has each report with its lake and table; the metrics add them up by lake. They are what
clients say, and nothing is decided by them.
"""

import logging
from typing import Protocol

import msgspec

from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.delta_api import CommitReport
from headgate.server.operations.logs import FIELDS
from headgate.server.operations.metrics import ServerMetrics

REPORTS = logging.getLogger("headgate.commits")


class CommitReports(Protocol):
    """Hears of commits what their writers measured; safe to share between threads, and quick."""

    def record(self, lake: str, table: TableEntry, report: CommitReport) -> None:
        """Hear of one commit; nobody waits for it to be kept, and it may be wrong."""
        ...


class MeasuredCommits:
    """Counts what is reported, and writes each report down."""

    def __init__(self, metrics: ServerMetrics) -> None:
        self._metrics = metrics

    def record(self, lake: str, table: TableEntry, report: CommitReport) -> None:
        """Count one report; a number that is none, or negative, counts nothing."""
        numbers = {
            name: value
            for name, value in msgspec.structs.asdict(report).items()
            if isinstance(value, int) and value >= 0
        }
        for name, value in numbers.items():
            self._metrics.reported.labels(lake, name.removeprefix("num_")).inc(value)
        REPORTS.info("commit report", extra={FIELDS: {"lake": lake, "table": str(table.name), **numbers}})
