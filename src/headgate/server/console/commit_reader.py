"""What do the commits of some versions say? Read by name, so nothing is listed."""

from collections.abc import Iterable

from headgate.errors import ObjectNotFound
from headgate.protocol.actions import Commit, CommitInfo, Version
from headgate.protocol.log import codec
from headgate.server.console.open_tables import VisitedTable
from headgate.storage import parallel_reads
from headgate.table.committer import Frontier
from headgate.table.read import log_reader

LARGEST_READ = 8 * 1024 * 1024
"""A commit that is larger is described, and not read."""


def read_infos(table: VisitedTable, versions: Iterable[Version]) -> dict[Version, CommitInfo]:
    """What each commit says of itself; those that are no longer in the log are left out."""
    wanted = tuple(versions)
    if not wanted:
        return {}
    frontier = table.committer.frontier(known=max(wanted))
    found = parallel_reads.map_in_order(
        table.opened.store, lambda version: _info(table, frontier, version), wanted
    )
    return {version: info for version, info in zip(wanted, found, strict=True) if info is not None}


def _info(table: VisitedTable, frontier: Frontier, version: Version) -> CommitInfo | None:
    content = _content(table, frontier, version)
    if content is None:
        return None
    return codec.decode_commit_info(version, content) or CommitInfo()


def read_commit(table: VisitedTable, version: Version) -> Commit | None:
    """All actions of one version; None if its commit is no longer in the log."""
    content = read_content(table, version)
    return None if content is None else codec.decode(version, content)


def read_content(table: VisitedTable, version: Version) -> bytes | None:
    """The bytes of one version's commit; None if it is no longer in the log."""
    return _content(table, table.committer.frontier(known=version), version)


def _content(table: VisitedTable, frontier: Frontier, version: Version) -> bytes | None:
    try:
        return log_reader.commit_content(table.opened.store, version, frontier.held.get(version))
    except ObjectNotFound:  # cleaned up behind a checkpoint
        return None
