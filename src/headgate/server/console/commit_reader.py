"""What do the commits of some versions say? Read by name, so nothing is listed."""

from collections.abc import Iterable

from headgate.catalog.ports.serving import CommitRecord
from headgate.errors import CorruptLog, ObjectNotFound
from headgate.protocol.actions import Commit, CommitInfo, Version
from headgate.protocol.log import codec, file_names
from headgate.server.console.open_tables import VisitedTable
from headgate.storage import parallel_reads
from headgate.table.committer import Frontier
from headgate.table.read import log_reader

LARGEST_READ = 8 * 1024 * 1024
"""A commit that is larger is described, and not read."""
_BEGINNING = 64 * 1024


def read_infos(table: VisitedTable, records: Iterable[CommitRecord]) -> dict[Version, CommitInfo]:
    """What each commit says of itself; those that are no longer in the log are left out."""
    wanted = tuple(records)
    if not wanted:
        return {}
    frontier = table.committer.frontier(known=max(record.version for record in wanted))
    found = parallel_reads.map_in_order(
        table.opened.store, lambda record: _info(table, frontier, record), wanted
    )
    return {record.version: info for record, info in zip(wanted, found, strict=True) if info is not None}


def _info(table: VisitedTable, frontier: Frontier, record: CommitRecord) -> CommitInfo | None:
    version = record.version
    if record.size > LARGEST_READ and version not in frontier.unpublished:
        return _info_at_beginning(table, version)
    content = _content(table, frontier, version)
    if content is None:
        return None
    return codec.decode_commit_info(version, content) or CommitInfo()


def _info_at_beginning(table: VisitedTable, version: Version) -> CommitInfo | None:
    """What a large commit in the log says of itself, if it does so in its first line."""
    try:
        read = table.opened.store.read(file_names.published_path(version), at=range(_BEGINNING))
    except ObjectNotFound:
        return None
    first, end, _ = read.partition(b"\n")
    try:
        return (codec.decode_commit_info(version, first) if end else None) or CommitInfo()
    except CorruptLog:  # an action that stretches over several lines
        return CommitInfo()


def read_commit(table: VisitedTable, version: Version) -> Commit | None:
    """All actions of one version; None if its commit is no longer in the log."""
    content = read_content(table, version)
    return None if content is None else codec.decode(version, content)


def read_content(table: VisitedTable, version: Version) -> bytes | None:
    """The bytes of one version's commit; None if it is no longer in the log."""
    return _content(table, table.committer.frontier(known=version), version)


def _content(table: VisitedTable, frontier: Frontier, version: Version) -> bytes | None:
    try:
        return log_reader.commit_content(table.opened.store, version, frontier.unpublished.get(version))
    except ObjectNotFound:  # cleaned up behind a checkpoint
        return None
