"""A transaction: what was read, what is to be written, and as which version; frozen.

Losing a race gives a new transaction, rebased onto the winners, with the same txnId.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headgate.clock import World
from headgate.errors import CorruptLog
from headgate.protocol import codec, conflicts, features, timestamps
from headgate.protocol.actions import (
    Action,
    AddFile,
    Commit,
    CommitInfo,
    EpochMillis,
    RemoveFile,
    TxnId,
    Version,
    sort,
)
from headgate.protocol.conflicts import BLIND, Ours, Reads
from headgate.protocol.replay import State

ENGINE = "Headgate/0.1.0"


@dataclass(frozen=True, slots=True)
class Operation:
    """What a commit does, in the words of the table's history."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation wants to commit."""

    operation: Operation
    actions: tuple[Action, ...]
    reads: Reads = BLIND
    txn_id: TxnId | None = None
    """Given by callers that may repeat the whole operation and want a catalog to commit it once.

    Without a catalog nobody remembers ids: there an application transaction does the same.
    """

    @property
    def only_adds_files(self) -> bool:
        """Whether it adds files and does nothing else, having read nothing."""
        return self.reads == BLIND and all(isinstance(action, AddFile) for action in self.actions)


@dataclass(frozen=True, slots=True)
class Transaction:
    """One attempt to commit a change as version ``target``."""

    base: Version
    target: Version
    txn_id: TxnId
    change: Change
    timestamp: EpochMillis
    in_commit_timestamps: bool

    @property
    def commit(self) -> Commit:
        """The commit this transaction would be."""
        return sort(self.target, (self._info(), *self.change.actions))

    @property
    def content(self) -> bytes:
        """The bytes of that commit."""
        return codec.encode((self._info(), *self.change.actions))

    def rebased_onto(self, winners: Sequence[Commit]) -> "Transaction":
        """The same change as the version after ``winners``; raises the conflict that forbids it."""
        _check_contiguous(winners, self.target)
        ours = Ours(self.change.reads, self.commit)
        timestamp = self.timestamp
        for winner in winners:
            conflicts.check(ours, winner)
            if winner.info is not None and winner.info.in_commit_timestamp is not None:
                timestamp = timestamps.next_in_commit_timestamp(timestamp, winner.info.in_commit_timestamp)
        return replace(self, target=Version(winners[-1].version + 1), timestamp=timestamp)

    def _info(self) -> CommitInfo:
        removes = any(isinstance(action, RemoveFile) for action in self.change.actions)
        return CommitInfo(
            in_commit_timestamp=self.timestamp if self.in_commit_timestamps else None,
            timestamp=self.timestamp,
            operation=self.change.operation.name,
            operation_parameters=dict(self.change.operation.parameters),
            read_version=self.base if self.base >= 0 else None,
            isolation_level="Serializable",
            is_blind_append=not self.change.reads.whole_table and not removes,
            operation_metrics=dict(self.change.operation.metrics),
            engine_info=ENGINE,
            txn_id=self.txn_id,
        )


def begin(state: State, change: Change, *, world: World) -> Transaction:
    """A transaction that would make ``change`` the version after ``state``."""
    features.check_writable(state.protocol, state.metadata)
    now = world.now_ms()
    stamped = state.has_in_commit_timestamps
    previous = timestamps.promised(state.version, state.info) if stamped else None
    return Transaction(
        base=state.version,
        target=Version(state.version + 1),
        txn_id=change.txn_id or TxnId(world.uuid()),
        change=change,
        timestamp=timestamps.next_in_commit_timestamp(now, previous),
        in_commit_timestamps=stamped,
    )


def _check_contiguous(winners: Iterable[Commit], start: Version) -> None:
    expected = int(start)
    for winner in winners:
        if winner.version != expected:
            raise CorruptLog(
                f"the winners of version {start} are not contiguous: {expected} is missing", version=expected
            )
        expected += 1
    if expected == start:
        raise CorruptLog(f"version {start} was lost, but nobody holds it", version=start)
