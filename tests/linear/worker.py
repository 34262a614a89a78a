"""One process of a history: it proposes, appends, asks, loads and publishes, and writes everything down."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog, open_shared_catalog
from headgate.catalog.ports.commits import (
    InlineCommit,
    Lost,
    Open,
    Proposal,
    Ratified,
    StagedCommit,
    TableId,
    Unknown,
)
from headgate.catalog.targets import CatalogTarget
from headgate.errors import CatalogUnavailable, CommitUnknown, ConflictError, TooManyUnpublished
from headgate.plugins import catalogs
from headgate.protocol.actions import CommitInfo, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.settings import DatabaseSettings, HttpSettings, Settings
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change
from tests.linear.history import Kind, Recorder, Told, digest, total
from tests.support import tables
from tests.support.world import SkewedWorld

ONE = DatabaseSettings(connections=2)
_FEW = Settings(http=HttpSettings(attempts=3))
_FIRST_STAMP, _STEP = 4_000_000_000_000, 1_000
"""A version asked for by number is stamped so; one left open takes the next after the latest."""
_LATE = SkewedWorld(_FIRST_STAMP)
"""Where such timestamps are not ahead."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the catalog is: a folder, or the address of a database and its warehouse."""

    folder: str
    url: str | None = None
    server: str | None = None
    """The address of a lake with this catalog, for who is not to open it itself."""

    def open(self) -> Catalog:
        """The catalog, however often the way to it breaks meanwhile."""
        while True:
            try:
                if self.server is not None:
                    return cast(Catalog, catalogs.open_catalog(CatalogTarget(self.server, settings=_FEW)))
                if self.url is None:
                    return open_catalog(self.folder, world=_LATE)
                return open_shared_catalog(self.url, warehouse=self.folder, settings=ONE, world=_LATE)
            except (CatalogUnavailable, CommitUnknown):
                continue


@dataclass(frozen=True, slots=True)
class Shared:
    """A table that all processes work on."""

    number: int
    table_id: TableId
    location: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """What one process does, decided by its seed."""

    name: str
    place: Place
    records: str
    shared: tuple[Shared, ...]
    operations: int
    seed: str


class Worker:
    """Holds one catalog, and each table as it last saw it."""

    def __init__(self, assignment: Assignment) -> None:
        self._chance = random.Random(assignment.seed)
        self._assignment = assignment
        self._catalog = assignment.place.open()
        self._recorder = Recorder(Path(assignment.records) / f"{assignment.name}.jsonl")
        self._opened: dict[int, OpenedTable] = {}
        self._latest: dict[int, int] = {}
        self._txns: dict[int, list[str]] = {}
        self._count = 0

    def run(self) -> None:
        """Do one operation after another."""
        actions = [action for action, weight in self._weights() for _ in range(weight)]
        for _ in range(self._assignment.operations):
            self._chance.choice(actions)(self._chance.choice(self._assignment.shared))
        self._catalog.close()

    def _weights(self) -> tuple[tuple[Callable[[Shared], None], int], ...]:
        return (
            (self._propose_any, 34),
            (self._propose_next, 14),
            (self._propose_staged, 6),
            (self._append, 8),
            (self._tail, 20),
            (self._load, 8),
            (self._publish, 4),
            (self._outcome, 6),
        )

    def _new_txn(self, table: int) -> str:
        self._count += 1
        txn = f"{self._assignment.name}-{self._count}"
        self._txns.setdefault(table, []).append(txn)
        return txn

    def _propose_any(self, shared: Shared) -> None:
        txn = self._new_txn(shared.number)
        proposal = self._proposal(shared, txn, Version(1))
        self._propose(shared, replace(proposal, any_version=True))

    def _propose_next(self, shared: Shared) -> None:
        target = Version(self._latest.get(shared.number, 0) + 1)
        self._propose(shared, self._proposal(shared, self._new_txn(shared.number), target))

    def _propose_staged(self, shared: Shared) -> None:
        target = Version(self._latest.get(shared.number, 0) + 1)
        proposal = self._proposal(shared, self._new_txn(shared.number), target)
        assert isinstance(proposal.content, InlineCommit)
        file_name = file_names.staged_file_name(
            target, str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        )
        locate(shared.location).put(file_names.STAGED_FOLDER + file_name, proposal.content.content)
        self._propose(shared, replace(proposal, content=StagedCommit(file_name)))

    def _proposal(self, shared: Shared, txn: str, target: Version) -> Proposal:
        info = CommitInfo(
            in_commit_timestamp=EpochMillis(_FIRST_STAMP + _STEP * target), txn_id=TxnId(txn)
        )  # fmt: skip
        content = codec.encode((info, tables.named_file(txn)))
        return Proposal(shared.table_id, target, TxnId(txn), InlineCommit(content))

    def _propose(self, shared: Shared, proposal: Proposal) -> None:
        """Propose, and again if no answer came: the catalog remembers."""
        while True:
            number = self._recorder.begin(
                Kind.APPEND, shared.number, txn=proposal.txn_id, target=proposal.target
            )
            try:
                outcome = self._catalog.propose(proposal)
            except CatalogUnavailable:
                outcome = Unknown("")
            except TooManyUnpublished:
                self._recorder.end(number, Told.LOST)
                return self._publish(shared)
            match outcome:
                case Ratified(version):
                    self._saw(shared.number, version)
                    return self._recorder.end(number, Told.DONE, version=version)
                case Lost(winners):
                    last = winners[-1].version
                    self._saw(shared.number, last)
                    seen = tuple((int(winner.version), str(winner.txn_id)) for winner in winners)
                    return self._recorder.end(number, Told.LOST, version=last, txns=seen)
                case Unknown():
                    self._recorder.end(number, Told.UNKNOWN)

    def _append(self, shared: Shared) -> None:
        """Through the table layer, which does its own asking again."""
        txn = self._new_txn(shared.number)
        change = tables.append_change(tables.named_file(txn))
        number = self._recorder.begin(Kind.APPEND, shared.number, txn=txn)
        try:
            table = self._table(shared)
            base = table.newest_known()
            version = table.commit(Change(change.operation, change.actions, txn_id=TxnId(txn)), base=base)
        except (ConflictError, TooManyUnpublished):
            return self._recorder.end(number, Told.LOST)
        except (CommitUnknown, CatalogUnavailable):
            return self._recorder.end(number, Told.UNKNOWN)
        self._saw(shared.number, version)
        return self._recorder.end(number, Told.DONE, version=version)

    def _tail(self, shared: Shared) -> None:
        number = self._recorder.begin(Kind.TAIL, shared.number)
        try:
            tail = self._catalog.tail(shared.table_id)
        except CatalogUnavailable:
            return self._recorder.end(number, Told.FAILED)
        self._saw(shared.number, tail.latest)
        held = tuple((int(commit.version), str(commit.txn_id)) for commit in tail.commits)
        return self._recorder.end(number, Told.DONE, version=tail.latest, published=tail.published, txns=held)

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
        return self._recorder.end(number, Told.DONE, version=latest, published=latest)

    def _outcome(self, shared: Shared) -> None:
        mine = self._txns.get(shared.number)
        if not mine:
            return self._tail(shared)
        txn = self._chance.choice(mine)
        number = self._recorder.begin(Kind.OUTCOME, shared.number, txn=txn)
        try:
            outcome = self._catalog.outcome_of(shared.table_id, TxnId(txn), Version(1), any_version=True)
        except CatalogUnavailable:
            return self._recorder.end(number, Told.FAILED)
        match outcome:
            case Ratified(version):
                return self._recorder.end(number, Told.DONE, version=version)
            case Lost():
                return self._recorder.end(number, Told.LOST)
            case Open():
                return self._recorder.end(number, Told.OPEN)
            case Unknown():
                return self._recorder.end(number, Told.FAILED)

    def _table(self, shared: Shared) -> OpenedTable:
        if shared.number not in self._opened:
            self._opened[shared.number] = tables.open_managed(self._catalog, shared.table_id, shared.location)
        return self._opened[shared.number]

    def _saw(self, table: int, version: int) -> None:
        self._latest[table] = max(version, self._latest.get(table, 0))
