"""A table at one version: load it, and bring a loaded one up to date.

A process knows version 12, and the catalog says 15: the commits 13, 14 and 15 are read by their names and
applied, and nothing is listed. A process that knows nothing lists the log from the last checkpoint, 10
perhaps, and reads the checkpoint and the commits 11 to 15.

While commits are replayed the garbage collector is off. ``benchmarks/open_commits.py`` justifies that: it
would take a fifth of the time of opening 10,000 commits.
"""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from headgate.errors import CorruptLog, ObjectNotFound, VersionNotFound
from headgate.protocol.actions import Commit, CommitInfo, Metadata, Protocol, Version
from headgate.protocol.log import log_segment, replay
from headgate.protocol.log.log_segment import LogSegment
from headgate.protocol.log.replay import State
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import checkpoint_reader, checksum_files, log_reader
from headgate.table.read.live_files import UNREAD, LiveFiles


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The small state of a table and its live files, at one version."""

    state: State
    files: LiveFiles

    @property
    def version(self) -> Version:
        return self.state.version

    @property
    def bounds(self) -> FileBounds:
        """Between which values the columns of the live files lie; the same for all who ask."""
        return self.files.bounds(self.state.metadata)

    def after(self, commits: Iterable[Commit]) -> "Snapshot":
        """This snapshot once the commits that follow it are applied."""
        state, files = self.state, self.files
        for commit in commits:
            state, files = replay.advance(state, commit), files.after(commit)
        return Snapshot(state, files)


@dataclass(frozen=True, slots=True)
class TableDescription:
    """What a table is at its latest version, as far as its catalog tells; the log is read for files only.

    Version, protocol and metadata are there at once, the rest of the snapshot when asked for.
    """

    version: Version
    protocol: Protocol
    metadata: Metadata
    load: Callable[[], Snapshot]

    @property
    def snapshot(self) -> Snapshot:
        """The whole snapshot of this version."""
        return self.load()

    @property
    def files(self) -> LiveFiles:
        """The live files of this version."""
        return self.load().files


def load_snapshot(
    store: Store, frontier: Frontier, *, target: Version | None = None, known: Snapshot | None = None
) -> Snapshot:
    """The snapshot of ``target`` (default: the latest), from ``known`` on if that helps.

    From a known snapshot nothing is listed: the versions that follow it have names.
    """
    with _gc_paused():
        loaded = _load(store, frontier, target, known)
    replay.check_usable(loaded.state)
    return replace(loaded, state=checksum_files.with_commit_timestamp(store, loaded.state, frontier))


def state_from_catalog(frontier: Frontier) -> State | None:
    """The small state of the latest version by the catalog's word, if it tells all of it."""
    told, timestamp = frontier.description, frontier.latest_timestamp
    if told is None or told.domains is None or told.txns is None or timestamp is None:
        return None
    if not (frontier.managed and told.protocol.is_catalog_managed):
        return None
    info = CommitInfo(in_commit_timestamp=timestamp)
    return replay.check_usable(
        State(frontier.latest, told.protocol, told.metadata, info, told.txns, told.domains)
    )


def snapshot_from_catalog(frontier: Frontier, load: Callable[[Version], Snapshot]) -> Snapshot | None:
    """The latest version by the catalog's word, if it tells all of its small state; its log is unread.

    Whoever asks for its files has it loaded, perhaps much later.
    """
    state = state_from_catalog(frontier)
    if state is None:
        return None
    return Snapshot(state, UNREAD.made_by(lambda: load(state.version).files.columns))


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Replay makes many objects and no garbage: looking for some would take a fifth of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _load(store: Store, frontier: Frontier, target: Version | None, known: Snapshot | None) -> Snapshot:
    wanted = frontier.latest if target is None else target
    if known is not None and known.version <= wanted <= frontier.latest:
        missing = map(Version, range(known.version + 1, wanted + 1))
        with suppress(ObjectNotFound):  # cleaned up behind a checkpoint, or lost: the listing tells
            return known.after(log_reader.fold_commits(store, missing, frontier))
    if frontier.expected is not None:
        with suppress(ObjectNotFound, CorruptLog, VersionNotFound):  # not as expected: the listing tells
            latest, held = frontier.bound, frontier.unpublished
            chosen = log_segment.build(frontier.expected, held=held, latest=latest, target=target)
            return _from_segment(store, frontier, chosen)
    return _from_segment(store, frontier, log_reader.choose_segment(store, frontier, target))


def _from_segment(store: Store, frontier: Frontier, chosen: LogSegment) -> Snapshot:
    if chosen.checkpoint:
        state, files = checkpoint_reader.read_checkpoint(store, chosen.checkpoint)
        following = chosen.commits
    else:
        # Alone, because it must have what a log starts with.
        first, *others = log_reader.fold_commits(store, chosen.commits[:1], frontier)
        started = Snapshot(replay.initial_state(first), LiveFiles().after(first)).after(others)
        state, files = started.state, started.files
        following = chosen.commits[1:]
    loaded = Snapshot(state, files).after(log_reader.fold_commits(store, following, frontier))
    if loaded.state.info is None:  # the last piece was a checkpoint or a compaction: these have none (R10)
        info = checksum_files.catalog_commit_info(loaded.state, frontier) or log_reader.read_commit_info(
            store, loaded.version, frontier
        )
        loaded = replace(loaded, state=replace(loaded.state, info=info))
    return loaded
