"""A table at one version: load it, and bring a loaded one up to date."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from headgate.protocol import replay
from headgate.protocol.actions import Commit, Version
from headgate.protocol.replay import State
from headgate.storage.api import Store
from headgate.table import checkpoints, log
from headgate.table.committer import Frontier
from headgate.table.files import LiveFiles


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The small state of a table and its live files, at one version."""

    state: State
    files: LiveFiles

    @property
    def version(self) -> Version:
        return self.state.version

    def after(self, commits: Iterable[Commit]) -> "Snapshot":
        """This snapshot once the commits that follow it are applied."""
        state, files = self.state, self.files
        for commit in commits:
            state, files = replay.advance(state, commit), files.after(commit)
        return Snapshot(state, files)


def load(
    store: Store, frontier: Frontier, *, target: Version | None = None, known: Snapshot | None = None
) -> Snapshot:
    """The snapshot of ``target`` (default: the latest), from ``known`` on if that helps.

    From a known snapshot nothing is listed: the versions that follow it have names.
    """
    wanted = frontier.latest if target is None else target
    if known is not None and known.version <= wanted <= frontier.latest:
        missing = range(known.version + 1, wanted + 1)
        return known.after(log.read(store, Version(version), frontier) for version in missing)
    chosen = log.choose(store, frontier, target)
    commits = (log.read_piece(store, piece, frontier) for piece in chosen.commits)
    if chosen.checkpoint:
        state, files = checkpoints.load(store, chosen.checkpoint)
    else:
        first = next(commits)
        state, files = replay.start(first), LiveFiles().after(first)
    loaded = Snapshot(state, files).after(commits)
    if loaded.state.info is None:  # the last piece was a checkpoint or a compaction: these have none (R10)
        info = log.read_info(store, loaded.version, frontier)
        loaded = replace(loaded, state=replace(loaded.state, info=info))
    return loaded
