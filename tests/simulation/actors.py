"""Who takes part: writers, a publisher, readers, and somebody who knows nothing of the catalog."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConflictError,
    CorruptLog,
    HeadgateError,
    ObjectExists,
    StorageUnavailable,
)
from headgate.protocol import names
from headgate.protocol.actions import Action, AppTransaction, RemoveFile, TxnId, Version
from headgate.protocol.conflicts import Reads
from headgate.storage.api import Store
from headgate.table.opened import OpenedTable
from headgate.table.snapshot import Snapshot
from headgate.table.transaction import Change, Operation
from tests.simulation.faults import FaultPlan
from tests.simulation.ledger import Ledger, Violation
from tests.support.tables import named_file
from tests.support.turnstile import Crash

Open = Callable[[], OpenedTable]


class End(Enum):
    """How one run of an operation ended, as its client experienced it."""

    SUCCESS = auto()
    CONFLICT = auto()
    UNAVAILABLE = auto()
    """Nothing was proposed, says the client."""
    UNKNOWN = auto()
    CRASHED = auto()


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an operation: a repeated operation has several."""

    operation_id: str
    end: End
    version: int | None
    data_file: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What a snapshot showed."""

    version: int
    files: tuple[str, ...]
    timestamp: int | None


@dataclass
class Records:
    """What the actors experienced."""

    runs: list[Run] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)

    def see(self, snapshot: Snapshot) -> Sight:
        """Note what ``snapshot`` shows."""
        files = tuple(snapshot.files.columns["path"].to_pylist())
        sight = Sight(snapshot.version, files, snapshot.state.in_commit_timestamp)
        self.sights.append(sight)
        return sight


class Writer:
    """Appends, overwrites and deletes, a few times."""

    def __init__(
        self,
        name: str,
        open_table: Open,
        data: Store,
        *,
        chance: random.Random,
        plan: FaultPlan,
        records: Records,
    ) -> None:
        self._name = name
        self._open = open_table
        self._data = data
        self._chance = chance
        self._plan = plan
        self._records = records
        self._table = open_table()

    def act(self) -> None:
        """The writer's whole life."""
        for number in range(self._chance.randint(1, 3)):
            kind = self._chance.choice(("append", "append", "append", "overwrite", "delete", "delete"))
            self._operate(f"{self._name}-{number}", kind)

    def _operate(self, operation_id: str, kind: str) -> None:
        repeat = 0
        while True:
            data_file = f"{operation_id}-{repeat}.parquet"
            end, version = self._run(operation_id, kind, data_file)
            self._records.runs.append(Run(operation_id, end, version, data_file))
            if end in (End.CONFLICT, End.UNAVAILABLE):
                self._data.delete(data_file)
            if end not in (End.UNKNOWN, End.CRASHED):
                return
            if not self._plan.restarts():
                if end is End.CRASHED:
                    raise Crash
                return
            repeat += 1
            self._table = self._open()

    def _run(self, operation_id: str, kind: str, data_file: str) -> tuple[End, int | None]:
        try:
            return End.SUCCESS, self._commit(operation_id, kind, data_file)
        except Crash:
            return End.CRASHED, None
        except CommitUnknown:
            return End.UNKNOWN, None
        except ConflictError:
            return End.CONFLICT, None
        except (StorageUnavailable, CatalogUnavailable):
            return End.UNAVAILABLE, None
        except HeadgateError as exc:
            raise Violation("I10", f"{operation_id} was refused for no reason: {exc!r}") from exc

    def _commit(self, operation_id: str, kind: str, data_file: str) -> int | None:
        blind = kind == "append"
        base = self._table.newest_known() if blind else self._table.snapshot()
        seen = self._records.see(base)
        if operation_id in base.state.txns:
            return None  # an earlier run of this operation is in the log
        self._data.put(data_file, b"rows")
        actions: list[Action] = [named_file(data_file)]
        if kind == "overwrite":
            actions += [_remove(path) for path in seen.files]
        if kind == "delete" and seen.files:
            actions = [_remove(self._chance.choice(seen.files))]
        # A catalog knows every txnId for ever; ordinary tables have application transactions for this.
        if not base.state.protocol.is_catalog_managed:
            actions.append(AppTransaction(app_id=operation_id, version=1))
        change = Change(
            Operation(kind.upper(), {"op": operation_id}),
            tuple(actions),
            Reads(whole_table=kind == "overwrite"),
            TxnId(f"txn-{operation_id}"),
        )
        return self._table.commit(change, base=base)


class Publisher:
    """Publishes now and then."""

    def __init__(self, open_table: Open, ledger: Ledger, *, rounds: int) -> None:
        self._table = open_table()
        self._ledger = ledger
        self._rounds = rounds

    def act(self) -> None:
        """The publisher's whole life."""
        for _ in range(self._rounds):
            try:
                self._table.publish()
            except (StorageUnavailable, CatalogUnavailable, CommitUnknown):
                continue
            except CorruptLog:
                if self._ledger.stray is None:
                    raise


class Reader:
    """Loads snapshots, remembered ones and fresh ones, the newest and older ones."""

    def __init__(
        self, open_table: Open, ledger: Ledger, records: Records, *, chance: random.Random, rounds: int
    ) -> None:
        self._open = open_table
        self._ledger = ledger
        self._records = records
        self._chance = chance
        self._rounds = rounds

    def act(self) -> None:
        """The reader's whole life."""
        table, newest = self._open(), 0
        for _ in range(self._rounds):
            if self._chance.random() < 0.5:
                table = self._open()
            before = self._ledger.latest
            try:
                seen = self._records.see(table.snapshot())
                if self._chance.random() < 0.3:
                    self._records.see(table.snapshot(version=self._chance.randint(0, seen.version)))
            except (StorageUnavailable, CatalogUnavailable):
                continue
            if not max(before, newest) <= seen.version <= self._ledger.latest:
                raise Violation(
                    "I6",
                    f"a reader saw version {seen.version}, after {newest}, when the latest was between "
                    f"{before} and {self._ledger.latest}",
                )
            newest = seen.version


class Stranger:
    """Copies the published files of some other place into the log, as the version that is next."""

    def __init__(self, store: Store, ledger: Ledger, *, pause: Callable[[], None], pauses: int) -> None:
        self._store = store
        self._ledger = ledger
        self._pause = pause
        self._pauses = pauses

    def act(self) -> None:
        """The stranger's whole life."""
        for _ in range(self._pauses):
            self._pause()
        version = self._ledger.latest + 1
        content = b'{"commitInfo":{"inCommitTimestamp":1,"txnId":"stray"}}\n{"add":{"path":"stray","size":1,'
        content += b'"partitionValues":{},"modificationTime":1,"dataChange":true}}\n'
        try:
            self._store.put_if_absent(names.published(Version(version)), content)
        except ObjectExists:
            return
        self._ledger.stray = version


def _remove(path: str) -> RemoveFile:
    return RemoveFile(path=path, data_change=True)
