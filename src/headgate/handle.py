"""A table as its user holds it: each method is one call into the layer that does the work."""

from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession

from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis
from headgate.spark import changes, detail, history, scan, write
from headgate.table.changes import Moment, Range
from headgate.table.opened import OpenedTable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Table:
    """Read it, write to it, look at its past."""

    def __init__(self, name: str, opened: OpenedTable) -> None:
        self.name = name
        self._opened = opened

    @property
    def log(self) -> OpenedTable:
        """The table's log, for work that needs no Spark."""
        return self._opened

    @property
    def location(self) -> str:
        """Where the table's files are."""
        return self._opened.location

    def version(self) -> int:
        """The latest version."""
        return self._opened.snapshot().version

    def append(self, df: DataFrame) -> int:
        """Add the rows of ``df``; the version that has them. Appends never lose to each other."""
        return write.append(self._opened, df)

    def overwrite(self, df: DataFrame) -> int:
        """Replace all rows by those of ``df``; the version that has them. Older versions stay readable."""
        return write.overwrite(self._opened, df)

    def read(
        self,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        where: Column | str | None = None,
        row_ids: bool = False,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """The rows now, at a version, or as of a moment (a datetime or ISO text; without a zone, UTC).

        With ``where`` only those that meet a condition; files that cannot have any are not opened.
        With ``row_ids`` a table that tracks its rows also gives ``_row_id`` and ``_row_commit_version``.
        """
        moment = None if timestamp is None else _millis(timestamp)
        snapshot = self._opened.snapshot(version=version, timestamp=moment)
        return scan.read(spark or session(), self._opened, snapshot, where=where, row_ids=row_ids)

    def changes(
        self,
        start: int | datetime | str,
        end: int | datetime | str | None = None,
        *,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """The rows that came and went from ``start`` to ``end``, both included; each a version or a moment.

        Besides the table's columns there are ``_change_type``, ``_commit_version`` and
        ``_commit_timestamp``. The table must record changes: ``delta.enableChangeDataFeed=true``.
        """
        asked = Range(_bound(start), None if end is None else _bound(end))
        return changes.read(spark or session(), self._opened, asked)

    def history(self, *, limit: int | None = None, spark: SparkSession | None = None) -> DataFrame:
        """What happened, newest first, in Delta's columns."""
        return history.frame(spark or session(), self._opened.history(limit=limit))

    def detail(self, *, spark: SparkSession | None = None) -> DataFrame:
        """What the table is, in one row of Delta's columns."""
        snapshot, newest = self._opened.snapshot(), self._opened.history(limit=1)
        return detail.frame(
            spark or session(),
            snapshot,
            name=self.name,
            location=self._opened.location,
            modified=newest[0].timestamp,
        )

    def publish(self) -> int:
        """Publish every ratified version to ``_delta_log``; the latest of them."""
        return self._opened.publish()


def session() -> SparkSession:
    """The active Spark session, or a new local one."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _bound(given: int | datetime | str) -> int | Moment:
    return given if isinstance(given, int) else Moment(_millis(given))


def _millis(moment: datetime | str) -> EpochMillis:
    try:
        parsed = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError as exc:
        raise InvalidRequest(
            f"{moment!r} is not a moment: write it like 2026-01-31T12:00:00Z", code="DELTA_TIMESTAMP_INVALID"
        ) from exc
    aware = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
    return EpochMillis((aware - _EPOCH) // timedelta(milliseconds=1))
