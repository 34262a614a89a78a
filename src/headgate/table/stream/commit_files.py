"""What does a commit give to a stream? The files that bring rows; or the stream stops, and says why.

A stream of rows cannot tell of rows that went away or changed. A commit that removes rows therefore stops it,
unless the stream was told what to make of it:

    the commit          nothing said   ignore_deletes   ignore_changes   skip_change_commits
    only adds           its files      its files        its files        its files
    only removes        stops          nothing          nothing          nothing
    adds and removes    stops          stops            its files        nothing

What a commit only arranges anew (``dataChange`` is false) is nothing to a stream.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from headgate.errors import InvalidRequest
from headgate.protocol.actions import AddFile, Commit, RemoveFile
from headgate.table.stream.stream_read_settings import StreamReadOptions


@dataclass(frozen=True, slots=True)
class CommitChanges:
    """The files of a commit whose rows came, and those whose rows went."""

    version: int
    added: tuple[AddFile, ...]
    removed: tuple[RemoveFile, ...]


@dataclass(frozen=True, slots=True)
class CommitRefusal:
    """One row: which commits stop a stream, and what is said."""

    holds: Callable[[CommitChanges, StreamReadOptions], bool]
    what: str
    instead: str
    code: str


def _updates_rows(changes: CommitChanges, asked: StreamReadOptions) -> bool:
    return bool(changes.added and changes.removed) and not asked.allows_changes


def _deletes_rows(changes: CommitChanges, asked: StreamReadOptions) -> bool:
    return bool(changes.removed) and not changes.added and not asked.allows_deletes


COMMIT_REFUSALS: tuple[CommitRefusal, ...] = (
    CommitRefusal(
        _updates_rows,
        "changed rows",
        "skip_change_commits passes over such versions, ignore_changes gives the rows of their new files, "
        "and read_change_feed tells what changed",
        code="DELTA_SOURCE_TABLE_IGNORE_CHANGES",
    ),
    CommitRefusal(
        _deletes_rows,
        "deleted rows",
        "ignore_deletes passes over such versions, and read_change_feed tells what was deleted",
        code="DELTA_SOURCE_IGNORE_DELETE",
    ),
)


def changes_of(commit: Commit) -> CommitChanges:
    """The files of a commit that say something of rows."""
    return CommitChanges(
        commit.version,
        tuple(add for add in commit.adds if add.data_change),
        tuple(remove for remove in commit.removes if remove.data_change),
    )


def files_for_stream(commit: Commit, asked: StreamReadOptions) -> tuple[AddFile, ...]:
    """The files that a commit gives to a stream, in the order in which it names them."""
    changes = changes_of(commit)
    for row in COMMIT_REFUSALS:
        if row.holds(changes, asked):
            raise InvalidRequest(
                f"version {commit.version} {row.what} of the table (it removed "
                f"{changes.removed[0].path}, for example), which a stream of its rows cannot tell; the "
                f"stream stopped before it. Start it again with another option: {row.instead}",
                code=row.code, version=commit.version,
            )  # fmt: skip
    if changes.removed and asked.skip_change_commits:
        return ()
    return tuple(add for add in changes.added if not is_excluded(add.path, asked))


def is_excluded(path: str, asked: StreamReadOptions) -> bool:
    """Whether a stream passes over a file by its path."""
    return asked.exclude_regex is not None and re.search(asked.exclude_regex, path) is not None
