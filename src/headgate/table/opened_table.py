"""One table opened for work: its log, the route of its commits, and the newest snapshot seen."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from headgate.catalog.ports.integrity import TableBooks
from headgate.catalog.ports.maintenance import Maintenance
from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import ConflictError, InvalidRequest, TableNotFound, UnsupportedFeature, UserError
from headgate.protocol import table_features
from headgate.protocol.actions import Commit, DomainMetadata, EpochMillis, Metadata, Protocol, Version
from headgate.protocol.domains.rules import DomainEdit, Handlers
from headgate.protocol.log import file_names, log_retention
from headgate.protocol.log.log_segment import LogSegment
from headgate.protocol.log.replay import State
from headgate.protocol.log.version_checksum import Discrepancy
from headgate.protocol.predicates.tree import Predicate
from headgate.settings import Settings
from headgate.storage.store import Store
from headgate.table import authority, commit_signals, transaction
from headgate.table.commit import catalog_hints, domain_change, loop
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.post_commit import LogUpkeep
from headgate.table.commit.read_set import ReadObserver
from headgate.table.committer import Committer, Frontier
from headgate.table.known_snapshots import KnownSnapshots
from headgate.table.location import CatalogIdentity, NewFolder
from headgate.table.read import change_files, checksum_files, history, log_reader, snapshot
from headgate.table.read.change_files import VersionChanges, VersionRange
from headgate.table.read.file_schema_cache import FileSchemaCache
from headgate.table.read.history import HistoryEntry
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot, TableDescription
from headgate.table.transaction import Change, Transaction
from headgate.table.upkeep.permissions import MaintenanceGuard, PathGuard, PermittedSnapshot

if TYPE_CHECKING:
    from headgate.table.integrity import check as integrity
    from headgate.table.integrity import repair as integrity_repair
    from headgate.table.upkeep import checkpoint_writer, log_cleanup, log_compaction
else:
    integrity, integrity_repair = deferred("headgate.table.integrity", "check", "repair")
    checkpoint_writer, log_cleanup = deferred("headgate.table.upkeep", "checkpoint_writer", "log_cleanup")
    log_compaction = deferred("headgate.table.upkeep", "log_compaction")

_MOST_PENDING = 1_000


class OpenedTable:
    """Reads and commits; safe to share between threads."""

    def __init__(  # noqa: PLR0913 — each of them is a port, or what fills one
        self,
        location: str,
        store: Store,
        committer: Committer,
        *,
        after_commit: PostCommitScheduler,
        settings: Settings,
        world: World,
        handlers: Callable[[], Handlers] = dict,
        guard: MaintenanceGuard | None = None,
        observer: ReadObserver | None = None,
        member: CatalogIdentity | None = None,
        known: KnownSnapshots | None = None,
    ) -> None:
        self.location = location
        self.store, self.world = store, world
        self.guard = guard or PathGuard(committer, store, world)
        self._committer = committer
        self._after_commit = after_commit
        self._keeper = LogUpkeep(store, committer, settings, world=world)
        self._settings = settings
        self._handlers = handlers
        self._observer = observer
        self.member = member
        self.file_schemas = FileSchemaCache()
        self.known_snapshots = known or KnownSnapshots()

    def snapshot(
        self, *, version: int | None = None, timestamp: EpochMillis | None = None, or_earliest: bool = False
    ) -> Snapshot:
        """The table now, at a version, or as of a moment.

        A moment before the earliest version that can still be read is refused, or with
        ``or_earliest`` means that version. Only what the asked version demands of readers counts:
        the others may demand more than Headgate can.
        """
        if version is not None and timestamp is not None:
            raise InvalidRequest("ask for a version or for a timestamp, not for both")
        if or_earliest and timestamp is None:
            raise InvalidRequest("or_earliest says what a timestamp may mean: give one")
        if version is not None:
            return self._at(Version(version))
        newest, frontier = self._latest()
        if timestamp is None:
            return self._remember(newest, frontier)
        with suppress(UnsupportedFeature):
            self._remember(newest, frontier)
        meaning = history.version_at_or_earliest if or_earliest else history.version_at
        target = meaning(self.store, frontier, newest.state, timestamp)
        return self._remember(
            snapshot.load_snapshot(self.store, frontier, target=target, known=newest), frontier
        )

    def describe(self) -> TableDescription:
        """What the table is now; no commit is read if a catalog or checksum tells and nobody needs files."""
        known = self.known_snapshots.loaded
        frontier = self._committer.frontier(known=known.version if known else None)
        latest, told = frontier.latest, frontier.description
        if told is not None and told.protocol.is_catalog_managed:
            self._check_readable(told.protocol, told.metadata)
            return TableDescription(
                latest, told.protocol, told.metadata, lambda: self.snapshot(version=latest)
            )
        recorded = checksum_files.latest_checksum(self.store, frontier) if known is None else None
        if (
            recorded is not None
            and not recorded.protocol.is_catalog_managed
            and not self._committer.follow(latest, recorded.metadata)
        ):
            self._check_readable(recorded.protocol, recorded.metadata)
            load = partial(self.snapshot, version=latest)
            return TableDescription(latest, recorded.protocol, recorded.metadata, load)
        found = self._remember(*self._latest(frontier))
        return TableDescription(found.version, found.state.protocol, found.state.metadata, lambda: found)

    def exists(self) -> bool:
        """Whether there is a table at all."""
        with suppress(TableNotFound):
            self._committer.frontier()
            return True
        return False

    def unanswered(self) -> str | None:
        """Why whoever decides its commits could not be asked, so that more may exist; None if they were."""
        return self._committer.frontier(known=self.snapshot().version).unanswered

    @property
    def loaded_snapshot(self) -> Snapshot | None:
        """The newest snapshot seen, if any."""
        return self.known_snapshots.loaded

    def seed_snapshot(self, found: Snapshot) -> None:
        """Begin with what somebody else has loaded of the same table."""
        self.known_snapshots.advance(found)

    def newest_known(self) -> Snapshot:
        """The newest snapshot seen by this process, without asking anyone; good enough for a blind append."""
        return self.known_snapshots.newest or self._told()

    @property
    def settings(self) -> Settings:
        """The switches it was opened with."""
        return self._settings

    def segment(self, version: Version) -> tuple[LogSegment, Frontier]:
        """Which files make up a version, and where those are that the catalog holds."""
        frontier = self._committer.frontier(known=version)
        return log_reader.choose_segment(self.store, frontier, version), frontier

    def new_folder(self) -> NewFolder:
        """Where the files of one transaction are to be written."""
        return NewFolder(self.world.uuid()) if self.member is None else self.member.new_folder(self.world)

    def commit(self, change: Change, *, base: Snapshot) -> Version:
        """Commit what an operation decided from ``base``; the version it became."""
        if self.member is not None and self.member.txn_id is not None:
            change = replace(change, written_as=None)  # that is what all of them will be together
        written = file_names.published_path(base.version)
        enables = change.enables_in_commit_timestamps(base.state)
        file_time = EpochMillis(self.store.head(written).modified_ms) if enables else None
        txn = transaction.begin(
            base.state, change, world=self.world, handlers=self._handlers, file_time=file_time
        )
        try:
            done = loop.commit(txn, self._committer, self._settings, world=self.world)
        except (ConflictError, UserError):
            self.known_snapshots.forget()  # running the operation again must start from the version that won
            raise
        self.committed(txn, base, done)
        return done.version

    def committed(self, txn: Transaction, base: Snapshot, done: loop.CommitResult) -> None:
        """Take note that a transaction which began at ``base`` was ratified, and do what follows a commit."""
        commit_signals.COMMIT_SIGNALS.tell((base.state.metadata.id,))
        # Under a txnId of the caller's, an earlier run may be the one that was ratified, with other content.
        if done.since_base and txn.change.txn_id is None:
            self.known_snapshots.advance(self._bounded(base.after(done.since_base)))
        interval = log_retention.checkpoint_interval(base.state.metadata)
        self._after_commit.committed(self._keeper, done.version, interval=interval)

    def scanned(
        self, found: Snapshot, predicate: Predicate | None, files: Callable[[], Iterable[str]]
    ) -> None:
        """Rows of a snapshot were asked for, by a predicate or all of them, and may be in these files.

        Whoever reads rows says so: a transaction over several tables commits only if they stay as they are.
        """
        if self._observer is not None:
            self._observer.scanned(found.version, predicate, () if predicate is None else files())

    @property
    def is_observed(self) -> bool:
        """Whether somebody writes down what is read of it, as a transaction does."""
        return self._observer is not None

    def commits(self, start: Version, end: Version) -> tuple[Commit, ...]:
        """What was committed from ``start`` to ``end``, both included."""
        return log_reader.read_commits(self.store, self._committer.frontier(known=end), start, end)

    def domains(self, *, version: int | None = None) -> Mapping[str, str]:
        """The configurations of the metadata domains, now or at a version."""
        at, live = self._domains(version)
        if self._observer is not None:
            self._observer.looked_up_domains(at)
        return {name: action.configuration for name, action in live.items()}

    def change_domains(self, edits: Iterable[DomainEdit], *, since: int | None = None) -> Version:
        """Set and remove metadata domains in a commit of their own; the version it became.

        What others committed to the same domains after version ``since`` counts as concurrent.
        """
        base = self.snapshot(version=since)
        return self.commit(domain_change.plan_domain_change(base.state, edits), base=base)

    def history(self, *, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """What happened, newest first."""
        newest = self.snapshot()
        frontier = self._committer.frontier(known=newest.version)
        return history.history_entries(self.store, frontier, newest.state, limit=limit)

    def changes(self, asked: VersionRange) -> tuple[Snapshot, tuple[VersionChanges, ...]]:
        """What changed in these versions, and the table at the last of them."""
        newest = self.snapshot()
        frontier = self._committer.frontier(known=newest.version)
        versions = change_files.resolve_versions(self.store, frontier, newest.state, asked)
        last = self.snapshot(version=versions[-1])
        self.scanned(newest, None, tuple)

        def at(version: int) -> State:
            return last.state if version == last.version else self.snapshot(version=version).state

        found = change_files.changes_between(self.store, frontier, versions, at=at, newest=newest.state)
        return last, tuple(found)

    def publish(self) -> Version:
        """Publish every ratified version; the latest of them."""
        return self._committer.publish()

    def checkpoint(self, *, version: int | None = None) -> Version:
        """Write a checkpoint, after publishing what is ratified; the version it is of.

        Nothing is written if that version has one.
        """
        newest = self._check_maintainable(Maintenance.CHECKPOINT, "a checkpoint")
        wanted = newest.version if version is None else Version(version)
        written = checkpoint_writer.write_checkpoint(
            self.store, self._committer, world=self.world, version=wanted
        )
        if written is not None:
            checksum_files.write_checksum(self.store, written.state, written.totals)
            catalog_hints.note_checkpoint(self.store, self._committer, written, checksum=True)
        return wanted

    def compact_log(self, start: int, end: int) -> None:
        """Write one file that readers may take in place of the commits from ``start`` to ``end``."""
        self._check_maintainable(Maintenance.LOG_COMPACTION, "a log compaction")
        log_compaction.write_compaction(self.store, self._committer.frontier(), Version(start), Version(end))

    def check_permitted(self, kind: Maintenance, operation: str) -> PermittedSnapshot:
        """The table now, if it may be maintained so: whoever decides its commits is asked first.

        ``NotAllowed``, naming the operation, unless the managing catalog permits that maintenance (U8);
        another refusal if whoever decides cannot be asked here.
        """
        found = PermittedSnapshot(self.snapshot(), self.guard.check(kind, operation))
        state = found.snapshot.state
        decider = self._committer.decider(state.protocol, state.metadata)
        authority.require_reachable_decider(kind, operation, decider, state.metadata)
        return found

    def cleanup_log(self, *, retention_ms: int | None = None) -> tuple[str, ...]:
        """Delete what ``delta.logRetentionDuration`` allows of the log; the paths of what was deleted.

        Older versions can then no longer be read; those with a lease stay. The log of a catalog-managed
        table belongs to its catalog, which must permit it. ``retention_ms`` counts in place of the property.
        """
        newest = self._check_maintainable(Maintenance.METADATA_CLEANUP, "cleanup_log")
        frontier, now_ms = self._committer.frontier(), self.guard.now_ms()
        return log_cleanup.clean_up_log(
            self.store, frontier, newest, self.guard, now_ms=now_ms, retention_ms=retention_ms
        )

    def verify(self, *, version: int | None = None) -> tuple[Discrepancy, ...] | None:
        """In what a version, as the log has it, differs from its checksum file; None if it has none."""
        found = self.snapshot(version=version)
        return checksum_files.verify_checksum(self.store, found.state, found.files)

    def check(
        self, name: str, *, keeper: TableBooks | None = None, data: bool = True, repair: bool = False
    ) -> "integrity.IntegrityReport":
        """Whether the table is whole: its log, its files and, with its ``keeper``, the catalog's books."""
        table = integrity.IntegritySubject(
            name, self.location, self.store, self._committer, self.world, keeper
        )
        if not repair:
            return integrity.check_table(table, data=data)
        self.known_snapshots.forget()
        return integrity_repair.check_and_repair(table, data=data)

    def close(self) -> None:
        """Publish what still waits."""
        self._after_commit.close()

    def _bounded(self, advanced: Snapshot) -> Snapshot:
        """A writer that never looks at the files must not keep every commit it made for the day it does."""
        if advanced.files.pending <= _MOST_PENDING:
            return advanced
        return Snapshot(advanced.state, self._files_later(advanced.version, like=advanced.files))

    def _files_later(self, version: Version, *, like: LiveFiles) -> LiveFiles:
        """The files of a version, which is loaded if they are asked for."""
        return like.made_by(lambda: self._reloaded(version).files.columns)

    def _told(self) -> Snapshot:
        """The latest version by the catalog's word, its log unread; where it does not tell all, loaded."""
        found = snapshot.snapshot_from_catalog(frontier := self._committer.frontier(), self._reloaded)
        if found is None:
            return self._remember(*self._latest(frontier))
        self._check_readable(found.state.protocol, found.state.metadata)
        self.known_snapshots.advance(found)
        return found

    def _reloaded(self, version: Version) -> Snapshot:
        return snapshot.load_snapshot(self.store, self._committer.frontier(known=version), target=version)

    def _latest(self, frontier: Frontier | None = None) -> tuple[Snapshot, Frontier]:
        """The latest version, and how far the table reached; whoever its metadata names is asked (R12).

        Nothing of it is remembered yet, so a failure on the way leaves no half-way snapshot.
        """
        known = self.known_snapshots.loaded
        if frontier is None:
            frontier = self._committer.frontier(known=known.version if known else None)
        loaded = snapshot.load_snapshot(self.store, frontier, known=known)
        while self._committer.follow(loaded.version, loaded.state.metadata):
            frontier = self._committer.frontier(known=loaded.version)
            loaded = snapshot.load_snapshot(self.store, frontier, known=loaded)
        return loaded, frontier

    def _at(self, version: Version) -> Snapshot:
        known = self.known_snapshots.loaded
        frontier = self._committer.frontier(known=known.version if known else None)
        if version > frontier.latest:  # unless there is somebody who knows more
            known, frontier = self._latest(frontier)
        return self._remember(
            snapshot.load_snapshot(self.store, frontier, target=version, known=known), frontier
        )

    def _domains(self, version: int | None) -> tuple[Version, Mapping[str, DomainMetadata]]:
        """A version and its domains; of the latest by the catalog's word, if it tells all of them."""
        if version is not None:
            found = self.snapshot(version=version)
            return found.version, found.state.domains
        known = self.known_snapshots.loaded
        frontier = self._committer.frontier(known=known.version if known else None)
        told = frontier.description
        if told is not None and told.domains is not None and told.protocol.is_catalog_managed:
            self._check_readable(told.protocol, told.metadata)
            return frontier.latest, told.domains
        found = self._remember(*self._latest(frontier))
        return found.version, found.state.domains

    def _check_maintainable(self, kind: Maintenance, operation: str) -> State:
        """The table now, if its log may be changed by whoever has nothing to commit."""
        newest = self.check_permitted(kind, operation).snapshot.state
        table_features.check_maintainable(newest.protocol, newest.metadata)
        return newest

    def _remember(self, loaded: Snapshot, frontier: Frontier) -> Snapshot:
        self._check(loaded, frontier)
        if loaded.version == frontier.latest:
            self.known_snapshots.advance(loaded)
        return loaded

    def _check(self, loaded: Snapshot, frontier: Frontier) -> None:
        protocol = loaded.state.protocol
        if protocol.is_catalog_managed is not frontier.managed:
            newest = snapshot.load_snapshot(self.store, frontier, known=loaded).state.protocol
            if newest.is_catalog_managed is not frontier.managed:  # else it has changed hands since
                raise authority.wrong_decider_error(self.location, protocol)
        self._check_readable(protocol, loaded.state.metadata)

    def _check_readable(self, protocol: Protocol, metadata: Metadata) -> None:
        table_features.check_readable(protocol, metadata, previews=self._settings.read_previews)
