"""What happened to a table, version by version, and when."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.errors import ObjectNotFound, VersionNotFound
from headgate.protocol import codec, names, segment, timestamps
from headgate.protocol.actions import CommitInfo, EpochMillis, Version
from headgate.protocol.replay import State
from headgate.protocol.timestamps import Stamp
from headgate.storage import together
from headgate.storage.api import Store
from headgate.table import log
from headgate.table.committer import Frontier


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One version: when it was committed and what its writer said about it."""

    version: Version
    timestamp: EpochMillis
    info: CommitInfo


def entries(
    store: Store, frontier: Frontier, state: State, *, limit: int | None = None
) -> tuple[HistoryEntry, ...]:
    """The history up to the latest version, newest first."""
    stop = -1 if limit is None else max(-1, frontier.latest - limit)
    return tuple(_entries(store, frontier, state, range(stop + 1, frontier.latest + 1)))


def version_at(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means."""
    enabled = _enablement(state)
    if enabled is not None and (told := _told(store, frontier, enabled, moment)) is not None:
        return told
    if enabled is None:
        stamps = timestamps.monotonic(_stamps(store, frontier, state, range(frontier.latest + 1)))
    elif moment >= enabled.at:
        stamps = _stamps(store, frontier, state, range(enabled.version, frontier.latest + 1))
    else:
        stamps = timestamps.monotonic(_stamps(store, frontier, state, range(enabled.version)))
        if stamps:  # never after the last version before the enablement
            moment = min(moment, stamps[-1].at)
    if not stamps:
        raise VersionNotFound(
            f"no commit that could tell what the moment {moment} (ms) means is left in the log: read with "
            "or_earliest=True to get the earliest version there is",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", asked=moment,
        )  # fmt: skip
    return timestamps.version_at(stamps, moment)


def _told(store: Store, frontier: Frontier, enabled: Stamp, moment: EpochMillis) -> Version | None:
    """The version a moment means by the catalog's word, if its commit can still be read."""
    if frontier.version_at is None or moment < enabled.at:
        return None
    found = frontier.version_at(moment)
    if found is None or not enabled.version <= found <= frontier.latest:
        return None
    if found not in frontier.held:
        try:
            store.head(names.published(found))
        except ObjectNotFound:
            return None
    return found


def version_at_or_earliest(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means, or the earliest one that can still be read if that one cannot."""
    earliest = segment.earliest(log.listed(store), held=frontier.held)
    try:
        meant = version_at(store, frontier, state, moment)
    except VersionNotFound as exc:
        if exc.code != "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION" or earliest is None:
            raise
        return earliest
    return meant if earliest is None else max(meant, earliest)


def stamps(store: Store, frontier: Frontier, state: State) -> tuple[Stamp, ...]:
    """Every version still in the log and its moment, both ascending."""
    found = _stamps(store, frontier, state, range(frontier.latest + 1))
    enabled = _enablement(state)
    if enabled is None:
        return timestamps.monotonic(found)
    by_file = timestamps.monotonic([stamp for stamp in found if stamp.version < enabled.version])
    # A file may have been copied later, but its version is older than the enablement (I9).
    earlier = (Stamp(stamp.version, EpochMillis(min(stamp.at, enabled.at - 1))) for stamp in by_file)
    return (*earlier, *found[len(by_file) :])


def _enablement(state: State) -> Stamp | None:
    """Since when commits have a promised timestamp, if they have."""
    return timestamps.enablement(state.metadata.configuration) if state.has_in_commit_timestamps else None


def _stamps(store: Store, frontier: Frontier, state: State, versions: range) -> tuple[Stamp, ...]:
    found = _entries(store, frontier, state, versions)
    return tuple(Stamp(entry.version, entry.timestamp) for entry in found)[::-1]


def _entries(store: Store, frontier: Frontier, state: State, versions: range) -> Iterator[HistoryEntry]:
    """What each commit says of itself and when, newest first and as far back as there are commits."""

    def read(version: Version) -> HistoryEntry | None:
        try:
            content = log.content(store, version, frontier.held.get(version))
        except ObjectNotFound:  # cleaned up, and so is everything before it
            return None
        info = codec.commit_info(version, content) or codec.decode(version, content).info
        return HistoryEntry(version, moment(store, version, info, state), info or CommitInfo())

    for entry in together.in_order(store, read, map(Version, reversed(versions))):
        if entry is None:
            return
        yield entry


def moment(store: Store, version: Version, info: CommitInfo | None, state: State) -> EpochMillis:
    """When a version counts as committed: by its own word if the table promises one, else by its file."""
    enabled = _enablement(state)
    if enabled is None or version < enabled.version:
        return EpochMillis(store.head(names.published(version)).modified_ms)
    return timestamps.promised(version, info)
