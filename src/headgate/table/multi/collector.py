"""A table inside a transaction over several tables: nothing is committed, everything is collected.

It takes the place of the table's route. The table stands still at the version that was pinned; what
is committed to it becomes a provisional version after that one, which only this transaction sees.
So every operation on a table works as it is, and sees what came before it in the same transaction.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import unquote

from headgate.catalog.ports.commits import InlineCommit, Lost, Open, Outcome, Ratified, RatifiedCommit
from headgate.catalog.ports.leases import Horizon
from headgate.catalog.ports.maintenance import Maintenance, Permission
from headgate.clock import World
from headgate.errors import InvalidRequest, StorageError, UnsupportedFeature, UserError
from headgate.protocol.actions import (
    AddCdcFile,
    AddFile,
    Commit,
    EpochMillis,
    Metadata,
    Protocol,
    Version,
)
from headgate.protocol.conflicts import read_validation
from headgate.protocol.log import codec
from headgate.protocol.log.replay import State
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.transaction.attempt import ReadSet
from headgate.storage.store import Store
from headgate.table import authority
from headgate.table.authority import Decider
from headgate.table.commit import catalog_managed
from headgate.table.commit.read_set import ReadRecorder
from headgate.table.committer import Frontier
from headgate.table.multi import combine
from headgate.table.read import log_reader
from headgate.table.transaction import Transaction
from headgate.table.upkeep.permissions import MaintenanceGuard


class CommitCollector:
    """A ``Committer`` that collects, and remembers what was read; safe to share between threads.

    ``refusal`` says why nothing may be written, where that is so.
    """

    def __init__(self, store: Store, pinned: Frontier, *, refusal: str | None = None) -> None:
        self._store = store
        self._pinned = pinned
        self._refusal = refusal
        self._lock = threading.Lock()
        self._collected: tuple[Transaction, ...] = ()
        self._encoded: dict[Version, RatifiedCommit] = {}
        self._spoiled: str | None = None
        self._reads = ReadRecorder()
        self._later: tuple[Commit, ...] = ()
        self._state: Callable[[], State] | None = None
        self._over: str | None = None

    @property
    def version(self) -> Version:
        """The version at which the table stands still."""
        return self._pinned.latest

    @property
    def collected(self) -> tuple[Transaction, ...]:
        """What shall be committed, oldest first."""
        return self._collected

    @property
    def reads(self) -> ReadSet:
        """What was read of the pinned version, so far."""
        return self._reads.freeze()

    @property
    def is_idle(self) -> bool:
        """Whether nothing was read or written."""
        return not self._collected and self.reads == ReadSet()

    def end(self, reason: str) -> None:
        """From here on the table cannot be used any more."""
        self._over = reason

    def frontier(self, *, known: Version | None = None) -> Frontier:  # noqa: ARG002 — it is pinned
        self._check_open()
        with self._lock:
            own = self._provisional()
        if not own:
            return self._pinned
        unpublished = {**self._pinned.unpublished, **own}
        return replace(self._pinned, latest=max(own), unpublished=unpublished, description=None)

    def follow(self, version: Version, metadata: Metadata) -> bool:  # noqa: ARG002 — the catalog decides
        return False

    def decider(self, protocol: Protocol, metadata: Metadata) -> Decider:  # noqa: ARG002 — whatever it is
        return Decider.TRANSACTION

    def propose(self, txn: Transaction) -> Outcome[Commit]:
        self._check_open()
        if self._refusal is not None:
            raise InvalidRequest(self._refusal)
        catalog_managed.check_route(txn)
        with self._lock:
            latest = self._collected[-1].target if self._collected else self._pinned.latest
            if txn.target <= latest:
                return Lost(self._since(txn.target))
            together = (*self._collected, txn)
            try:
                combine.check_combinable(together)
            except UnsupportedFeature as exc:
                raise self.poison(exc) from exc
            self._collected = together
        return Ratified(txn.target)

    def outcome_of(self, txn: Transaction) -> Outcome[Commit]:
        with self._lock:
            found = any(each.txn_id == txn.txn_id for each in self._collected)
        return Ratified(txn.target) if found else Open()

    def publish(self, told: Frontier | None = None) -> Version:  # noqa: ARG002
        raise self.poison(_refused_error("nothing is published"))

    def scanned(self, version: Version, predicate: Predicate | None, files: Iterable[str]) -> None:
        """Rows of a version were asked for, by a predicate or all of them; they are in these files."""
        if version < self._pinned.latest:  # older ones stay as they are
            return
        if predicate is None:
            self._reads.scanned_everything()
        else:
            self._reads.scanned(predicate, files)
        self.check()

    def looked_up_domains(self, version: Version) -> None:
        """The metadata domains of a version were asked for."""
        if version >= self._pinned.latest:
            self._reads.domains()
            self.check()

    def pin(self, frontier: Frontier) -> None:
        """Have an idle table stand still at a later version."""
        self._pinned = frontier

    def moved(self, state: Callable[[], State], later: tuple[Commit, ...]) -> None:
        """The table went on by these commits before other tables were read; raises what they conflict with.

        From here on everything that is read must be true after them, too: else the transaction would
        have seen tables that never were like that at the same moment.
        """
        self._state, self._later = state, later
        self.check()

    def check_not_poisoned(self) -> None:
        """That no operation was refused after it had collected a part of what it does."""
        if self._spoiled is not None:
            raise InvalidRequest(
                f"a part of an operation was refused, so nothing is committed: {self._spoiled}"
            )

    def check(self) -> None:
        """That what was read was true when the last of the transaction's tables was opened."""
        if self._later and self._state is not None:
            read_validation.validate_reads(
                read_validation.read_only_attempt(self._state(), self.reads), self._later
            )

    def _provisional(self) -> dict[Version, RatifiedCommit]:
        """What was collected, as commits; most transactions never read what they wrote."""
        for txn in self._collected[len(self._encoded) :]:
            self._encoded[txn.target] = _provisional_commit(txn)
        return dict(self._encoded)

    def _since(self, start: Version) -> tuple[Commit, ...]:
        known = [
            codec.decode(
                version,
                log_reader.commit_content(self._store, version, self._pinned.unpublished.get(version)),
            )
            for version in map(Version, range(start, self._pinned.latest + 1))
        ]
        return (*known, *(txn.commit for txn in self._collected if txn.target >= start))

    def poison(self, refusal: UserError) -> UserError:
        """An operation may be of several commits: some may be collected by now, and must not stay alone."""
        if self._collected:
            self._spoiled = refusal.message
        return refusal

    def _check_open(self) -> None:
        if self._over is not None:
            raise InvalidRequest(self._over)


@dataclass(frozen=True, slots=True)
class TransactionGuard:
    """Lets a transaction rearrange rows if the table's guard does, and delete nothing."""

    guard: MaintenanceGuard
    poison: Callable[[UserError], UserError]

    def check(self, kind: Maintenance, operation: str) -> Permission:
        if not authority.allows_maintenance(kind, Decider.TRANSACTION):
            raise self.poison(_refused_error(f"{operation} is not possible"))
        return self.guard.check(kind, operation)

    def now_ms(self) -> int:
        return self.guard.now_ms()

    def horizon(self) -> Horizon:
        return self.guard.horizon()

    def give_up(self, *, before: Version | None = None, moment: EpochMillis | None = None) -> Horizon:  # noqa: ARG002
        raise _refused_error("nothing is deleted")


class IdRecordingWorld:
    """A world that remembers which ids it gave, by which files are known that were written here."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._given: list[str] = []

    def now_ms(self) -> int:
        return self._world.now_ms()

    def sleep(self, seconds: float) -> None:
        self._world.sleep(seconds)

    def uuid(self) -> str:
        given = self._world.uuid()
        self._given.append(given)
        return given

    def jitter(self) -> float:
        return self._world.jitter()

    def wrote(self, path: str) -> bool:
        """Whether a file of this path must have been written here, because nobody else had the id in it."""
        return any(given in path for given in self._given)


def delete_uncommitted(store: Store, world: IdRecordingWorld, collected: Iterable[Transaction]) -> None:
    """Delete the files that were written for transactions that are proven not to be committed."""
    # Leftovers cost space only, and the failure that led here must be the one that is told.
    with suppress(StorageError):
        for txn in collected:
            for action in txn.attempt.actions:
                if isinstance(action, (AddFile, AddCdcFile)) and world.wrote(action.path):
                    store.delete(unquote(action.path))


def _provisional_commit(txn: Transaction) -> RatifiedCommit:
    return RatifiedCommit(txn.target, txn.txn_id, txn.timestamp, InlineCommit(txn.content))


def _refused_error(what: str) -> InvalidRequest:
    return InvalidRequest(f"inside a transaction over several tables {what}: do it before or after")
