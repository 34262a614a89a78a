"""A transaction: what was read, what is to be written, and as which version; frozen.

Losing a race gives a new transaction, rebased onto the winners, with the same txnId.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import ConcurrentWrite, CorruptLog
from headgate.protocol.actions import (
    Action,
    AddFile,
    Commit,
    CommitInfo,
    EpochMillis,
    Metadata,
    TxnId,
    Version,
)
from headgate.protocol.domains.rules import Handlers
from headgate.protocol.features import row_tracking
from headgate.protocol.log import codec, in_commit_timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.transaction.attempt import BLIND, Attempt, ReadSet
from headgate.protocol.transaction.row_access import TouchedRows

if TYPE_CHECKING:
    from headgate.protocol.conflicts import rebase
    from headgate.protocol.transaction.txn_ids import ProposedTxn
else:
    rebase = deferred("headgate.protocol.conflicts", "rebase")
    ProposedTxn = deferred("headgate.protocol.transaction.txn_ids", "ProposedTxn")

ENGINE = "Headgate/0.1.0"


@dataclass(frozen=True, slots=True)
class Operation:
    """What a commit does, in the words of the table's history."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    changes_data: bool = True
    """Whether operations of this kind change rows, unlike those that only arrange them anew."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an operation wants to commit."""

    operation: Operation
    actions: tuple[Action, ...]
    reads: ReadSet = BLIND
    txn_id: TxnId | None = None
    """Given by callers that may repeat the whole operation and want a catalog to commit it once.

    Without a catalog nobody remembers ids: there an application transaction does the same.
    """
    written_as: TxnId | None = None
    """The transaction for which its files were written: as that one they are known to be new."""
    rows: TouchedRows | None = None
    """Which rows it is about, if it can say so; then only commits about the same rows are its rivals."""
    user_metadata: str | None = None
    """What the user wants the history to say beside the rest."""
    skip_if_empty: bool = False
    """Whether having nothing to write means that there shall be no version."""
    once: bool = False
    """Whether a lost race is the end of it, because it is about the whole table as it was read."""
    is_strict: bool = False
    """Whether what was read must still be true when it is committed, whatever the table asks for."""

    def enables_in_commit_timestamps(self, state: State) -> bool:
        """Whether it switches in-commit timestamps on."""
        return not state.has_in_commit_timestamps and any(
            isinstance(action, Metadata) and in_commit_timestamps.has_in_commit_timestamps(action)
            for action in self.actions
        )


@dataclass(frozen=True, slots=True)
class GroupMembership:
    """Of which group a commit is a part, and the ids of all tables that the group changes."""

    group_id: str
    table_ids: tuple[str, ...]


@dataclass(frozen=True)  # without slots: what it says of itself is worked out once
class Transaction:
    """One attempt to commit a change as version ``target``."""

    attempt: Attempt
    txn_id: TxnId
    change: Change
    together: GroupMembership | None = None

    @property
    def base(self) -> Version:
        """The version that was read."""
        return self.attempt.read.version

    @property
    def target(self) -> Version:
        """The version it would be."""
        return self.attempt.target

    @property
    def proposed(self) -> ProposedTxn:
        """By what it is known again."""
        return ProposedTxn(self.txn_id, self.target, is_given=self.change.txn_id is not None)

    @property
    def timestamp(self) -> EpochMillis:
        return self.attempt.timestamp

    @property
    def in_commit_timestamps(self) -> bool:
        return self.attempt.has_in_commit_timestamp

    @property
    def is_catalog_managed(self) -> frozenset[bool]:
        """Whether a catalog manages the table: before this commit, after it; both answers if they differ."""
        attempt = self.attempt
        return frozenset({attempt.follows.protocol.is_catalog_managed, attempt.protocol.is_catalog_managed})

    @property
    def is_no_op(self) -> bool:
        """Whether nothing would be lost by not committing it."""
        return self.change.skip_if_empty and self.attempt.is_no_op

    @property
    def leaves_version_open(self) -> bool:
        """Whether any version will do: it adds files and does nothing else, having read nothing.

        Not where rows are tracked: their ids depend on the version.
        """
        attempt = self.attempt
        return (
            attempt.reads == BLIND
            and not row_tracking.is_supported(attempt.protocol)
            and all(isinstance(action, AddFile) for action in attempt.actions)
        )

    @property
    def commit(self) -> Commit:
        """The commit this transaction would be."""
        return replace(self.attempt.writes, info=self._info)

    @property
    def content(self) -> bytes:
        """The bytes of that commit."""
        return codec.encode((self._info, *self.attempt.actions))

    def in_group(self, txn_id: TxnId, now: EpochMillis) -> "Transaction":
        """The same, which leaves its version open, as a part of a transaction that is proposed now."""
        change = replace(self.change, is_strict=False, written_as=txn_id)
        return Transaction(rebase.stamped_now(self.attempt, now), change.txn_id or txn_id, change)

    def rebased_onto(self, winners: Sequence[Commit]) -> "Transaction":
        """The same change as the version after ``winners``; raises the conflict that forbids it."""
        _check_contiguous(winners, self.target)
        if self.change.once:
            raise ConcurrentWrite(
                f"{self.attempt.operation} decided from version {self.base}, and version {self.target} was "
                "committed meanwhile; nothing was changed: run it again",
                winner=self.target, operation=self.attempt.operation,
            )  # fmt: skip
        return replace(self, attempt=rebase.rebase(self.attempt, winners))

    @cached_property
    def _info(self) -> CommitInfo:
        attempt = self.attempt
        return CommitInfo(
            in_commit_timestamp=attempt.timestamp if attempt.has_in_commit_timestamp else None,
            timestamp=attempt.timestamp,
            operation=attempt.operation,
            operation_parameters=dict(self.change.operation.parameters),
            read_version=self.base if self.base >= 0 else None,
            isolation_level=attempt.isolation,
            is_blind_append=attempt.is_blind_append,
            operation_metrics=dict(self.change.operation.metrics),
            engine_info=ENGINE,
            txn_id=self.txn_id,
            tags=attempt.tags or None,
            user_metadata=self.change.user_metadata,
            group_id=self.together.group_id if self.together else None,
            group_tables=self.together.table_ids if self.together else None,
        )


def begin(
    state: State,
    change: Change,
    *,
    world: World,
    handlers: Callable[[], Handlers] = dict,
    file_time: EpochMillis | None = None,
) -> Transaction:
    """A transaction that would make ``change`` the version after ``state``.

    ``file_time`` is when that state's version was written, needed if the change enables in-commit
    timestamps; ``handlers`` merge the metadata domains of lost races.
    """
    attempt = Attempt(
        read=state,
        follows=state,
        operation=change.operation.name,
        reads=change.reads,
        actions=change.actions,
        timestamp=EpochMillis(world.now_ms()),
        changes_data=change.operation.changes_data,
        handlers=handlers,
        rows=change.rows,
        is_strict=change.is_strict,
    )
    prepared = rebase.prepare(attempt, file_time=file_time)
    txn_id = change.txn_id or change.written_as or TxnId(world.uuid())
    return Transaction(prepared, txn_id, change)


def _check_contiguous(winners: Iterable[Commit], start: Version) -> None:
    expected = int(start)
    for winner in winners:
        if winner.version != expected:
            raise CorruptLog(
                f"the winners of version {start} are not contiguous: {expected} is missing", version=expected
            )
        expected += 1
    if expected == start:
        raise ConcurrentWrite(
            f"version {start} was lost, but its winner cannot be found, so nobody can say whether the two "
            "conflict; nothing was committed, run the operation again on the newest version",
            winner=start,
        )
