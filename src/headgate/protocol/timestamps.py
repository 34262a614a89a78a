"""When a version was committed, and which version a moment means."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.errors import CorruptLog, VersionNotFound
from headgate.protocol.actions import CommitInfo, EpochMillis, Version


@dataclass(frozen=True, slots=True)
class Stamp:
    """A version and the moment it counts as committed."""

    version: Version
    at: EpochMillis


def next_in_commit_timestamp(now: int, previous: EpochMillis | None) -> EpochMillis:
    """The in-commit timestamp of a commit made ``now`` after one stamped ``previous`` (I8)."""
    return EpochMillis(now if previous is None else max(now, previous + 1))


def promised(version: Version, info: CommitInfo | None) -> EpochMillis:
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


def version_at(stamps: Sequence[Stamp], moment: EpochMillis) -> Version:
    """The last version committed at or before ``moment``; ``stamps`` ascend by version and by time."""
    if moment > stamps[-1].at:
        raise VersionNotFound(
            f"the moment {moment} (ms) is after the latest commit, version {stamps[-1].version} at "
            f"{stamps[-1].at} (ms): read without a timestamp to get the latest version",
            code="DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
            asked=moment, earliest=stamps[0].at, latest=stamps[-1].at,
        )  # fmt: skip
    found = [stamp.version for stamp in stamps if stamp.at <= moment]
    if not found:
        raise VersionNotFound(
            f"the moment {moment} (ms) is before the earliest commit, version {stamps[0].version} at "
            f"{stamps[0].at} (ms)",
            code="DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
            asked=moment, earliest=stamps[0].at, latest=stamps[-1].at,
        )  # fmt: skip
    return found[-1]


def monotonic(stamps: Sequence[Stamp]) -> tuple[Stamp, ...]:
    """File times made strictly increasing by version, as readers without in-commit timestamps do."""
    adjusted: list[Stamp] = []
    for stamp in stamps:
        earliest = adjusted[-1].at + 1 if adjusted else stamp.at
        adjusted.append(Stamp(stamp.version, EpochMillis(max(stamp.at, earliest))))
    return tuple(adjusted)
