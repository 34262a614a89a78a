"""The route of tables with a coordinator: commits are staged, the coordinator says which file is a version.

The log has the versions 0 to 5, and the coordinator holds 6 and 7 and says that 7 is the latest: the
frontier is 7, with 6 and 7 held. A commit of version 8 writes

    _delta_log/_staged_commits/00000000000000000008.1c5f3f0e-….json

and asks the coordinator. If it ratifies the file, that file is version 8, and sooner or later it is copied
to ``_delta_log/00000000000000000008.json``.
"""

from collections.abc import Callable
from contextlib import suppress

from headgate.catalog import published_files
from headgate.catalog.ports.commits import (
    Lost,
    Open,
    Outcome,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    TableState,
    Unknown,
)
from headgate.catalog.ports.coordinator import (
    CommitCoordinator,
    CoordinatedActions,
    CoordinatedProposal,
    CoordinatedTable,
    GetCommitsResponse,
    WritesCommits,
)
from headgate.clock import World
from headgate.errors import (
    CatalogError,
    CatalogUnavailable,
    CorruptLog,
    InvalidRequest,
    ObjectNotFound,
    StorageUnavailable,
    TableNotFound,
)
from headgate.protocol.actions import Commit, Metadata, Protocol, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.file_names import LogFile
from headgate.storage.store import Store
from headgate.table.authority import Decider
from headgate.table.commit.catalog_managed import publish_and_retry
from headgate.table.commit.stamp_clock import TimestampGuard
from headgate.table.committer import Frontier
from headgate.table.read import log_reader
from headgate.table.transaction import Transaction

_FOLDER_MARKER = ".staging"


class CoordinatedCommitter:
    """Stages every commit and asks the coordinator; how often it publishes is up to it."""

    def __init__(
        self, coordinator: CommitCoordinator, table: CoordinatedTable, *, folder: str, world: World
    ) -> None:
        self._coordinator = coordinator
        self._table = table
        self._store = table.store
        self._folder = folder
        self._world = world
        self._clock = TimestampGuard(table.store)
        self._known: dict[Version, RatifiedCommit] = {}

    def has_same_coordinator(self, other: "CoordinatedCommitter") -> bool:
        """Whether another one asks an equal coordinator about the same registration of the table (S139)."""
        return self._coordinator == other._coordinator and self._table == other._table

    def frontier(self, *, known: Version | None = None) -> Frontier:
        # The coordinator first: what it forgets after this is published, and so listed (R1).
        told = self._coordinator.get_commits(self._table)
        for _ in range(2):
            frontier = self._joined(told, known)
            if frontier is not None:
                self._known = {commit.version: commit for commit in told.commits}
                return frontier
        raise CorruptLog(
            f"the coordinator says that version {told.latest} is ratified, but neither its commits nor the "
            f"log reach that far: it holds {[int(commit.version) for commit in told.commits]}; nothing older "
            "is served in place of the latest version",
            version=told.latest,
        )

    def follow(self, version: Version, metadata: Metadata) -> bool:  # noqa: ARG002 — see RoutedCommitter
        return False

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:  # noqa: ARG002 — see RoutedCommitter
        return Decider.COORDINATOR

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        self._clock.require(txn)
        answer = publish_and_retry(self._asking(txn), self.publish)
        match answer:
            case RatifiedCommit(version=version):
                txn.proposed.check(version)  # a staged file is of one version, so no other can be meant
                self._known[version] = answer
                return Ratified(version)
            case Lost():
                # The coordinator has answered, so failing to read the winners leaves no doubt: it raises.
                return _outcome(txn, self._winners(txn.target)) or Lost(())
            case Unknown() as unknown:
                return unknown

    def _asking(self, txn: Transaction) -> Callable[[], RatifiedCommit | Lost[RatifiedCommit] | Unknown]:
        """How the coordinator is asked: with the actions, if it writes them, else with a staged file."""
        coordinator, table, follows = self._coordinator, self._table, txn.attempt.follows
        before = TableState(follows.protocol, follows.metadata)
        after = TableState(txn.attempt.protocol, txn.attempt.metadata)
        what = txn.target, txn.txn_id, txn.timestamp
        if isinstance(coordinator, WritesCommits):
            actions = CoordinatedActions(*what, txn.content, self._folder, before, after)
            return lambda: coordinator.commit_actions(table, actions)
        proposal = CoordinatedProposal(*what, self._stage(txn.target, txn.content), before, after)
        return lambda: coordinator.commit(table, proposal)

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        """By its txnId at the version it was proposed as, wherever that version is by now (P13)."""
        try:
            winners = self._winners(txn.target)
        except (StorageUnavailable, CatalogUnavailable) as exc:
            return Unknown(exc.message)
        return _outcome(txn, winners) or Open()

    def publish(self, told: Frontier | None = None) -> Version:  # noqa: ARG002
        frontier = self.frontier()
        if frontier.unpublished:
            self._coordinator.backfill_to(self._table, max(frontier.unpublished))
        return frontier.latest

    def publish_leftovers(self, released: Version) -> None:
        """Publish what a released table left with its coordinator, who need not do it, nor even be there.

        Whoever has seen the release knows its files. The coordinator is told, so that it can forget them.
        """
        try:
            told = {commit.version: commit for commit in self._coordinator.get_commits(self._table).commits}
        except (CatalogUnavailable, InvalidRequest):
            if not self._reaches(released):
                raise
            told = self._known
        left = sorted(version for version in told if version <= released)
        for version in left:
            published_files.publish_version(
                self._store, version, log_reader.commit_content(self._store, version, told[version])
            )
        if left:
            with suppress(CatalogError, InvalidRequest):  # it is only a courtesy
                self._coordinator.backfill_to(self._table, released)

    def _reaches(self, released: Version) -> bool:
        """Whether every version up to that one is published, or its file is known here."""
        _, there = log_reader.list_versions(
            self._store, since=log_reader.last_checkpoint_version(self._store)
        )
        return {*range(max(there) + 1, released + 1)} <= self._known.keys()

    def check_published(self, latest: Version) -> None:
        """Refuse to go on if a version that was read here is now another one: a forced release gave it up."""
        for version in sorted(version for version in self._known if version <= latest):
            content = log_reader.commit_content(self._store, version, self._known[version])
            if self._store.read(file_names.published_path(version)) != content:
                raise CorruptLog(
                    f"version {version}, as this process has read it, was given up by a forced release, and "
                    "is another one now: open the table again",
                    version=version,
                )

    def _joined(self, told: GetCommitsResponse, known: Version | None) -> Frontier | None:
        """The log and what the coordinator holds, as one; None if something is missing between the two."""
        since = known if known is not None else log_reader.last_checkpoint_version(self._store)
        files, there = log_reader.list_versions(self._store, since=since)
        if known is None and not there:
            raise TableNotFound("there is no Delta table: _delta_log has no commit", name="")
        sure = known if known is not None else max(there)
        held = {commit.version: commit for commit in told.commits if commit.version not in there}
        latest = max(sure, *there, -1 if told.latest is None else told.latest)
        if any(number not in there and number not in held for number in range(sure + 1, latest + 1)):
            return None
        listing: list[LogFile] | None = files if known is None else None
        return Frontier(Version(latest), held, managed=False, listing=listing)

    def _winners(self, target: Version) -> tuple[Commit, ...]:
        # Through the coordinator, because winners may be ratified and not published (W8).
        frontier = self.frontier(known=Version(target - 1))
        return tuple(
            codec.decode(
                version, log_reader.commit_content(self._store, version, frontier.unpublished.get(version))
            )
            for version in map(Version, range(target, frontier.latest + 1))
        )

    def _stage(self, target: Version, content: bytes) -> StagedCommit:
        self._check_folder()
        # For this version only; after a lost race a new file is staged (F3).
        staged = StagedCommit(file_names.staged_file_name(target, self._world.uuid()), self._folder)
        self._store.put(staged.path, content)
        return staged

    def _check_folder(self) -> None:
        """Refuse to go on where the staged commits were deleted: some may be ratified (F8)."""
        try:
            self._store.head(self._folder + _FOLDER_MARKER)
        except ObjectNotFound as exc:
            # Other clients leave no mark, so a folder with files, or a table without a commit, will do.
            if any(True for _ in self._store.list_from(self._folder)):
                return
            if self._coordinator.get_commits(self._table).latest is None:
                return
            raise CorruptLog(
                f"the folder {self._folder} is gone, and with it perhaps ratified commits; it is not made "
                "again silently: restore it, or if all versions are published put an empty file "
                f"{_FOLDER_MARKER} there",
                code="DELTA_STATE_RECOVER_ERROR",
            ) from exc


def _outcome(txn: Transaction, winners: tuple[Commit, ...]) -> Ratified | Lost[Commit] | None:
    if not winners:
        return None
    known = txn.proposed.version(winners)
    return Lost(winners) if known is None else Ratified(known)


def make_staging_folder(store: Store, folder: str) -> None:
    """Make the folder of staged commits, which no store can have without a file in it."""
    store.put(folder + _FOLDER_MARKER, b"")
