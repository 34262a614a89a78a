"""Which files make up one version of a table: a listing, corrected by the catalog.

The catalog wins twice: its commits replace published files of the same version, and nothing
after its latest version exists, whatever the listing says. That bound is applied here, once, for
every kind of file.

A catalog says that 13 is the latest version, and holds 13 itself. The log has, among others,

    00000000000000000010.checkpoint.parquet                      the checkpoint
    00000000000000000011.00000000000000000012.compacted.json     stands for 11 and 12
    00000000000000000013.json                                    not read: the catalog's copy wins
    00000000000000000014.json                                    not there, for all we know (R3)

so the segment of 13 is the checkpoint of 10, the compaction, and version 13 from the catalog.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from headgate.errors import CorruptLog, VersionNotFound
from headgate.protocol.actions import Version
from headgate.protocol.log.file_names import LogFile, LogFileKind


@dataclass(frozen=True, slots=True)
class LogSegment:
    """The newest usable checkpoint, all its parts, and what follows it, oldest first."""

    version: Version
    checkpoint: tuple[LogFile, ...]
    commits: tuple[Version | LogFile, ...]
    """A version to be read by itself, or a compaction that stands for several."""

    @property
    def versions(self) -> Iterator[Version]:
        """The versions after the checkpoint, whatever stands for them."""
        for piece in self.commits:
            yield from covered_versions(piece) if isinstance(piece, LogFile) else (piece,)


def build(
    listing: Iterable[LogFile],
    *,
    held: Collection[Version] = (),
    latest: Version | None = None,
    target: Version | None = None,
) -> LogSegment:
    """Choose the files of ``target`` (default: the latest).

    ``held`` are the versions the catalog holds and ``latest`` is its latest version; both are
    absent for a table without a catalog, whose latest version is the last one listed.
    """
    files = list(listing)
    checkpoints = _complete_checkpoints(files)
    published = {file.version for file in files if file.kind is LogFileKind.PUBLISHED}
    wanted = _target_version(published | checkpoints.keys(), latest, target)

    usable = [version for version in checkpoints if version <= wanted]
    start = max(usable, default=None)
    following = range(0 if start is None else start + 1, wanted + 1)
    missing = next((number for number in following if number not in published and number not in held), None)
    if missing is not None:
        raise _incomplete_error(missing, wanted, earliest=min(checkpoints, default=None))
    # An empty one may be all that a writer left who died; its commits say the same.
    compactions = [file for file in files if file.kind is LogFileKind.COMPACTED and file.size > 0]
    return LogSegment(
        wanted,
        checkpoints[start] if start is not None else (),
        tuple(_with_compactions(following, compactions, held)),
    )


def covered_versions(compaction: LogFile) -> tuple[Version, ...]:
    """The versions that a compaction stands for."""
    first = compaction.version if compaction.start is None else compaction.start
    return tuple(map(Version, range(first, compaction.version + 1)))


def earliest_version(listing: Iterable[LogFile], *, held: Collection[Version] = ()) -> Version | None:
    """The earliest version that can be read: the first of all, or that of the earliest checkpoint."""
    files = list(listing)
    first = Version(0)
    if first in held or any(file.kind is LogFileKind.PUBLISHED and file.version == first for file in files):
        return first
    return min(_complete_checkpoints(files), default=None)


def _target_version(existing: Collection[Version], latest: Version | None, target: Version | None) -> Version:
    # Nothing after the version wanted is used below, so this bounds every kind of file (R3).
    newest = latest if latest is not None else max(existing, default=None)
    if newest is None:
        raise CorruptLog("the log has no commit", code="DELTA_TABLE_NOT_FOUND")
    wanted = newest if target is None else target
    if not 0 <= wanted <= newest:
        raise VersionNotFound(
            f"version {wanted} does not exist: the table has versions 0 to {newest}",
            asked=wanted, earliest=0, latest=newest,
        )  # fmt: skip
    return wanted


def _complete_checkpoints(files: Sequence[LogFile]) -> dict[Version, tuple[LogFile, ...]]:
    """The checkpoints of which no part is missing or empty, one per version."""
    found: dict[tuple[Version, int], dict[int, LogFile]] = {}
    for file in files:
        if file.kind is LogFileKind.CHECKPOINT and file.size > 0:
            found.setdefault((file.version, file.parts), {})[file.part] = file
    complete: dict[Version, tuple[LogFile, ...]] = {}
    for (version, parts), pieces in sorted(found.items(), reverse=True):
        if len(pieces) == parts and all(part in pieces for part in range(1, parts + 1)):
            complete[version] = tuple(pieces[part] for part in sorted(pieces))
    return complete


def _with_compactions(
    versions: range, compactions: Sequence[LogFile], held: Collection[Version]
) -> Iterable[Version | LogFile]:
    # The catalog's copy of a commit wins over any published form of it, compactions included.
    usable = {
        file.start: file
        for file in sorted(compactions, key=lambda file: file.version)
        if file.start is not None
        and file.start in versions
        and file.version in versions
        and not any(number in held for number in range(file.start, file.version + 1))
    }
    number = versions.start
    while number < versions.stop:
        if compaction := usable.get(Version(number)):
            yield compaction
            number = compaction.version + 1
        else:
            yield Version(number)
            number += 1


def _incomplete_error(
    missing: int, wanted: Version, *, earliest: Version | None
) -> CorruptLog | VersionNotFound:
    if missing == 0 and earliest is not None and earliest > wanted:
        return VersionNotFound(
            f"version {wanted} can no longer be read: the log was cleaned up to version {earliest}",
            asked=wanted, earliest=earliest,
        )  # fmt: skip
    code = "DELTA_TRUNCATED_TRANSACTION_LOG" if missing == 0 else "DELTA_VERSIONS_NOT_CONTIGUOUS"
    return CorruptLog(
        f"version {missing} is missing from the log, which must reach version {wanted}; "
        "no older version is served in its place",
        code=code, version=missing,
    )  # fmt: skip
