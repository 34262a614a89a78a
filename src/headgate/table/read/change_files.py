"""What changed between two versions: the files that tell it, version by version.

    3   append      {"add": a}                                  inserted=(a,)
    4   DELETE      {"remove": a}  {"add": a with a vector}     deleted=(a,) inserted=(a,)
    5   UPDATE      {"cdc": c}  {"remove": a}  {"add": b}       recorded=(c,), and nothing else
    6   OPTIMIZE    {"remove": b}  {"add": d}, no dataChange    nothing

Of version 4 the two are a pair of ``rewritten``: the rows that changed are those that the vector hides. Of 5
the writer recorded them in c.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from headgate.errors import InvalidRequest, VersionNotFound
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import (
    AddCdcFile,
    AddFile,
    Commit,
    EpochMillis,
    Metadata,
    RemoveFile,
    Version,
)
from headgate.protocol.file_key import canonical_path
from headgate.protocol.log import codec, timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.schema import evolution, partitioning
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import history, log_reader

FileT = TypeVar("FileT", AddFile, RemoveFile, AddCdcFile)
_MERGE_COUNTS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """A moment instead of a version: the first commit from then on, or the last one until then."""

    at: EpochMillis


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions asked for; without an end, up to the latest."""

    start: int | AtTimestamp
    end: int | AtTimestamp | None = None


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """One version: the files its writer recorded changed rows in, or those that came and went."""

    version: Version
    timestamp: EpochMillis
    recorded: tuple[AddCdcFile, ...]
    inserted: tuple[AddFile, ...]
    deleted: tuple[RemoveFile, ...]

    @property
    def rewritten(self) -> Mapping[str, tuple[RemoveFile, AddFile]]:
        """Files of which only the deleted rows changed, by the key of their path."""
        gone = {canonical_path(remove.path): remove for remove in self.deleted}
        pairs = ((gone.get(canonical_path(add.path)), add) for add in self.inserted)
        return {canonical_path(add.path): (remove, add) for remove, add in pairs if remove is not None}


def resolve_versions(store: Store, frontier: Frontier, newest: State, asked: VersionRange) -> range:
    """The versions a range means (R15)."""
    stamps = (
        history.version_timestamps(store, frontier, newest)
        if AtTimestamp in map(type, (asked.start, asked.end))
        else ()
    )
    match asked.start:
        case AtTimestamp(at):
            start = next((stamp.version for stamp in stamps if stamp.at >= at), frontier.latest + 1)
        case start:
            pass
    match asked.end:
        case AtTimestamp(at):
            end = max((stamp.version for stamp in stamps if stamp.at <= at), default=-1)
        case None:
            end = frontier.latest
        case end:
            pass
    _check_range(start, end, frontier.latest)
    return range(start, min(end, frontier.latest) + 1)


def _check_range(start: int, end: int, latest: Version) -> None:
    if start > latest:
        raise VersionNotFound(
            f"the changes asked for start after the latest version, {latest}",
            code="DELTA_TIMESTAMP_GREATER_THAN_COMMIT", asked=start, latest=latest,
        )  # fmt: skip
    if end < 0:
        raise VersionNotFound(
            "the changes asked for end before the earliest version",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", asked=end,
        )  # fmt: skip
    if start < 0 or start > end:
        raise InvalidRequest(
            f"the changes asked for start at version {start} and end at version {end}: "
            "the start must not be after the end",
            code="DELTA_INVALID_CDC_RANGE",
        )


def changes_between(
    store: Store, frontier: Frontier, versions: range, *, at: Callable[[int], State], newest: State
) -> Iterator[VersionChanges]:
    """The changes of each version, of which ``at`` tells the state.

    The feed must have been on all the time: elsewhere the log does not say what changed. And the columns
    of all the files must be read as those of the last version.
    """
    first, last = at(versions[0]), at(versions[-1])
    _check_enabled(first.metadata, first.version)

    def read(version: Version) -> tuple[Commit, VersionChanges]:
        content = log_reader.commit_content(store, version, frontier.unpublished.get(version))
        commit = codec.decode(version, content)
        moment = history.commit_timestamp(store, version, commit.info, newest)
        return commit, _changes(commit, tuple(codec.decode_cdc_files(version, content)), moment)

    protocol, metadata = first.protocol, first.metadata
    _check_types(metadata, first.version, last)
    latest = history.preceding_timestamp(store, newest, first.version)
    for commit, changes in parallel_reads.map_in_order(store, read, map(Version, versions)):
        _check_values(changes, metadata)
        before = metadata
        if commit.metadata is not None:
            _check_enabled(commit.metadata, commit.version)
            _check_types(commit.metadata, commit.version, last)
            if commit.version == first.version and changes.deleted:
                before = at(commit.version - 1).metadata
                _check_types(before, commit.version - 1, last)
        if commit.protocol is not None or commit.metadata is not None:
            protocol, metadata = commit.protocol or protocol, commit.metadata or metadata
            table_features.check_readable(protocol, metadata, previews=protocol.reader_features or ())
        whole = _with_null_values(changes, before, metadata)
        if history.uses_file_time(newest, commit.version):
            latest = timestamps.strictly_after(changes.timestamp, latest)
            yield replace(whole, timestamp=latest)
        else:
            yield whole


def _check_values(changes: VersionChanges, metadata: Metadata) -> None:
    """Whoever removes a file may leave out its partition values, which only the log has."""
    bare = [remove.path for remove in changes.deleted if remove.partition_values is None]
    if not bare or not metadata.partition_columns:
        return
    rewritten = changes.rewritten
    if untold := next((path for path in bare if path not in rewritten), None):
        raise InvalidRequest(
            f"version {changes.version} removed {untold} without saying its partition values, so what its "
            "rows were cannot be told: ask for the versions before and after that apart",
            code="DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA", version=changes.version,
        )  # fmt: skip


def _with_null_values(changes: VersionChanges, before: Metadata, after: Metadata) -> VersionChanges:
    """The same with every partition value: some writers leave out those that are null.

    What a file itself stores in such a column counts for nothing.
    """
    was, now = (dict.fromkeys(partitioning.partitioning_of(metadata).types) for metadata in (before, after))
    return replace(
        changes,
        recorded=tuple(_with_values(file, now) for file in changes.recorded),
        inserted=tuple(_with_values(file, now) for file in changes.inserted),
        deleted=tuple(_with_values(file, was) for file in changes.deleted),
    )


def _with_values(file: FileT, absent: Mapping[str, None]) -> FileT:
    if file.partition_values is None or absent.keys() <= file.partition_values.keys():
        return file
    return msgspec.structs.replace(file, partition_values={**absent, **file.partition_values})


def _check_types(metadata: Metadata, version: int, last: State) -> None:
    if why := evolution.unreadable_column(metadata, last.metadata):
        raise InvalidRequest(
            f"the changes cannot be read in the columns of version {last.version}, because since version "
            f"{version} {why}: ask for the versions before and after that apart",
            code="DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE", version=version, last=last.version,
        )  # fmt: skip


def _changes(commit: Commit, recorded: tuple[AddCdcFile, ...], moment: EpochMillis) -> VersionChanges:
    if recorded:
        return VersionChanges(commit.version, moment, recorded, (), ())
    if _only_copied_rows(commit):
        return VersionChanges(commit.version, moment, (), (), ())
    inserted = tuple(add for add in commit.adds if add.data_change)
    deleted = tuple(remove for remove in commit.removes if remove.data_change)
    return VersionChanges(commit.version, moment, (), inserted, deleted)


def _only_copied_rows(commit: Commit) -> bool:
    """Whether it is a MERGE that changed no row: Delta Spark has it rewrite files all the same."""
    metrics = (commit.info and commit.info.operation_metrics) or {}
    is_merge = commit.info is not None and commit.info.operation == "MERGE"
    return is_merge and all(metrics.get(name) == "0" for name in _MERGE_COUNTS)


def _check_enabled(metadata: Metadata, version: Version) -> None:
    if not property_values.flag(metadata, property_values.CHANGE_DATA_FEED):
        raise InvalidRequest(
            f"the table does not record changes at version {version}: its property "
            f"{property_values.CHANGE_DATA_FEED} is not true there; ask for versions since it was set",
            code="DELTA_MISSING_CHANGE_DATA", version=version,
        )  # fmt: skip
