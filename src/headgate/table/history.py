"""What happened to a table, version by version, and when."""

from collections.abc import Iterator
from dataclasses import dataclass

from headgate.errors import ObjectNotFound, VersionNotFound
from headgate.protocol import codec, names, timestamps
from headgate.protocol.actions import CommitInfo, EpochMillis, Version
from headgate.protocol.replay import State
from headgate.protocol.timestamps import Stamp
from headgate.storage.api import Store
from headgate.table import log
from headgate.table.committer import Frontier

_ENABLED_AT_VERSION = "delta.inCommitTimestampEnablementVersion"
_ENABLED_AT_MOMENT = "delta.inCommitTimestampEnablementTimestamp"


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
    return tuple(
        HistoryEntry(version, moment(store, version, info, state), info or CommitInfo())
        for version, info in _infos(store, frontier, range(stop + 1, frontier.latest + 1))
    )


def version_at(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means."""
    since, enabled_ms = _enablement(state)
    if state.has_in_commit_timestamps and moment >= enabled_ms:
        stamps = _stamps(store, frontier, state, range(since, frontier.latest + 1))
    else:
        before = since if state.has_in_commit_timestamps else frontier.latest + 1
        stamps = timestamps.monotonic(_stamps(store, frontier, state, range(before)))
        if state.has_in_commit_timestamps and stamps:  # never after the last version before the enablement
            moment = min(moment, stamps[-1].at)
    if not stamps:
        raise VersionNotFound(
            f"no commit that could tell what the moment {moment} (ms) means is left in the log",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", asked=moment,
        )  # fmt: skip
    return timestamps.version_at(stamps, moment)


def stamps(store: Store, frontier: Frontier, state: State) -> tuple[Stamp, ...]:
    """Every version still in the log and its moment, both ascending."""
    found = _stamps(store, frontier, state, range(frontier.latest + 1))
    if not state.has_in_commit_timestamps:
        return timestamps.monotonic(found)
    since, enabled_ms = _enablement(state)
    by_file = timestamps.monotonic([stamp for stamp in found if stamp.version < since])
    # A file may have been copied later, but its version is older than the enablement (I9).
    earlier = (Stamp(stamp.version, EpochMillis(min(stamp.at, enabled_ms - 1))) for stamp in by_file)
    return (*earlier, *found[len(by_file) :])


def _enablement(state: State) -> tuple[int, int]:
    """The first version with a promised timestamp, and that timestamp; zeros if it is version 0."""
    configuration = state.metadata.configuration
    return int(configuration.get(_ENABLED_AT_VERSION, 0)), int(configuration.get(_ENABLED_AT_MOMENT, 0))


def _stamps(store: Store, frontier: Frontier, state: State, versions: range) -> tuple[Stamp, ...]:
    infos = _infos(store, frontier, versions)
    return tuple(Stamp(version, moment(store, version, info, state)) for version, info in infos)[::-1]


def _infos(store: Store, frontier: Frontier, versions: range) -> Iterator[tuple[Version, CommitInfo | None]]:
    """What each commit says of itself, if anything, newest first and as far back as there are commits."""
    for version in map(Version, reversed(versions)):
        try:
            content = log.content(store, version, frontier.held.get(version))
        except ObjectNotFound:  # cleaned up, and so is everything before it
            return
        yield version, codec.commit_info(version, content) or codec.decode(version, content).info


def moment(store: Store, version: Version, info: CommitInfo | None, state: State) -> EpochMillis:
    """When a version counts as committed: by its own word if the table promises one, else by its file."""
    since, _ = _enablement(state)
    if not state.has_in_commit_timestamps or version < since:
        return EpochMillis(store.head(names.published(version)).modified_ms)
    return timestamps.promised(version, info)
