"""What happened to a table, version by version, and when."""

from dataclasses import dataclass

from headgate.errors import CorruptLog, ObjectNotFound, VersionNotFound
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
    found = []
    for number in range(frontier.latest, stop, -1):
        version = Version(number)
        info = _info(store, version, frontier)
        if info is None:  # cleaned up, and so is everything before it
            break
        found.append(HistoryEntry(version, moment(store, version, info, state), info))
    return tuple(found)


def version_at(store: Store, frontier: Frontier, state: State, moment: EpochMillis) -> Version:
    """The version a moment means."""
    since = int(state.metadata.configuration.get(_ENABLED_AT_VERSION, 0))
    enabled_ms = int(state.metadata.configuration.get(_ENABLED_AT_MOMENT, 0))
    if state.has_in_commit_timestamps and moment >= enabled_ms:
        return timestamps.version_at(
            _stamps(store, frontier, state, range(since, frontier.latest + 1)), moment
        )
    before = since if state.has_in_commit_timestamps else frontier.latest + 1
    stamps = timestamps.monotonic(_stamps(store, frontier, state, range(before)))
    if not stamps:
        raise VersionNotFound(
            f"no commit from before the moment {moment} (ms) is left in the log",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", asked=moment,
        )  # fmt: skip
    if state.has_in_commit_timestamps:  # a moment before the enablement is never after the last such version
        moment = min(moment, stamps[-1].at)
    return timestamps.version_at(stamps, moment)


def stamps(store: Store, frontier: Frontier, state: State) -> tuple[Stamp, ...]:
    """Every version still in the log and its moment, both ascending."""
    return timestamps.monotonic(_stamps(store, frontier, state, range(frontier.latest + 1)))


def _stamps(store: Store, frontier: Frontier, state: State, versions: range) -> list[Stamp]:
    found: list[Stamp] = []
    for number in reversed(versions):
        version = Version(number)
        info = _info(store, version, frontier)
        if info is None:
            break
        found.append(Stamp(version, moment(store, version, info, state)))
    return found[::-1]


def _info(store: Store, version: Version, frontier: Frontier) -> CommitInfo | None:
    """What the commit says of itself, be it nothing; None if the commit is gone."""
    try:
        content = log.content(store, version, frontier.held.get(version))
    except ObjectNotFound:
        return None
    return codec.commit_info(version, content) or codec.decode(version, content).info or CommitInfo()


def moment(store: Store, version: Version, info: CommitInfo | None, state: State) -> EpochMillis:
    """When a version counts as committed: by its own word if the table promises one, else by its file."""
    since = int(state.metadata.configuration.get(_ENABLED_AT_VERSION, 0))
    if not state.has_in_commit_timestamps or version < since:
        return EpochMillis(store.head(names.published(version)).modified_ms)
    if info is None or info.in_commit_timestamp is None:
        raise CorruptLog(
            f"version {version} has no inCommitTimestamp although the table promises one",
            code="DELTA_MISSING_COMMIT_TIMESTAMP", version=version,
        )  # fmt: skip
    return info.in_commit_timestamp
