"""Who takes part: writers, a publisher, readers, and somebody who knows nothing of the catalog."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count

from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    ConflictError,
    CorruptLog,
    HeadgateError,
    ObjectExists,
    StorageUnavailable,
)
from headgate.protocol.actions import AppTransaction, TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.store import Store
from headgate.table.alter import set_properties
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation
from tests.simulation import changes
from tests.simulation.changes import Decide, Moment, Rows
from tests.simulation.claims import Claim, Sight, shown
from tests.simulation.faults import FaultPlan
from tests.simulation.ledger import Ledger, Violation
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
    number: str
    end: End
    version: int | None
    """As which version it was reported; None also if it found an earlier run of the same in the log."""


@dataclass
class Records:
    """What the actors experienced."""

    runs: list[Run] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    claims: dict[tuple[str, str], Claim] = field(default_factory=dict)
    rows: Rows = field(default_factory=Rows)
    serial: int = field(default_factory=count().__next__)
    """Of all runs in this process: some share a catalog, and no two transactions of one may share an id."""

    def see(self, snapshot: Snapshot) -> Sight:
        """Note what ``snapshot`` shows."""
        sight = shown(snapshot)
        self.sights.append(sight)
        return sight


_FAILURES: tuple[tuple[type[BaseException], End], ...] = (
    (Crash, End.CRASHED),
    (CommitUnknown, End.UNKNOWN),
    (ConflictError, End.CONFLICT),
    (StorageUnavailable, End.UNAVAILABLE),
    (CatalogUnavailable, End.UNAVAILABLE),
)


def ended(exc: BaseException, what: str) -> End:
    """How something ended that raised ``exc``; nothing may fail for any other reason (I10)."""
    for kind, end in _FAILURES:
        if isinstance(exc, kind):
            return end
    raise Violation("I10", f"{what} was refused for no reason: {exc!r}") from exc


@dataclass(frozen=True, slots=True)
class Habits:
    """What the writers of a table often do, and whether they trust that txnIds are remembered for ever."""

    favours: frozenset[str]
    trusts_ids: bool


class Writer:
    """Appends, overwrites, deletes and whatever else changes a table, a few times."""

    def __init__(
        self,
        name: str,
        open_table: Open,
        data: Store,
        *,
        chance: random.Random,
        plan: FaultPlan,
        records: Records,
        habits: Habits,
    ) -> None:
        self._name = name
        self._open = open_table
        self._data = data
        self._chance = chance
        self._plan = plan
        self._records = records
        self._habits = habits
        self._table = open_table()
        self._from: Version | None = None

    def act(self) -> None:
        """The writer's whole life."""
        for number in range(self._chance.randint(1, 3)):
            self._operate(f"{self._name}-{number}", changes.choose(self._chance, self._habits.favours))

    def _operate(self, operation_id: str, decide: Decide) -> None:
        repeat, self._from = 0, None
        while True:
            data_file = f"{operation_id}-{repeat}.parquet"
            end, version = self._run((operation_id, str(repeat)), decide, data_file)
            self._records.runs.append(Run(operation_id, str(repeat), end, version))
            if end in (End.CONFLICT, End.UNAVAILABLE):
                self._data.delete(data_file)
            if end not in (End.UNKNOWN, End.CRASHED):
                return
            if not self._plan.restarts():
                if end is End.CRASHED:
                    raise Crash
                return
            repeat += 1
            if end is End.CRASHED or self._plan.coin():  # else the same process tries again
                self._table = self._open()
            if self._plan.coin():  # else from the version it had read, whatever came after it
                self._from = None

    def _run(self, run: tuple[str, str], decide: Decide, data_file: str) -> tuple[End, int | None]:
        try:
            return End.SUCCESS, self._commit(run, decide, data_file)
        except (Crash, HeadgateError) as exc:
            return ended(exc, str(run)), None

    def _commit(self, run: tuple[str, str], decide: Decide, data_file: str) -> int | None:
        operation_id, number = run
        base = self._read(decide)
        self._from = base.version
        now = Moment(self._records.see(base), base.state, self._records.rows, self._chance, data_file)
        if operation_id in now.sight.txns:
            return None  # an earlier run of this operation is in the log
        decided = decide(now) or changes.append(now)
        self._records.claims[run] = decided.claim
        if decided.rows:
            self._records.rows.of_file[data_file] = decided.rows
            self._data.put(data_file, b"rows")
        if decided.vector is not None:
            self._records.rows.of_vector.update([decided.vector])
        actions = decided.actions
        # Where nobody remembers txnIds, application transactions are there for this.
        if not self._habits.trusts_ids:
            actions = (*actions, AppTransaction(app_id=operation_id, version=1))
        said = {"op": operation_id, "run": number, **decided.parameters}
        change = Change(
            Operation(decided.operation, said, changes_data=decided.changes_data),
            actions,
            decided.reads,
            TxnId(f"txn-{self._records.serial}-{operation_id}"),
        )
        return self._table.commit(change, base=base)

    def _read(self, decide: Decide) -> Snapshot:
        if self._from is not None:
            return self._table.snapshot(version=self._from)
        return self._table.newest_known() if decide is changes.append else self._table.snapshot()


class Upgrader:
    """Has the rows of a table tracked from some moment on, by the product's own sequence of commits."""

    def __init__(
        self,
        open_table: Open,
        ledger: Ledger,
        *,
        chance: random.Random,
        pause: Callable[[], None],
        pauses: int,
    ) -> None:
        self._open = open_table
        self._ledger = ledger
        self._chance = chance
        self._pause = pause
        self._pauses = pauses

    def act(self) -> None:
        """The upgrader's whole life."""
        for _ in range(self._pauses):
            self._pause()
        for _ in range(self._chance.randint(1, 4)):
            try:
                version = set_properties.set_properties(self._open(), {"delta.enableRowTracking": "true"})
            except (Crash, HeadgateError) as exc:
                ended(exc, "enabling row tracking")
                continue
            if self._ledger.at(version).properties.get("delta.enableRowTracking") != "true":
                raise Violation("I9", f"rows are said to be tracked from version {version} on, and are not")
            return


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
        content += (
            b'"stats":"{\\"numRecords\\":1}","partitionValues":{},"modificationTime":1,"dataChange":true}}\n'
        )
        try:
            self._store.put_if_absent(file_names.published_path(Version(version)), content)
        except ObjectExists:
            return
        self._ledger.stray = version
