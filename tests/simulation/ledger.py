"""What truly happened: the ledger stands beside the catalog and the store and writes down every effect.

It sees what clients do not, such as the effect of a call whose answer was lost, and objects at
once when an effect breaks an invariant.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from typing_extensions import Buffer, override

from headgate.catalog.ports.commits import (
    CommitCatalog,
    InlineCommit,
    Lost,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.errors import ObjectNotFound
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import file_names
from headgate.storage.store import ObjectMeta, Store
from tests.simulation import serial
from tests.simulation.serial import Entry, Table
from tests.support.delegating_store import DelegatingStore


class Decider(Enum):
    """Who says which commit is a version."""

    STORE = "the store"
    CATALOG = "the catalog"
    OWNER = "the coordinator"


class Violation(BaseException):
    """An invariant of docs/reference/invariants.md does not hold; what catches errors must not catch this."""

    def __init__(self, invariant: str, message: str) -> None:
        super().__init__(f"{invariant}: {message}")
        self.invariant = invariant


@dataclass
class Ledger:
    """The versions in the order they were ratified, and the files that were there before their time."""

    entries: list[Entry] = field(default_factory=list)
    versions: dict[TxnId, int] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    """When the store wrote each object, by its own clock."""
    stray: int | None = None
    _tables: list[Table] = field(default_factory=lambda: [Table()])

    @property
    def latest(self) -> int:
        return len(self.entries) - 1

    def ratified(self, version: int, content: bytes, *, by: Decider) -> None:
        """Write down that ``content`` became ``version``; repeated answers about the same are fine."""
        entry = serial.parse(version, content)
        txn_id = TxnId(entry.info["txnId"])
        if self.versions.get(txn_id, version) != version:
            raise Violation("I9", f"{txn_id} is version {self.versions[txn_id]} and version {version}")
        if txn_id in self.versions:
            return
        if version < len(self.entries):
            raise Violation("I1", f"version {version} was ratified twice")
        if version > len(self.entries):
            raise Violation("I2", f"version {version} was ratified when the latest was {self.latest}")
        if by is not self.decider(version):
            raise Violation(
                "I16", f"version {version} was decided by {by}, and not by {self.decider(version)}"
            )
        self.entries.append(entry)
        self._tables.append(self._tables[-1].after(entry))
        self.versions[txn_id] = version

    def decider(self, version: int) -> Decider:
        """Who decides a version: whoever the one before it names; nobody is asked about the first."""
        before = self.at(version - 1)
        if before.is_managed:
            return Decider.CATALOG
        return Decider.OWNER if before.is_owned else Decider.STORE

    @property
    def moves(self) -> int:
        """How often the table changed hands."""
        return sum(old.is_owned != new.is_owned for old, new in pairwise(self._tables))

    def at(self, version: int) -> Table:
        """The table at a version; an empty one before the first."""
        return self._tables[version + 1]

    def added_before(self, version: int) -> frozenset[str]:
        """Every file that was ever added before a version."""
        return frozenset(add["path"] for entry in self.entries[:version] for add in entry.adds)

    def missed(self, version: int, *, since: int) -> frozenset[str]:
        """The files of blind appends between what a transaction read and what it became."""
        between = self.entries[since + 1 : version]
        return frozenset(
            add["path"] for entry in between if entry.info.get("isBlindAppend") for add in entry.adds
        )

    def is_published(self, version: int) -> bool:
        """Whether a version was ever published."""
        return file_names.published_path(Version(version)) in self.times

    def written_at(self, version: int) -> int:
        """When a version was published."""
        return self.times[file_names.published_path(Version(version))]


class ObservedCatalog:
    """The catalog, watched from its own side."""

    def __init__(self, catalog: CommitCatalog, store: Store, ledger: Ledger) -> None:
        self._catalog = catalog
        self._store = store
        self._ledger = ledger

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        answer = self._catalog.propose(proposal)
        if isinstance(answer, Ratified):
            # A catalog that assigns the version stamps the commit anew: what it serves is what it ratified.
            held = {commit.version: commit.where for commit in self._catalog.tail(proposal.table_id).commits}
            content = self._content(held.get(answer.version) or proposal.content)
            self._ledger.ratified(answer.version, content, by=Decider.CATALOG)
        return answer

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        return self._catalog.outcome_of(table_id, txn_id, target, any_version=any_version)

    def tail(self, table_id: TableId) -> Tail:
        return self._catalog.tail(table_id)

    def mark_published(self, table_id: TableId, version: Version) -> None:
        self._catalog.mark_published(table_id, version)
        self.check_readable(table_id)

    def check_readable(self, table_id: TableId) -> None:
        """Every ratified version can be read as it was ratified, from the catalog or from the log (I4)."""
        tail = self._catalog.tail(table_id)
        held = {commit.version: commit.where for commit in tail.commits}
        for entry in self._ledger.entries:
            where = held.get(Version(entry.version))
            try:
                content = self._content(where) if where else self._published(entry.version)
            except ObjectNotFound:
                raise Violation("I4", f"version {entry.version} cannot be read any more") from None
            if content != entry.content:
                raise Violation("I6", f"version {entry.version} is served as something else than ratified")

    def _content(self, where: InlineCommit | StagedCommit) -> bytes:
        match where:
            case InlineCommit(content):
                return content
            case StagedCommit(file_name):
                return self._store.read(file_names.STAGED_FOLDER + file_name)

    def _published(self, version: int) -> bytes:
        return self._store.read(file_names.published_path(Version(version)))


class ObservedStore(DelegatingStore):
    """The store, watched from its own side; it dates objects by a clock of the simulation."""

    def __init__(self, store: Store, ledger: Ledger, *, now: Callable[[], int]) -> None:
        super().__init__(store)
        self._ledger = ledger
        self._now = now

    @override
    def put(self, path: str, data: Buffer) -> None:
        super().put(path, data)
        self._appeared(path, data)

    @override
    def put_if_absent(self, path: str, data: Buffer) -> None:
        super().put_if_absent(path, data)
        self._appeared(path, data)

    @override
    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        return map(self._dated, super().list_from(prefix, after=after))

    @override
    def head(self, path: str) -> ObjectMeta:
        return self._dated(super().head(path))

    @override
    def delete(self, path: str) -> None:
        if file_names.parse(path) or path.startswith(file_names.STAGED_FOLDER):
            raise Violation("I7", f"{path} was deleted")
        super().delete(path)

    def _dated(self, meta: ObjectMeta) -> ObjectMeta:
        return ObjectMeta(meta.path, meta.size, self._ledger.times.get(meta.path, meta.modified_ms))

    def _appeared(self, path: str, data: Buffer) -> None:
        self._ledger.times[path] = self._now()
        file = file_names.parse(path)
        if file is None:
            return
        match file.kind:
            case file_names.LogFileKind.PUBLISHED:
                self._published(file.version, bytes(data))
            case file_names.LogFileKind.CHECKSUM:
                self._check_sum(file.version, bytes(data))
            case _:
                self._check_published(file.version)

    def _published(self, version: Version, data: bytes) -> None:
        if version <= self._ledger.latest + 1 and self._ledger.decider(version) is Decider.STORE:
            self._ledger.ratified(version, data, by=Decider.STORE)
            self._check_in_order(version)
        elif version > self._ledger.latest:
            raise Violation("I3", f"version {version} was published before it was ratified")
        elif data != self._ledger.entries[version].content:
            raise Violation("I3", f"version {version} was published as something else than ratified")
        else:
            self._check_in_order(version)

    def _check_published(self, version: Version) -> None:
        try:
            self._inner.head(file_names.published_path(version))
        except ObjectNotFound:
            raise Violation("I5", f"a checkpoint of version {version} came before the version") from None

    def _check_in_order(self, version: Version) -> None:
        if not version:
            return
        try:
            self._inner.head(file_names.published_path(Version(version - 1)))
        except ObjectNotFound:
            raise Violation("I3", f"version {version} was published before {version - 1}") from None

    def _check_sum(self, version: Version, data: bytes) -> None:
        if version > self._ledger.latest:
            raise Violation("I17", f"a checksum of version {version} came before the version")
        if wrong := serial.checksum_breach(json.loads(data), self._ledger.at(version)):
            raise Violation("I17", f"the checksum of version {version} is wrong: {wrong}")
