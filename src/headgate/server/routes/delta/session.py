"""For whom, and in which lake, is a request of this API? What its handlers work with."""

import threading
from dataclasses import dataclass

from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.wire.delta_api import MetricsReport
from headgate.errors import TooManyUnpublished
from headgate.protocol.actions import Version
from headgate.server.caller import Caller
from headgate.server.credentials import CredentialVendor
from headgate.server.delta_api import DeltaApiSettings
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.operations.measured_commits import CommitReports
from headgate.storage.locate import locate
from headgate.table.commit import publish

_LOCKS = tuple(threading.Lock() for _ in range(64))
"""So that many who wait for one table to be published do not all publish it."""


@dataclass(frozen=True, slots=True)
class DeltaSession:
    """One caller at one lake."""

    lake: ServedLake
    caller: Caller
    catalog: LakeCatalog
    """On behalf of the caller."""
    settings: DeltaApiSettings
    credentials: CredentialVendor
    reports: CommitReports

    def record_metrics(self, entry: TableEntry, report: MetricsReport | None) -> None:
        """Hand on what a client measured of its commit."""
        if report is not None and report.commit_report is not None:
            self.reports.record(self.lake.name, entry, report.commit_report)

    def publish(self, entry: TableEntry) -> Version:
        """Publish all that is ratified of a table, for whoever reads its log; the last version then."""
        with _LOCKS[hash(entry.table_id) % len(_LOCKS)]:
            return publish.publish(locate(entry.location), self.lake.catalog, entry.table_id)

    def check_room(self, latest: Version, published: Version) -> None:
        """If strict, refuse one more commit while too many wait to be published."""
        waiting, limit = latest - published, self.settings.unpublished_limit
        if self.settings.strict and waiting >= limit:
            raise TooManyUnpublished(
                f"{waiting} commits of the table wait to be published, and {limit} may; nothing was "
                "committed: publish them, report that with set-latest-backfilled-version, and try again",
                latest=latest, published=published, limit=limit,
            )  # fmt: skip


def decode_segment(segment: str) -> str:
    """A part of a path as it is meant: whoever cannot send a dot sends a unit separator."""
    return segment.replace("\x1f", ".")


def table_name(schema: str, table: str) -> TableName:
    """The table that a path names."""
    return TableName(decode_segment(schema), decode_segment(table))


def provide_session(
    catalog: FromPath[str], caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], state: State
) -> DeltaSession:
    """What a handler works with; asked for as ``session`` below ``/catalogs/{catalog}``."""
    return open_session(lakes.find(decode_segment(catalog)), caller, state)


def open_session(lake: ServedLake, caller: Caller, state: State) -> DeltaSession:
    """What is done for a caller in one lake."""
    return DeltaSession(
        lake,
        caller,
        lake.catalog_for(caller.principal),
        state.delta_api,
        state.credential_vendor,
        state.commit_reports,
    )
