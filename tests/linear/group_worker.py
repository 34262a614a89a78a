"""One process of a history of groups: it reads several tables at once and changes some of them at once."""

import os
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec

from headgate.catalog.ports.commits import InlineCommit, Proposal, StagedCommit, TableId, Unknown
from headgate.catalog.ports.groups import GroupId, GroupLost, GroupProposal, GroupRatified
from headgate.errors import CatalogUnavailable, CommitUnknown, TooManyUnpublished
from headgate.protocol.actions import CommitInfo, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.storage.locate import locate
from tests.linear.cycles import Transaction
from tests.linear.history import FOREVER, Told
from tests.linear.worker import Assignment, Shared
from tests.support import tables

OF = "-of-"
"""Between the name of a transaction and that of its table, in the txnId that it has there."""
_PUBLISHES = 0.03
_FIRST_STAMP, _STEP = 4_000_000_000_000, 1_000


class Begun(msgspec.Struct, frozen=True, tag="b", array_like=True):
    """A transaction begins."""

    name: str
    at: int


class Sent(msgspec.Struct, frozen=True, tag="s", array_like=True):
    """It has read, and is about to be proposed."""

    name: str
    reads: dict[int, int]
    writes: tuple[int, ...]


class Ended(msgspec.Struct, frozen=True, tag="e", array_like=True):
    """It is answered."""

    name: str
    at: int
    told: Told


_DECODER = msgspec.json.Decoder(Begun | Sent | Ended)


class GroupWorker:
    """Holds one catalog."""

    def __init__(self, assignment: Assignment) -> None:
        self._chance = random.Random(assignment.seed)
        self._assignment = assignment
        self._catalog = assignment.place.open()
        path = Path(assignment.records) / f"{assignment.name}.jsonl"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._count = 0

    def run(self) -> None:
        """Do one transaction after another."""
        actions = [action for action, weight in self._weights() for _ in range(weight)]
        for _ in range(self._assignment.operations):
            self._count += 1
            if self._chance.random() < _PUBLISHES:
                self._publish(self._some(1, 1))
            name = f"{self._assignment.name}-{self._count}"
            self._write(Begun(name, time.monotonic_ns()))
            try:
                told = self._chance.choice(actions)(name)
            except CatalogUnavailable:  # while reading: nothing was proposed
                told = Told.FAILED
            self._write(Ended(name, time.monotonic_ns(), told))
        self._catalog.close()

    def _weights(self) -> tuple[tuple[Callable[[str], Told], int], ...]:
        return ((self._look, 30), (self._skew, 30), (self._change, 30), (self._append, 10))

    def _look(self, name: str) -> Told:
        """Read several tables, and nothing else."""
        reads = self._read(self._some(2, len(self._assignment.shared)))
        self._write(Sent(name, reads, ()))
        return Told.DONE

    def _skew(self, name: str) -> Told:
        """A probe: read two tables, write one of them, as the other one's writer may do just now."""
        ours, theirs = self._chance.sample(self._assignment.shared[:2], 2)
        reads = self._read((ours, theirs))
        return self._propose(name, reads, (ours,), (theirs,))

    def _change(self, name: str) -> Told:
        """Read some tables, write some of them."""
        seen = self._some(2, min(5, len(self._assignment.shared)))
        written = seen[: self._chance.randint(1, len(seen))]
        reads = self._read(seen)
        return self._propose(name, reads, written, seen[len(written) :])

    def _append(self, name: str) -> Told:
        """Several tables at once, having read none."""
        return self._propose(name, {}, self._some(1, 3), ())

    def _some(self, least: int, most: int) -> tuple[Shared, ...]:
        count = self._chance.randint(least, max(least, most))
        return tuple(self._chance.sample(self._assignment.shared, min(count, len(self._assignment.shared))))

    def _read(self, seen: Sequence[Shared]) -> dict[int, int]:
        tails = self._catalog.tails([one.table_id for one in seen])
        return {one.number: int(tails[one.table_id].latest) for one in seen}

    def _propose(
        self, name: str, reads: Mapping[int, int], written: Sequence[Shared], read_only: Sequence[Shared]
    ) -> Told:
        self._write(Sent(name, dict(reads), tuple(one.number for one in written)))
        proposals = tuple(self._proposal(name, one, reads.get(one.number)) for one in written)
        unwritten: dict[TableId, Version] = {one.table_id: Version(reads[one.number]) for one in read_only}
        group = GroupProposal(GroupId(name), proposals, unwritten)
        while True:
            try:
                outcome = self._catalog.propose_group(group)
            except (CatalogUnavailable, CommitUnknown):
                continue  # asked again under the same id, which the catalog remembers
            except TooManyUnpublished:
                self._publish(written)
                continue
            match outcome:
                case GroupRatified():
                    return Told.DONE
                case GroupLost():
                    return Told.LOST
                case Unknown():
                    continue

    def _publish(self, some: Sequence[Shared]) -> None:
        for one in some:
            with suppress(CatalogUnavailable, CommitUnknown):
                tables.open_managed(self._catalog, one.table_id, one.location).publish()

    def _proposal(self, name: str, one: Shared, read: int | None) -> Proposal:
        target = Version(1 if read is None else read + 1)
        stamp = EpochMillis(_FIRST_STAMP + _STEP * target)
        txn_id = TxnId(f"{name}{OF}{one.number}")
        info = CommitInfo(in_commit_timestamp=stamp, txn_id=txn_id)
        content = codec.encode((info, tables.named_file(name)))
        proposal = Proposal(one.table_id, target, txn_id, InlineCommit(content), any_version=read is None)
        if read is None or self._chance.random() > 0.1:
            return proposal
        file_name = file_names.staged_file_name(
            target, str(uuid.UUID(int=self._chance.getrandbits(128), version=4))
        )
        locate(one.location).put(file_names.STAGED_FOLDER + file_name, content)
        return replace(proposal, content=StagedCommit(file_name))

    def _write(self, event: Begun | Sent | Ended) -> None:
        os.write(self._file, msgspec.json.encode(event) + b"\n")


def read(folder: Path) -> list[Transaction]:
    """The transactions of all processes; of who was killed, those that were sent."""
    return [made for path in sorted(folder.glob("*.jsonl")) for made in _transactions(path)]


def _transactions(path: Path) -> Iterator[Transaction]:
    begun: dict[str, Begun] = {}
    sent: dict[str, Sent] = {}
    ended: dict[str, Ended] = {}
    for line in path.read_bytes().splitlines():
        match _DECODER.decode(line):
            case Begun() as event:
                begun[event.name] = event
            case Sent() as event:
                sent[event.name] = event
            case Ended() as event:
                ended[event.name] = event
    for name, begin in begun.items():
        end, asked = ended.get(name), sent.get(name)
        if asked is None:
            continue
        yield Transaction(
            name,
            begin.at,
            FOREVER if end is None else end.at,
            Told.UNKNOWN if end is None else end.told,
            asked.reads,
            frozenset(asked.writes),
        )
