"""What do the files of a table prove, without its catalog?

A published version proves itself: a catalog ratified it, and all before it. A staged file proves nothing: it
may have been ratified, refused, or never proposed. So a table reaches as far as it is published without a
gap, and staged files beyond that are only told of.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from headgate.catalog.ports.access import EXTERNAL
from headgate.catalog.ports.commits import RatifiedCommit, fingerprint
from headgate.catalog.ports.events import operation_name
from headgate.catalog.ports.recovery import StoredCommit
from headgate.errors import CorruptLog, ObjectNotFound, TableNotFound
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.file_names import SET_ASIDE, LogFile, LogFileKind
from headgate.protocol.log.replay import State
from headgate.protocol.metadata.alter_properties import TABLE_ID, TABLE_NAME
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.alter import clone_files
from headgate.table.committer import Frontier
from headgate.table.read import file_paths, log_reader, snapshot
from headgate.table.read.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class LogSurvey:
    """A table as its files prove it."""

    place: str
    snapshot: Snapshot
    staged: tuple[str, ...]
    """Files of versions after the latest, of which nobody can say whether they were ratified."""
    beyond: Version | None
    """The last version that is published after a gap, if there is one: it cannot be reached."""

    @property
    def state(self) -> State:
        return self.snapshot.state

    @property
    def version(self) -> Version:
        return self.state.version

    @property
    def table_id(self) -> str | None:
        """What the catalog called it, if it says so."""
        return self.state.metadata.configuration.get(TABLE_ID)

    @property
    def name(self) -> str | None:
        """What it was called when it came to its catalog, if it says so."""
        return self.state.metadata.configuration.get(TABLE_NAME)

    @property
    def timestamp(self) -> EpochMillis:
        return self.state.in_commit_timestamp or EpochMillis(0)

    @property
    def summary(self) -> Commit:
        """All that its commits say besides files, as if the last one did."""
        state = self.state
        txns, domains = tuple(state.txns.values()), tuple(state.domains.values())
        return Commit(state.version, state.info, state.protocol, state.metadata, (), (), txns, domains)

    @property
    def sources(self) -> tuple[str, ...]:
        """The places beside its own where it has files: it is a shallow clone."""
        paths = self.snapshot.files.without_stats["path"].to_pylist()
        return tuple(
            sorted(clone_files.absolute_folders(path for path in paths if file_paths.is_absolute(path)))
        )


def survey_log(store: Store, place: str) -> LogSurvey:
    """The table whose log is in this store; ``TableNotFound`` if there is no commit of any."""
    files = log_reader.list_log(store)
    published = {file.version for file in files if file.kind is LogFileKind.PUBLISHED}
    latest = _last_reachable_version(files, published)
    if latest is None:
        raise TableNotFound(f"there is no Delta table at {place!r}: its log has no commit", name=place)
    frontier = Frontier(latest, {}, managed=True, listing=files)
    after = max((version for version in published if version > latest), default=None)
    return LogSurvey(place, snapshot.load_snapshot(store, frontier), _staged(store, latest), after)


def log_exists(store: Store) -> bool:
    """Whether there is a log with something in it."""
    return any(file_names.parse(found.path) is not None for found in store.list_from(file_names.LOG_FOLDER))


def unreachable_files(store: Store, latest: Version) -> tuple[LogFile, ...]:
    """What a log has of versions that cannot be reached: after a gap, and checksums of versions to come."""
    files = [file for file in log_reader.list_log(store) if file.version > latest]
    published = {file.version for file in files if file.kind is LogFileKind.PUBLISHED}
    following = latest
    while following + 1 in published:
        following = Version(following + 1)
    return tuple(file for file in files if file.version > following)


def set_aside_files(store: Store, files: Iterable[LogFile], uuid: Callable[[], str]) -> tuple[str, ...]:
    """Move files out of the way of the versions whose names they have; where they are then."""
    moved = []
    for file in files:
        with suppress(ObjectNotFound):  # somebody else did
            content = store.read(file.path)
            name, _, ending = file.path.removeprefix(file_names.LOG_FOLDER).partition(".")
            place = f"{SET_ASIDE}{name}.{uuid()}.{ending}"
            store.put(place, content)
            store.delete(file.path)
            moved.append(place)
    return tuple(moved)


def stored_commits(store: Store, latest: Version) -> tuple[StoredCommit, ...]:
    """The versions up to the latest, as a catalog writes them down, oldest first.

    From the first on after which each is a commit of a catalog and is still there.
    """
    versions = sorted(
        file.version
        for file in log_reader.list_log(store)
        if file.kind is LogFileKind.PUBLISHED and file.version <= latest
    )
    kept: list[StoredCommit] = []
    known: set[str] = set()
    for version, record in zip(versions, _read_stored_commits(store, versions), strict=True):
        follows = record is not None and kept and kept[-1].commit.version == version - 1
        if record is None or record.commit.txn_id in known or not follows:
            kept, known = [], set()
        if record is not None:
            kept.append(record)
            known.add(record.commit.txn_id)
    return tuple(kept) if kept and kept[-1].commit.version == latest else ()


def _read_stored_commits(store: Store, versions: Sequence[Version]) -> Iterator[StoredCommit | None]:
    return parallel_reads.map_in_order(store, lambda version: _stored_commit(store, version), versions)


def _stored_commit(store: Store, version: Version) -> StoredCommit | None:
    with suppress(ObjectNotFound, CorruptLog):
        content = store.read(file_names.published_path(version))
        info = codec.decode_commit_info(version, content) or codec.decode_without_files(version, content).info
        if info is not None and info.txn_id is not None and info.in_commit_timestamp is not None:
            ratified = RatifiedCommit(version, info.txn_id, info.in_commit_timestamp, None)
            digest = fingerprint(content)
            return StoredCommit(ratified, len(content), digest, operation_name(info), EXTERNAL)
    return None


def _last_reachable_version(files: Sequence[LogFile], published: set[Version]) -> Version | None:
    """The last version up to which nothing is missing since the newest checkpoint, or the beginning."""
    start = max((file.version for file in files if file.kind is LogFileKind.CHECKPOINT), default=None)
    if start is None:
        start = Version(0) if Version(0) in published else None
    if start is None:
        return None
    latest = start
    while latest + 1 in published:
        latest = Version(latest + 1)
    return latest


def _staged(store: Store, latest: Version) -> tuple[str, ...]:
    found = (item.path for item in store.list_from(file_names.STAGED_FOLDER))
    versions = {
        path: file_names.staged_version(path.removeprefix(file_names.STAGED_FOLDER)) for path in found
    }
    return tuple(path for path, version in versions.items() if version is not None and version > latest)
