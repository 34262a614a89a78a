"""One table opened for work: its log, the route of its commits, and the newest snapshot seen."""

import threading
from dataclasses import replace

from headgate.clock import World
from headgate.errors import ConflictError, CorruptLog, InvalidRequest, TableNotFound
from headgate.protocol import features
from headgate.protocol.actions import EpochMillis, Version
from headgate.settings import Settings
from headgate.storage.api import Store
from headgate.table import changes, commit, history, snapshot, transaction
from headgate.table.after_commit import AfterCommit
from headgate.table.changes import Changes, Range
from headgate.table.committer import Committer, Frontier
from headgate.table.files import LiveFiles
from headgate.table.history import HistoryEntry
from headgate.table.snapshot import Snapshot
from headgate.table.transaction import Change

_MOST_PENDING = 1_000


class OpenedTable:
    """Reads and commits; safe to share between threads."""

    def __init__(
        self,
        location: str,
        store: Store,
        committer: Committer,
        *,
        after_commit: AfterCommit,
        settings: Settings,
        world: World,
    ) -> None:
        self.location = location
        self.store = store
        self.world = world
        self._committer = committer
        self._after_commit = after_commit
        self._settings = settings
        self._lock = threading.Lock()
        self._newest: Snapshot | None = None

    def snapshot(self, *, version: int | None = None, timestamp: EpochMillis | None = None) -> Snapshot:
        """The table now, at a version, or as of a moment."""
        if version is not None and timestamp is not None:
            raise InvalidRequest("ask for a version or for a timestamp, not for both")
        known = self._newest
        frontier = self._committer.frontier(known=known.version if known else None)
        newest = self._remember(snapshot.load(self.store, frontier, known=known), frontier)
        if timestamp is not None:
            version = history.version_at(self.store, frontier, newest.state, timestamp)
        if version is None or version == newest.version:
            return newest
        return _checked(snapshot.load(self.store, frontier, target=Version(version)), frontier, self.location)

    def exists(self) -> bool:
        """Whether there is a table at all."""
        try:
            self._committer.frontier()
        except TableNotFound:
            return False
        return True

    def newest_known(self) -> Snapshot:
        """The newest snapshot seen by this process, without asking anyone; good enough for a blind append."""
        return self._newest or self.snapshot()

    def commit(self, change: Change, *, base: Snapshot) -> Version:
        """Commit what an operation decided from ``base``; the version it became."""
        txn = transaction.begin(base.state, change, world=self.world)
        try:
            done = commit.commit(txn, self._committer, self._settings, world=self.world)
        except ConflictError:
            self._newest = None  # running the operation again must start from the version that won
            raise
        # Under a txnId of the caller's, an earlier run may be the one that was ratified, with other content.
        if done.since_base and change.txn_id is None:
            self._advance(self._bounded(base.after(done.since_base)))
        self._after_commit.committed(self._committer, done.version)
        return done.version

    def history(self, *, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """What happened, newest first."""
        newest = self.snapshot()
        frontier = self._committer.frontier(known=newest.version)
        return history.entries(self.store, frontier, newest.state, limit=limit)

    def changes(self, asked: Range) -> tuple[Snapshot, tuple[Changes, ...]]:
        """What changed in these versions, and the table at the last of them."""
        newest = self.snapshot()
        frontier = self._committer.frontier(known=newest.version)
        versions = changes.resolve(self.store, frontier, newest.state, asked)
        first = self.snapshot(version=versions.start)
        found = changes.between(self.store, frontier, versions, first=first.state, newest=newest.state)
        return self.snapshot(version=versions.stop - 1), tuple(found)

    def publish(self) -> Version:
        """Publish every ratified version; the latest of them."""
        return self._committer.publish()

    def close(self) -> None:
        """Publish what still waits."""
        self._after_commit.close()

    def _bounded(self, advanced: Snapshot) -> Snapshot:
        """A writer that never looks at the files must not keep every commit it made for the day it does."""
        if advanced.files.pending <= _MOST_PENDING:
            return advanced
        version = advanced.version
        return replace(advanced, files=LiveFiles(lambda: self._reloaded(version).files.columns))

    def _reloaded(self, version: Version) -> Snapshot:
        return snapshot.load(self.store, self._committer.frontier(known=version), target=version)

    def _remember(self, loaded: Snapshot, frontier: Frontier) -> Snapshot:
        _checked(loaded, frontier, self.location)
        self._advance(loaded)
        return loaded

    def _advance(self, loaded: Snapshot) -> None:
        with self._lock:
            if self._newest is None or loaded.version > self._newest.version:
                self._newest = loaded


def _checked(loaded: Snapshot, frontier: Frontier, location: str) -> Snapshot:
    protocol = loaded.state.protocol
    if protocol.is_catalog_managed and not frontier.managed:
        raise InvalidRequest(
            f"the table at {location!r} is managed by a catalog, which alone knows its versions: open it "
            "by name, headgate.connect(…).table('schema.table')",
            code="DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED",
        )
    if frontier.managed and not protocol.is_catalog_managed:
        raise CorruptLog(
            f"the catalog manages the table at {location!r}, but its protocol does not say so",
            code="DELTA_STATE_RECOVER_ERROR",
        )
    features.check_readable(protocol, loaded.state.metadata)
    return loaded
