"""Reading a table's log: which files it has, and its commits, wherever they are.

Version 13 is read from wherever it is:

    held by the catalog, inline     no file at all
    held by the catalog, staged     _delta_log/_staged_commits/00000000000000000013.<uuid>.json
    not held                        _delta_log/00000000000000000013.json

``_last_checkpoint`` with ``{"version":10,"size":4}`` lets the listing begin at version 10.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, takewhile

import msgspec

from headgate.catalog import published_files
from headgate.catalog.ports.commits import InlineCommit, RatifiedCommit, StagedCommit
from headgate.errors import CorruptLog, ObjectNotFound, VersionNotFound
from headgate.protocol.actions import Commit, CommitInfo, Version
from headgate.protocol.log import codec, file_names, log_compaction, log_segment
from headgate.protocol.log.file_names import LogFile, LogFileKind
from headgate.protocol.log.log_segment import LogSegment
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.committer import Frontier

_LOOKED_BACK = 1_000
"""So far before an old version a checkpoint is looked for; tables have one every ten or hundred versions."""


class _LastCheckpoint(msgspec.Struct, frozen=True):
    version: int


def commit_content(store: Store, version: Version, held: RatifiedCommit | None) -> bytes:
    """The bytes of one version: the catalog's copy if it holds one, else the published file.

    ``ObjectNotFound`` says that a published file is gone, which clean-up may do; a staged file that
    the catalog still names must be there, and be what was ratified.
    """
    if held is None:
        return store.read(file_names.published_path(version))
    match held.where:
        case InlineCommit(inline):
            return inline
        case StagedCommit() as staged:
            return published_files.check_fingerprint(held, _staged(store, version, staged))
        case None:
            return store.read(file_names.published_path(version))


def _staged(store: Store, version: Version, staged: StagedCommit) -> bytes:
    try:
        return store.read(staged.path)
    except ObjectNotFound as exc:
        raise CorruptLog(
            f"version {version} is ratified, but its staged file {staged.file_name} is gone; nothing else is "
            "read in its place",
            version=version,
        ) from exc


def fold_commits(store: Store, pieces: Iterable[Version | LogFile], frontier: Frontier) -> Iterator[Commit]:
    """The actions of consecutive versions, or of compactions of them, as few commits."""
    return codec.decode_folded(_contents(store, pieces, frontier))


def piece_contents(store: Store, piece: Version | LogFile, frontier: Frontier) -> list[tuple[Version, bytes]]:
    """The bytes of a version or of a compaction; of the commits in its place if it is not reconciled."""
    if not isinstance(piece, LogFile):
        return [(piece, commit_content(store, piece, frontier.unpublished.get(piece)))]
    compacted = store.read(piece.path)
    if log_compaction.is_reconciled(piece.version, compacted):
        return [(piece.version, compacted)]
    try:
        return [
            (version, store.read(file_names.published_path(version)))
            for version in log_segment.covered_versions(piece)
        ]
    except ObjectNotFound as exc:
        raise CorruptLog(
            f"{piece.path} is damaged or says more than one thing of a file, so it cannot stand for its "
            f"commits, and these are gone: {exc.message}",
            code="DELTA_STATE_RECOVER_ERROR", version=piece.version,
        ) from exc  # fmt: skip


def _contents(
    store: Store, pieces: Iterable[Version | LogFile], frontier: Frontier
) -> Iterator[tuple[Version, bytes]]:
    read = parallel_reads.map_in_order(
        store,
        lambda piece: piece_contents(store, piece, frontier),
        pieces,
        size=lambda found: sum(len(data) for _, data in found),
    )
    return chain.from_iterable(read)


def read_commits(store: Store, frontier: Frontier, start: Version, end: Version) -> tuple[Commit, ...]:
    """Each commit from ``start`` to ``end``, both included."""
    versions = map(Version, range(start, end + 1))
    return tuple(codec.decode(at, commit_content(store, at, frontier.unpublished.get(at))) for at in versions)


def read_commit_info(store: Store, version: Version, frontier: Frontier) -> CommitInfo | None:
    """The commitInfo of one version, or None if its commit is gone or has none."""
    try:
        found = commit_content(store, version, frontier.unpublished.get(version))
    except ObjectNotFound:
        return None
    return codec.decode_commit_info(version, found) or codec.decode_without_files(version, found).info


def choose_segment(store: Store, frontier: Frontier, target: Version | None) -> LogSegment:
    """The files that make up ``target`` (default: the latest).

    The pointer to the last checkpoint is a hint: what is listed from there on is used if it
    suffices, else everything is listed (U10). Of a version before it what is shortly before that
    version suffices as a rule.
    """
    for listing in _short_listings(store, frontier, target):
        with suppress(CorruptLog, VersionNotFound):
            return log_segment.build(listing, held=frontier.unpublished, latest=frontier.bound, target=target)
    return log_segment.build(list_log(store), held=frontier.unpublished, latest=frontier.bound, target=target)


def _short_listings(store: Store, frontier: Frontier, target: Version | None) -> Iterator[Sequence[LogFile]]:
    """Parts of the log that may be all that is needed, each listed if those before it are not."""
    if frontier.listing is not None:
        yield frontier.listing
    else:
        hint = last_checkpoint_version(store)
        if hint is not None and hint <= (frontier.latest if target is None else target):
            yield list_log(store, since=hint)
            return
    if target is not None and target < frontier.latest:
        yield list_log(store, since=Version(max(0, target - _LOOKED_BACK)), until=target)


def list_log(store: Store, *, since: Version | None = None, until: Version | None = None) -> list[LogFile]:
    """The recognised files of ``_delta_log``, or those of versions from ``since`` on, or up to ``until``."""
    after = file_names.path_before(since) if since is not None else None
    listed = store.list_from(file_names.LOG_FOLDER, after=after)
    if until is not None:
        end = file_names.path_before(Version(until + 1))
        listed = takewhile(lambda item: item.path < end, listed)
    found = (file_names.parse(item.path, size=item.size) for item in listed)
    return [file for file in found if file is not None]


def list_versions(store: Store, *, since: Version | None) -> tuple[list[LogFile], set[Version]]:
    """What is listed from ``since`` on, and the versions that exist by it.

    Everything is listed if that is none: then ``since`` is beyond the log, whatever else is there.
    """
    files = list_log(store, since=since)
    versions = {
        file.version for file in files if file.kind in (LogFileKind.PUBLISHED, LogFileKind.CHECKPOINT)
    }
    return (files, versions) if versions or since is None else list_versions(store, since=None)


def last_checkpoint_version(store: Store) -> Version | None:
    """The version ``_last_checkpoint`` points to, if it says anything sensible."""
    try:
        return Version(
            msgspec.json.decode(store.read(file_names.LAST_CHECKPOINT), type=_LastCheckpoint).version
        )
    except (ObjectNotFound, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
