"""What happened to a table, version by version, and when."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headgate.errors import ObjectNotFound, VersionNotFound
from headgate.protocol.actions import CommitInfo, EpochMillis, Version
from headgate.protocol.log import codec, file_names, log_segment, timestamps
from headgate.protocol.log.file_names import LogFileKind
from headgate.protocol.log.replay import State
from headgate.protocol.log.timestamps import VersionTimestamp
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import log_reader


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One version: when it was committed and what its writer said about it."""

    version: Version
    timestamp: EpochMillis
    info: CommitInfo


def history_entries(
    store: Store, frontier: Frontier, state: State, *, limit: int | None = None
) -> tuple[HistoryEntry, ...]:
    """The history up to the latest version, newest first, each at the moment it counts as committed."""
    since = Version(0 if limit is None else max(0, frontier.latest + 1 - limit))
    found = tuple(_entries(store, frontier, state, range(since, frontier.latest + 1)))[::-1]
    # Unless all were asked for, versions before these may have the moments that their files say.
    last = preceding_timestamp(store, state, since) if found and found[0].version == since else None
    dated: list[HistoryEntry] = []
    for entry in found:
        at = entry.timestamp
        if uses_file_time(state, entry.version):
            at = last = timestamps.strictly_after(at, last)
        dated.append(replace(entry, timestamp=at))
    return tuple(reversed(dated))


def uses_file_time(state: State, version: Version) -> bool:
    """Whether the moment of a version is that of its file, since its table promises no other one."""
    enabled = _enablement(state)
    return enabled is None or version < enabled.version


def preceding_timestamp(store: Store, state: State, version: Version) -> EpochMillis | None:
    """The moment of the version before, if files tell it: that of a later one must come after it."""
    if version == 0 or not uses_file_time(state, version):
        return None
    times: dict[int, EpochMillis] = {}
    for item in store.list_from(file_names.LOG_FOLDER):
        file = file_names.parse(item.path, size=item.size)
        if file is not None and file.kind is LogFileKind.PUBLISHED and file.version < version:
            times[file.version] = EpochMillis(item.modified_ms)
    last: EpochMillis | None = None
    for number in range(min(times, default=version), version):  # what is before a gap counts no more
        last = timestamps.strictly_after(times[number], last) if number in times else None
    return last


def version_at(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means."""
    enabled = _enablement(state)
    if enabled is not None and (told := _version_at_by_catalog(store, frontier, enabled, moment)) is not None:
        return told
    if enabled is None:
        stamps = timestamps.make_monotonic(
            _read_timestamps(store, frontier, state, range(frontier.latest + 1))
        )
    elif moment >= enabled.at:
        stamps = _read_timestamps(store, frontier, state, range(enabled.version, frontier.latest + 1))
    else:
        stamps = timestamps.make_monotonic(_read_timestamps(store, frontier, state, range(enabled.version)))
        if stamps:  # never after the last version before the enablement
            moment = min(moment, stamps[-1].at)
    if not stamps:
        raise VersionNotFound(
            f"no commit that could tell what {timestamps.format_timestamp(moment)} means is left in the log: "
            "read with or_earliest=True to get the earliest version there is",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", asked=moment,
        )  # fmt: skip
    return timestamps.version_at(stamps, moment)


def _version_at_by_catalog(
    store: Store, frontier: Frontier, enabled: VersionTimestamp, moment: EpochMillis
) -> Version | None:
    """The version a moment means by the catalog's word, if its commit can still be read."""
    if frontier.version_at is None or moment < enabled.at:
        return None
    found = frontier.version_at(moment)
    if found is None or not enabled.version <= found <= frontier.latest:
        return None
    if found not in frontier.unpublished:
        try:
            store.head(file_names.published_path(found))
        except ObjectNotFound:
            return None
    return found


def version_at_or_earliest(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means, or the earliest one that can still be read if that one cannot."""
    earliest = log_segment.earliest_version(log_reader.list_log(store), held=frontier.unpublished)
    try:
        meant = version_at(store, frontier, state, moment)
    except VersionNotFound as exc:
        if exc.code != "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION" or earliest is None:
            raise
        return earliest
    return meant if earliest is None else max(meant, earliest)


def version_timestamps(store: Store, frontier: Frontier, state: State) -> tuple[VersionTimestamp, ...]:
    """Every version still in the log and its moment, both ascending."""
    found = _read_timestamps(store, frontier, state, range(frontier.latest + 1))
    enabled = _enablement(state)
    if enabled is None:
        return timestamps.make_monotonic(found)
    by_file = timestamps.make_monotonic([stamp for stamp in found if stamp.version < enabled.version])
    # A file may have been copied later, but its version is older than the enablement (I8).
    earlier = (
        VersionTimestamp(stamp.version, EpochMillis(min(stamp.at, enabled.at - 1))) for stamp in by_file
    )
    return (*earlier, *found[len(by_file) :])


def _enablement(state: State) -> VersionTimestamp | None:
    """Since when commits have a promised timestamp, if they have."""
    return timestamps.enablement(state.metadata.configuration) if state.has_in_commit_timestamps else None


def _read_timestamps(
    store: Store, frontier: Frontier, state: State, versions: range
) -> tuple[VersionTimestamp, ...]:
    found = _entries(store, frontier, state, versions)
    return tuple(VersionTimestamp(entry.version, entry.timestamp) for entry in found)[::-1]


def _entries(store: Store, frontier: Frontier, state: State, versions: range) -> Iterator[HistoryEntry]:
    """What each commit says of itself and when, newest first and as far back as there are commits."""

    def read(version: Version) -> HistoryEntry | None:
        try:
            content = log_reader.commit_content(store, version, frontier.unpublished.get(version))
        except ObjectNotFound:  # cleaned up, and so is everything before it
            return None
        info = codec.decode_commit_info(version, content) or codec.decode(version, content).info
        return HistoryEntry(version, commit_timestamp(store, version, info, state), info or CommitInfo())

    for entry in parallel_reads.map_in_order(store, read, map(Version, reversed(versions))):
        if entry is None:
            return
        yield entry


def commit_timestamp(store: Store, version: Version, info: CommitInfo | None, state: State) -> EpochMillis:
    """When a version was committed: by its own word if the table promises one, else by its file."""
    if uses_file_time(state, version):
        return EpochMillis(store.head(file_names.published_path(version)).modified_ms)
    return timestamps.required_in_commit_timestamp(version, info)
