"""When a version was committed, and which version a moment means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from headgate.errors import CorruptLog, VersionNotFound
from headgate.protocol.actions import CommitInfo, EpochMillis, Version

MAX_AHEAD_MS = 24 * 60 * 60 * 1000
"""How far ahead a clock may be before its timestamps are not believed; so much clocks are taken to differ."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ENABLEMENT_VERSION = "delta.inCommitTimestampEnablementVersion"
ENABLEMENT_TIMESTAMP = "delta.inCommitTimestampEnablementTimestamp"


@dataclass(frozen=True, slots=True)
class VersionTimestamp:
    """A version and the moment it counts as committed."""

    version: Version
    at: EpochMillis


def next_in_commit_timestamp(now: int, previous: EpochMillis | None) -> EpochMillis:
    """The in-commit timestamp of a commit made ``now`` after one stamped ``previous`` (I8)."""
    return EpochMillis(now if previous is None else max(now, previous + 1))


def is_too_far_ahead(stamp: int, now: int, previous: int | None) -> bool:
    """Whether a commit made ``now`` would be stamped too far ahead, without having to by the one before."""
    return stamp > now + MAX_AHEAD_MS and (previous is None or stamp > previous + 1)


def format_timestamp(moment_ms: int | None) -> str:
    """A moment for people, such as 2026-01-31T12:00:00.000Z; what no calendar has stays a number."""
    if moment_ms is None:
        return "no time"
    try:
        moment = _EPOCH + timedelta(milliseconds=moment_ms)
    except OverflowError:
        return f"{moment_ms} ms since 1970"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_duration(ahead_ms: int) -> str:
    """A time for people, such as 2:00:00."""
    return str(timedelta(seconds=ahead_ms // 1000))


def required_in_commit_timestamp(version: Version, info: CommitInfo | None) -> EpochMillis:
    """The in-commit timestamp of a version whose table promises one; ``CorruptLog`` if it has none."""
    if info is None:
        raise CorruptLog(
            f"version {version} has no commitInfo although the table promises in-commit timestamps",
            code="DELTA_MISSING_COMMIT_INFO", version=version,
        )  # fmt: skip
    if info.in_commit_timestamp is None:
        raise CorruptLog(
            f"version {version} has no inCommitTimestamp although the table promises one",
            code="DELTA_MISSING_COMMIT_TIMESTAMP", version=version,
        )  # fmt: skip
    return info.in_commit_timestamp


def enablement(configuration: Mapping[str, str]) -> VersionTimestamp:
    """The first version with a promised timestamp, and that timestamp; zeros if it is version 0.

    One of the two properties without the other, or one that is no number, is ``CorruptLog``.
    """
    found = [configuration.get(name) for name in (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP)]
    version, at = ("0" if text is None else text for text in found)
    if found.count(None) == 1 or not (version.isdecimal() and at.isdecimal()):
        raise CorruptLog(
            f"the table promises in-commit timestamps, but does not say since when: {ENABLEMENT_VERSION} is "
            f"{found[0]} and {ENABLEMENT_TIMESTAMP} is {found[1]}, where both must be numbers or both "
            "absent; read by version, and have its writer set both or disable the timestamps",
            code="DELTA_STATE_RECOVER_ERROR", invariant="in-commit timestamp provenance",
        )  # fmt: skip
    return VersionTimestamp(Version(int(version)), EpochMillis(int(at)))


def version_at(stamps: Sequence[VersionTimestamp], moment: EpochMillis) -> Version:
    """The last version committed at or before ``moment``; ``stamps`` ascend by version and by time."""
    if moment > stamps[-1].at:
        raise VersionNotFound(
            f"{format_timestamp(moment)} is after the latest commit, version {stamps[-1].version} at "
            f"{format_timestamp(stamps[-1].at)}: read without a timestamp to get the latest version",
            code="DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
            asked=moment, earliest=stamps[0].at, latest=stamps[-1].at,
        )  # fmt: skip
    found = [stamp.version for stamp in stamps if stamp.at <= moment]
    if not found:
        raise VersionNotFound(
            f"{format_timestamp(moment)} is before the earliest commit, version {stamps[0].version} at "
            f"{format_timestamp(stamps[0].at)}: name a later moment, or read with or_earliest=True to get "
            "that version",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
            asked=moment, earliest=stamps[0].at, latest=stamps[-1].at,
        )  # fmt: skip
    return found[-1]


def make_monotonic(stamps: Sequence[VersionTimestamp]) -> tuple[VersionTimestamp, ...]:
    """File times made strictly increasing by version, as readers without in-commit timestamps do."""
    adjusted: list[VersionTimestamp] = []
    for stamp in stamps:
        last = adjusted[-1].at if adjusted else None
        adjusted.append(VersionTimestamp(stamp.version, strictly_after(stamp.at, last)))
    return tuple(adjusted)


def strictly_after(at: EpochMillis, last: EpochMillis | None) -> EpochMillis:
    """A moment, or the first one after the ``last`` if that is later: two versions never have the same."""
    return EpochMillis(at if last is None else max(at, last + 1))
