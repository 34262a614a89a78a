"""One process of a history of tables with a coordinator: what it did and saw, all written down."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headgate.catalog.coordinator.database_ledger import open_ledger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.ports.coordinator import CommitCoordinator, CoordinatedTable
from headgate.catalog.rest.opening import open_coordinator_ledger
from headgate.clock import SystemWorld
from headgate.errors import CatalogUnavailable, CommitUnknown, ConflictError
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.features import coordinated_commits
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import coordination
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.linear.history import Kind, Recorder, Told, digest, total
from tests.linear.worker import ONE, Assignment, Place, Shared
from tests.support import tables

OWNER, BATCH = "owner", 3


@dataclass(frozen=True, slots=True)
class Owned:
    """The owner that a process asks, and the tables as it opens them."""

    place: Place

    def owner(self) -> LedgerCoordinator:
        """The owner, however often the way to it breaks meanwhile."""
        while True:
            try:
                if self.place.server is not None:
                    return LedgerCoordinator(open_coordinator_ledger(self.place.server), BATCH)
                ledger = open_ledger(self.place.url or self.place.folder, ONE)
            except (CatalogUnavailable, CommitUnknown):
                continue
            return LedgerCoordinator(ledger, BATCH)

    def opened(self, owner: CommitCoordinator, location: str, store: Store | None = None) -> OpenedTable:
        """The table at a place, with a memory of its own."""
        store, world = store or locate(location), SystemWorld()

        def find(name: str, conf: Mapping[str, str]) -> CommitCoordinator | None:
            return owner if name == OWNER else None

        return OpenedTable(
            location,
            store,
            PathCommitter(location, store, find, world=world),
            after_commit=PostCommitScheduler(tables.ON_DEMAND),
            settings=tables.ON_DEMAND,
            world=world,
        )

    def create(self, location: str) -> None:
        """Version 0 of a table of the owner."""
        owner = self.owner()
        table = self.opened(owner, location)
        coordination.create_coordinated(table, TableDefinition(tables.SCHEMA), lambda *_: owner, OWNER, {})

    def log(self, location: str) -> list[str]:
        """The transactions of the table, by version; all of them are published for it."""
        table = self.opened(self.owner(), location)
        latest = table.publish()
        found = (
            codec.decode(version, table.store.read(file_names.published_path(version)))
            for version in map(Version, range(latest + 1))
        )
        return [str(commit.info.txn_id) if commit.info is not None else "" for commit in found]

    def findings(self, location: str) -> list[str]:
        """What ``headgate check`` finds of errors and warnings."""
        report = self.opened(self.owner(), location).check(location, data=False)
        return [] if report.is_clean else [str(finding) for finding in report.findings]


class OwnerWorker:
    """Holds one owner, and each table as it last saw it."""

    def __init__(self, assignment: Assignment) -> None:
        self._chance = random.Random(assignment.seed)
        self._assignment = assignment
        self._owned = Owned(assignment.place)
        self._owner = self._owned.owner()
        self._recorder = Recorder(Path(assignment.records) / f"{assignment.name}.jsonl")
        self._tables: dict[int, OpenedTable] = {}
        self._asked: dict[int, CoordinatedTable] = {}
        self._count = 0

    def run(self) -> None:
        """Do one operation after another."""
        weights: tuple[tuple[Callable[[Shared], None], int], ...] = (
            (self._append, 10), (self._tail, 4), (self._load, 3), (self._publish, 1),
        )  # fmt: skip
        actions = [action for action, weight in weights for _ in range(weight)]
        for _ in range(self._assignment.operations):
            self._chance.choice(actions)(self._chance.choice(self._assignment.shared))

    def _append(self, shared: Shared) -> None:
        self._count += 1
        txn = f"{self._assignment.name}-{self._count}"
        change = tables.append_change(tables.named_file(txn))
        number = self._recorder.begin(Kind.APPEND, shared.number, txn=txn)
        try:
            table = self._table(shared)
            base = table.newest_known()
            version = table.commit(Change(change.operation, change.actions, txn_id=TxnId(txn)), base=base)
        except ConflictError:
            return self._recorder.end(number, Told.LOST)
        except (CommitUnknown, CatalogUnavailable):
            return self._recorder.end(number, Told.UNKNOWN)
        return self._recorder.end(number, Told.DONE, version=version)

    def _tail(self, shared: Shared) -> None:
        """What the owner itself says."""
        number = self._recorder.begin(Kind.TAIL, shared.number)
        try:
            found = self._owner.get_commits(self._asked_of(shared))
        except CatalogUnavailable:
            return self._recorder.end(number, Told.FAILED)
        held = tuple((int(commit.version), str(commit.txn_id)) for commit in found.commits)
        return self._recorder.end(number, Told.DONE, version=found.latest or 0, txns=held)

    def _load(self, shared: Shared) -> None:
        number = self._recorder.begin(Kind.LOAD, shared.number)
        try:
            snapshot = self._table(shared).snapshot()
            files = snapshot.files.without_stats["path"].to_pylist()
        except CatalogUnavailable:
            return self._recorder.end(number, Told.FAILED)
        return self._recorder.end(
            number, Told.DONE, version=snapshot.version, files=len(files), digest=total(map(digest, files))
        )

    def _publish(self, shared: Shared) -> None:
        number = self._recorder.begin(Kind.PUBLISH, shared.number)
        try:
            latest = self._table(shared).publish()
        except (CatalogUnavailable, CommitUnknown):
            return self._recorder.end(number, Told.FAILED)
        return self._recorder.end(number, Told.DONE, version=latest)

    def _table(self, shared: Shared) -> OpenedTable:
        if shared.number not in self._tables:
            self._tables[shared.number] = self._owned.opened(self._owner, shared.location)
        return self._tables[shared.number]

    def _asked_of(self, shared: Shared) -> CoordinatedTable:
        if shared.number not in self._asked:
            first = tables.open_filesystem(shared.location).snapshot(version=0)
            named = coordinated_commits.coordinator_of(first.state.metadata)
            assert named is not None
            self._asked[shared.number] = CoordinatedTable(
                shared.location, named.table_conf, locate(shared.location)
            )
        return self._asked[shared.number]
