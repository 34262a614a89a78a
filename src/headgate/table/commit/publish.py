"""Copying ratified commits to ``_delta_log``, in order, each exactly as it was ratified.

The catalog holds versions 6, 7 and 8, and the log ends with 5. ``00000000000000000006.json`` is created,
then 7, then 8, and the catalog is told 8 once for all three. If 7 is there with other bytes, 6 is
published, 7 becomes an incident, and 8 is not written; readers get 7 and 8 from the catalog.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from headgate.catalog import published_files
from headgate.catalog.ports.commits import CommitCatalog, RatifiedCommit, TableId
from headgate.errors import CorruptLog, HeadgateError
from headgate.progress import reporting
from headgate.protocol.actions import Version
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import catalog_tail, log_reader

_AT_ONCE, _AT_ONCE_BYTES = 256, 16 * 1024 * 1024


def publish(
    store: Store, catalog: CommitCatalog, table_id: TableId, frontier: Frontier | None = None
) -> Version:
    """Publish everything ratified so far, or up to a frontier; the last published version.

    Anyone may do this at any time, and several at once: a version that is there already is left
    as it is. It stops at the first version that fails, so no gap can arise (I3). A file that is not what
    was ratified is shown to the catalog, which makes it an incident.
    """
    if frontier is None:
        told = catalog_tail.fetch_tail(catalog, table_id)
        latest, commits = told.latest, told.commits
    else:
        latest = frontier.latest
        commits = tuple(frontier.unpublished[version] for version in sorted(frontier.unpublished))
    reading = _ReadableContents(store, commits)
    with reporting.steps("publish versions", len(commits)) as advance:
        for batch in published_files.batch_versions(reading, count=_AT_ONCE, size=_AT_ONCE_BYTES):
            try:
                published_files.publish_in_order(store, batch)
            except CorruptLog as exc:
                _report_problem(catalog, table_id, exc)
                raise
            catalog.mark_published(table_id, batch[-1][0])
            advance(len(batch))
    if reading.problem is not None:
        _report_problem(catalog, table_id, reading.problem)
        raise reading.problem
    return latest


class _ReadableContents:
    """The contents of commits, up to one that cannot be read: what came before it is published first."""

    def __init__(self, store: Store, commits: Sequence[RatifiedCommit]) -> None:
        self._store = store
        self._commits = commits
        self.problem: HeadgateError | None = None

    def __iter__(self) -> Iterator[tuple[Version, bytes]]:
        try:
            yield from parallel_reads.map_in_order(
                self._store, self._read, self._commits, size=lambda found: len(found[1])
            )
        except HeadgateError as exc:
            self.problem = exc

    def _read(self, commit: RatifiedCommit) -> tuple[Version, bytes]:
        return commit.version, log_reader.commit_content(self._store, commit.version, commit)


def _report_problem(catalog: CommitCatalog, table_id: TableId, problem: HeadgateError) -> None:
    """Have the catalog look at it; that finds the same, and what it says is no news here."""
    version = problem.fields.get("version")
    if isinstance(problem, CorruptLog) and isinstance(version, int):
        with suppress(HeadgateError):
            catalog.mark_published(table_id, Version(version))
