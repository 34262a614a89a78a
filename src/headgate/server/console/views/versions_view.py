"""What happened to a table? Its versions, the latest first: when, who, what, and which rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.catalog.ports.access import EXTERNAL, OWNER
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, Tail
from headgate.catalog.ports.serving import CommitRecord
from headgate.protocol.actions import CommitInfo, Version
from headgate.server.console.views import commit_rows
from headgate.server.console.views.commit_rows import RowCounts


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version in the timeline of a table."""

    version: int
    timestamp: int
    who: str
    operation: str | None
    """None if its commit is no longer in the log."""
    rows: RowCounts
    took_ms: int | None
    size_bytes: int
    place: str
    user_metadata: str


@dataclass(frozen=True, slots=True)
class VersionsPage:
    """Some versions, the latest first, and from which on the older ones go on."""

    lines: tuple[VersionLine, ...]
    older: int | None
    newer: int | None
    latest: int


def versions_page(
    records: Sequence[CommitRecord], infos: Mapping[Version, CommitInfo], tail: Tail, length: int
) -> VersionsPage:
    """A page of so many versions from one more record than that, if there is one."""
    held = {commit.version: commit for commit in tail.commits}
    shown = records[:length]
    lines = tuple(
        version_line(record, infos.get(record.version), commit_place(record.version, tail, held))
        for record in shown
    )
    older = shown[-1].version if len(records) > length else None
    newer = min(tail.latest, shown[0].version + length) + 1 if shown else None
    at_top = not shown or shown[0].version >= tail.latest
    return VersionsPage(lines, older, None if at_top else newer, tail.latest)


def version_line(record: CommitRecord, info: CommitInfo | None, place: str) -> VersionLine:
    """One version."""
    return VersionLine(
        record.version,
        record.in_commit_timestamp,
        who_committed(record),
        None if info is None else info.operation or "unnamed",
        commit_rows.row_counts(info),
        commit_rows.took_ms(info),
        record.size,
        place,
        "" if info is None else info.user_metadata or "",
    )


def who_committed(record: CommitRecord) -> str:
    """For whom a commit was ratified."""
    if record.principal is None:
        return str(OWNER)
    return "published from outside" if record.principal == EXTERNAL else record.principal


def commit_place(version: Version, tail: Tail, held: Mapping[Version, RatifiedCommit]) -> str:
    """Where the content of a version is: published in the log, in the catalog, or in a staged file."""
    if version <= tail.published:
        return "published"
    commit = held.get(version)
    return "inline" if commit is not None and isinstance(commit.where, InlineCommit) else "staged"
