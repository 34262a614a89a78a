"""A table as its user holds it: each method is one call into the layer that does the work."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame, SparkSession

from headgate import owners
from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis
from headgate.protocol.domains import Remove, Set
from headgate.spark import changes, detail, history, scan, write
from headgate.table import alter, ownership
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
        return self._opened.describe().version

    def append(
        self, df: DataFrame, *, domains: Mapping[str, str] | None = None, since: int | None = None
    ) -> int:
        """Add the rows of ``df``; the version that has them. Appends never lose to each other.

        With ``domains`` the same commit gives these metadata domains their configurations: rows and,
        say, the mark up to which they were loaded arrive together or not at all. If the rows depend on
        what a domain was at a version, say so with ``since``, as in ``set_domain``.
        """
        return write.append(self._opened, df, domains=domains, since=since)

    def overwrite(self, df: DataFrame) -> int:
        """Replace all rows by those of ``df``; the version that has them. Older versions stay readable."""
        return write.overwrite(self._opened, df)

    def read(
        self,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        or_earliest: bool = False,
        where: Column | str | None = None,
        row_ids: bool = False,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """The rows now, at a version, or as of a moment (a datetime or ISO text; without a zone, UTC).

        A moment before the earliest version that can be read is refused, or with ``or_earliest`` means it.
        With ``where`` only those that meet a condition; files that cannot have any are not opened.
        With ``row_ids`` a table that tracks its rows also gives ``_row_id`` and ``_row_commit_version``.
        """
        moment = None if timestamp is None else _millis(timestamp)
        snapshot = self._opened.snapshot(version=version, timestamp=moment, or_earliest=or_earliest)
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
            self._opened,
            snapshot,
            name=self.name,
            modified=newest[0].timestamp,
        )

    def domains(self, *, version: int | None = None) -> Mapping[str, str]:
        """The table's metadata domains and their configurations, now or at a version."""
        return self._opened.domains(version=version)

    def domain(self, name: str, *, version: int | None = None) -> str | None:
        """The configuration of one metadata domain, None if there is no such domain."""
        return self.domains(version=version).get(name)

    def set_domain(self, name: str, configuration: str, *, since: int | None = None) -> int:
        """Give a metadata domain a configuration; the version that has it.

        If you decided from what the domain was at a version, say so with ``since``: whatever others
        made of it after that is then merged by the domain's handler, or is a conflict.
        """
        return self.change_domains({name: configuration}, since=since)

    def remove_domain(self, name: str, *, since: int | None = None) -> int:
        """Take a metadata domain away; the version without it."""
        return self.change_domains({}, remove=(name,), since=since)

    def change_domains(
        self, configurations: Mapping[str, str], *, remove: Iterable[str] = (), since: int | None = None
    ) -> int:
        """Set and remove several metadata domains in one commit; its version."""
        sets = [Set(name, configuration) for name, configuration in configurations.items()]
        return self._opened.change_domains((*sets, *map(Remove, remove)), since=since)

    def properties(self) -> Mapping[str, str]:
        """The table's properties."""
        return dict(self._opened.describe().metadata.configuration)

    def set_properties(self, properties: Mapping[str, str]) -> int:
        """Give properties these values, in one commit; the version that has them.

        Delta's own, ``delta.*``, are checked, and add the features they need; see the reference page
        of properties. ``delta.enableRowTracking`` first gives ids to the rows that are there, in commits
        before this one. If nothing changes there is no new version.
        """
        return alter.set_properties(self._opened, properties)

    def unset_properties(self, names: Iterable[str], *, if_exists: bool = False) -> int:
        """Take properties away; the version without them. Each must be there, unless ``if_exists``."""
        return alter.unset_properties(self._opened, tuple(names), if_exists=if_exists)

    def set_comment(self, comment: str | None) -> int:
        """Describe the table in words, or with None no longer; the version that says so."""
        return alter.set_comment(self._opened, comment)

    def add_feature(self, name: str) -> int:
        """Have the table's protocol name a feature, and those it requires; the version from which it does.

        Clients that do not know it can then no longer write the table, or not even read it.
        """
        return alter.add_feature(self._opened, name)

    def drop_feature(self, name: str, *, truncate_history: bool = False) -> int:
        """Switch a feature off and have the protocol no longer name it; the version from which it does not.

        Refused while rows, files or other features depend on it. Older versions keep it; if that concerns
        readers, the table gets the feature ``checkpointProtection``, or with ``truncate_history`` loses
        those versions, once they are old enough.
        """
        return alter.drop_feature(self._opened, name, truncate_history=truncate_history)

    def coordinate(self, owner: str, conf: Mapping[str, str]) -> int:
        """Give an ordinary table to a commit owner, by its name and conf; the version that says so.

        From then on the owner decides every commit, and the file system need guarantee nothing. If
        somebody commits meanwhile: ``ConcurrentWrite``, and nothing happened.
        """
        return ownership.coordinate(self._opened, owners.find, owner, conf)

    def uncoordinate(self) -> int:
        """Take the table back from its commit owner; the version from which it is an ordinary one.

        Everything is published then. After a failure in the middle, repeat it.
        """
        return ownership.uncoordinate(self._opened)

    def publish(self) -> int:
        """Publish every ratified version to ``_delta_log``; the latest of them."""
        return self._opened.publish()

    def checkpoint(self) -> int:
        """Write a checkpoint of the latest version, so that readers need not replay the log; that version.

        After every ``delta.checkpointInterval`` commits it happens by itself.
        """
        return self._opened.checkpoint()

    def compact_log(self, start: int, end: int) -> None:
        """Write one file that readers may take in place of the commits from ``start`` to ``end``."""
        self._opened.compact_log(start, end)

    def cleanup_log(self) -> tuple[str, ...]:
        """Delete what is older than ``delta.logRetentionDuration`` from the log; the paths of what is gone.

        The versions before the checkpoint that stays can then no longer be read. Refused for
        catalog-managed tables, whose log belongs to the catalog.
        """
        return self._opened.cleanup_log()


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
