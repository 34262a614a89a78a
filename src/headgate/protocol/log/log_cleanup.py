"""Which files of a log may go: a decision on paper, from a listing.

Everything from the cut-off checkpoint on stays, with the commit of its version, because a
checkpoint does not have what a commit says of itself.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from headgate.protocol.actions import EpochMillis, Protocol, Version
from headgate.protocol.log import file_names, log_segment
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.protocol.log.timestamps import VersionTimestamp

_DAY_MS = 24 * 60 * 60 * 1000


def cutoff_time(now_ms: int, retention_ms: int) -> EpochMillis:
    """Commits up to this moment may go: midnight, UTC, before what is to be kept."""
    return EpochMillis((now_ms - retention_ms) // _DAY_MS * _DAY_MS)


def cutoff_commit(stamps: Sequence[VersionTimestamp], moment: EpochMillis) -> Version | None:
    """The newest commit that is not newer than ``moment``; both ascend in ``stamps``."""
    return max((stamp.version for stamp in stamps if stamp.at <= moment), default=None)


@dataclass(frozen=True, slots=True)
class CleanupPlan:
    """The checkpoint everything before which goes, and what goes, in the order in which it should."""

    checkpoint: tuple[LogFile, ...]
    deletions: tuple[str, ...]

    @property
    def version(self) -> Version | None:
        return self.checkpoint[0].version if self.checkpoint else None


NO_CLEANUP = CleanupPlan((), ())


def plan_cleanup(
    listing: Sequence[LogFile],
    commit: Version | None,
    *,
    staged: Iterable[str] = (),
    held: Collection[Version] = (),
    latest: Version | None = None,
) -> CleanupPlan:
    """What may go if ``commit`` and everything after it must stay.

    Nothing does unless a whole checkpoint stands for it. The oldest goes first, so that at no
    moment a version is missing from the middle of the log. ``staged`` are the paths of staged
    files; ``held`` are the versions that only the catalog has, and ``latest`` is its latest one.
    """
    if commit is None:
        return NO_CLEANUP
    checkpoint = log_segment.build(listing, held=held, latest=latest, target=commit).checkpoint
    if not checkpoint:
        return NO_CLEANUP
    first = checkpoint[0].version
    gone = sorted((file for file in listing if _is_expired(file, first)), key=_deletion_order)
    published = [file.version for file in gone if file.kind is LogFileKind.PUBLISHED]
    # A staged file is the only copy of a commit until that is published; after that it is a copy or lost.
    stale = [
        path
        for path in sorted(staged)
        if (version := file_names.staged_version(path.rpartition("/")[2])) is not None
        and version <= max(published, default=-1)
        and version not in held
    ]
    return CleanupPlan(checkpoint, (*(file.path for file in gone), *stale))


def _is_expired(file: LogFile, first: Version) -> bool:
    if file.kind is LogFileKind.COMPACTED:
        return file.start is not None and file.start <= first
    return file.version < first


def _deletion_order(file: LogFile) -> tuple[int, int, str]:
    """Compactions first, because they stand for versions that are still there."""
    return int(file.kind is not LogFileKind.COMPACTED), file.version, file.path


def expired_sidecars(
    listing: Iterable[tuple[str, int]], referenced: Collection[str], now_ms: int
) -> tuple[str, ...]:
    """Which sidecars, given with their time (ms), may go: those nobody names that are older than a day."""
    young = cutoff_time(now_ms, _DAY_MS)
    return tuple(path for path, modified in listing if path not in referenced and modified < young)


@dataclass(frozen=True, slots=True)
class CheckpointProtection:
    """What decides whether a table that protects its checkpoints may be cleaned up."""

    before: int
    """The first version that needs no protection; 0 if the table protects nothing."""
    cut_off_commit: Version
    protocols: Sequence[Protocol]
    """Those of the versions that would go, as far as they are protected."""


def is_cleanup_allowed(
    found: CleanupPlan, protection: CheckpointProtection, *, knows: Callable[[Protocol], bool]
) -> bool:
    """Whether a plan passes every protected version at once, or ends at a checkpoint of the very commit,
    or removes only versions of which Headgate ``knows`` everything."""
    version = found.version
    return version is not None and (
        version >= protection.before
        or version == protection.cut_off_commit
        or all(knows(protocol) for protocol in protection.protocols)
    )
