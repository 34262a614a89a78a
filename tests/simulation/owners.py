"""A coordinator's ledger, watched from its own side and at the far end of a wire; who gives it tables."""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.ports.coordinator import FindCoordinator
from headgate.catalog.ports.ledger import Ledger, LedgerEntry, Registration
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError, InvalidRequest, NotAllowed
from headgate.protocol.actions import TxnId, Version
from headgate.storage.store import Store
from headgate.table.alter import coordination
from tests.simulation.actors import Open, ended
from tests.simulation.ledger import Decider, Violation
from tests.simulation.ledger import Ledger as Truth
from tests.support.faulty_store import Wire
from tests.support.turnstile import Crash

OWNER = "sim"
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ObservedLedger:
    """A ledger; whatever it takes down is a version."""

    ledger: Ledger
    files: Store = field(compare=False)
    truth: Truth = field(compare=False)

    def records(self, location: str) -> tuple[Registration, ...]:
        return self.ledger.records(location)

    def open(self, record: Registration, *, abandoned: Collection[str] = ()) -> None:
        self.ledger.open(record, abandoned=abandoned)

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        return self.ledger.find(table_id, txn_id)

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        written = self.ledger.write(table_id, commit, accepting=accepting)
        if written and isinstance(commit.where, StagedCommit):
            content = self.files.read(commit.where.path)
            self.truth.ratified(commit.version, content, by=Decider.OWNER)
        return written

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        return self.ledger.commits(table_id, start)

    def publish(self, table_id: str, version: Version) -> None:
        for number in range(version + 1):
            if not self.truth.is_published(number):
                raise Violation("I4", f"version {number} is said to be published, and is not")
        self.ledger.publish(table_id, version)


@dataclass(frozen=True, slots=True)
class RemoteLedger:
    """Another ledger at the far end of a wire."""

    ledger: Ledger
    wire: Wire = field(compare=False)

    def records(self, location: str) -> tuple[Registration, ...]:
        return self._read("records", lambda: self.ledger.records(location))

    def open(self, record: Registration, *, abandoned: Collection[str] = ()) -> None:
        # A new registration each time, so the same one twice is one.
        self._write("open", lambda: self.ledger.open(record, abandoned=abandoned))

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        return self._read("find", lambda: self.ledger.find(table_id, txn_id))

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        name = f"write version {commit.version}"
        return self._write(name, lambda: self.ledger.write(table_id, commit, accepting=accepting))

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        return self._read(f"commits from {start}", lambda: self.ledger.commits(table_id, start))

    def publish(self, table_id: str, version: Version) -> None:
        self._write(f"publish {version}", lambda: self.ledger.publish(table_id, version))

    def _read(self, name: str, perform: Callable[[], Answer]) -> Answer:
        return self.wire.call(f"owner: {name}", perform, unanswered=_unreachable, writes=False)

    def _write(self, name: str, perform: Callable[[], Answer]) -> Answer:
        return self.wire.call(f"owner: {name}", perform, unanswered=_in_doubt, writes=True)


def _unreachable(untouched: bool) -> NoReturn:
    raise CatalogUnavailable("the ledger could not be reached")


def _in_doubt(untouched: bool) -> NoReturn:
    if untouched:
        _unreachable(untouched)
    raise CommitUnknown("no answer from the ledger")


class Mover:
    """Gives the table to the owner and takes it back, again and again."""

    def __init__(
        self,
        open_table: Open,
        find: FindCoordinator,
        truth: Truth,
        *,
        chance: random.Random,
        pause: Callable[[], None],
    ) -> None:
        self._open = open_table
        self._find = find
        self._truth = truth
        self._chance = chance
        self._pause = pause

    def act(self) -> None:
        """The mover's whole life."""
        for _ in range(self._chance.randint(1, 5)):
            for _ in range(self._chance.randint(0, 40)):
                self._pause()
            moved, owned = self._truth.moves, self._truth.at(self._truth.latest).is_owned
            try:
                if not owned:
                    self._take()
                elif self._chance.random() < 0.5:
                    self._release()
            except (InvalidRequest, NotAllowed) as exc:
                if self._truth.moves == moved:  # else somebody else moved it
                    raise Violation("I10", f"moving the table was refused for no reason: {exc!r}") from exc
            except (Crash, HeadgateError) as exc:
                ended(exc, "moving the table")

    def _take(self) -> None:
        version = coordination.coordinate(self._open(), self._find, OWNER, {})
        if self._truth.at(version - 1).is_owned or not self._truth.at(version).is_owned:
            raise Violation("I16", f"version {version} was said to give the table to its owner")

    def _release(self) -> None:
        version = coordination.uncoordinate(self._open())
        if all(self._truth.at(number).is_owned for number in range(1, version + 1)):
            raise Violation("I16", f"version {version} was said to be after the release")
