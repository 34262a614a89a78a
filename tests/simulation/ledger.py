"""What truly happened: the ledger stands beside the catalog and the store and writes down every effect.

It sees what clients do not, such as the effect of a call whose answer was lost, and objects at
once when an effect breaks an invariant.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headgate.catalog.api import (
    CommitCatalog,
    Inline,
    Lost,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    Staged,
    TableId,
    Tail,
    Unknown,
)
from headgate.errors import ObjectNotFound
from headgate.protocol import names
from headgate.protocol.actions import TxnId, Version
from headgate.storage.api import ObjectMeta, Store


class Violation(AssertionError):
    """An invariant of docs/reference/invariants.md does not hold."""

    def __init__(self, invariant: str, message: str) -> None:
        super().__init__(f"{invariant}: {message}")
        self.invariant = invariant


@dataclass(frozen=True, slots=True)
class Entry:
    """One version as it was ratified."""

    version: int
    content: bytes
    actions: tuple[dict[str, Any], ...]  # parsed without the product's codec

    @property
    def info(self) -> dict[str, Any]:
        return next((action["commitInfo"] for action in self.actions if "commitInfo" in action), {})

    @property
    def adds(self) -> tuple[str, ...]:
        return tuple(action["add"]["path"] for action in self.actions if "add" in action)

    @property
    def removes(self) -> tuple[str, ...]:
        return tuple(action["remove"]["path"] for action in self.actions if "remove" in action)

    @property
    def operation_id(self) -> str | None:
        return self.info.get("operationParameters", {}).get("op")


@dataclass
class Ledger:
    """The versions in the order they were ratified, and the files that were there before their time."""

    entries: list[Entry] = field(default_factory=list)
    versions: dict[TxnId, int] = field(default_factory=dict)
    stray: int | None = None

    @property
    def latest(self) -> int:
        return len(self.entries) - 1

    def ratified(self, version: int, content: bytes) -> None:
        """Write down that ``content`` became ``version``; repeated answers about the same are fine."""
        entry = Entry(version, content, tuple(json.loads(line) for line in content.splitlines()))
        txn_id = TxnId(entry.info["txnId"])
        if self.versions.get(txn_id, version) != version:
            raise Violation("I9", f"{txn_id} is version {self.versions[txn_id]} and version {version}")
        if txn_id in self.versions:
            return
        if version < len(self.entries):
            raise Violation("I1", f"version {version} was ratified twice")
        if version > len(self.entries):
            raise Violation("I2", f"version {version} was ratified when the latest was {self.latest}")
        self.entries.append(entry)
        self.versions[txn_id] = version

    def live_at(self, version: int) -> frozenset[str]:
        """The live files of a version, by the plainest possible replay."""
        live: set[str] = set()
        for entry in self.entries[: version + 1]:
            live.difference_update(entry.removes)
            live.update(entry.adds)
        return frozenset(live)


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
            self._ledger.ratified(answer.version, self._content(held.get(answer.version) or proposal.content))
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

    def _content(self, where: Inline | Staged) -> bytes:
        match where:
            case Inline(content):
                return content
            case Staged(file_name):
                return self._store.read(names.STAGED + file_name)

    def _published(self, version: int) -> bytes:
        return self._store.read(names.published(Version(version)))


class ObservedStore:
    """The store, watched from its own side."""

    def __init__(self, store: Store, ledger: Ledger, *, managed: bool) -> None:
        self._store = store
        self._ledger = ledger
        self._managed = managed

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        return self._store.read(path, last=last, at=at)

    def put(self, path: str, data: bytes) -> None:
        self._store.put(path, data)
        self._appeared(path, data)

    def put_if_absent(self, path: str, data: bytes) -> None:
        self._store.put_if_absent(path, data)
        self._appeared(path, data)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        return self._store.list_from(prefix, after=after)

    def head(self, path: str) -> ObjectMeta:
        return self._store.head(path)

    def delete(self, path: str) -> None:
        if names.parse(path) or path.startswith(names.STAGED):
            raise Violation("I7", f"{path} was deleted")
        self._store.delete(path)

    def _appeared(self, path: str, data: bytes) -> None:
        file = names.parse(path)
        if file is None:
            return
        if not self._managed:
            self._ledger.ratified(file.version, data)
        elif file.version > self._ledger.latest:
            raise Violation("I3", f"version {file.version} was published before it was ratified")
        elif data != self._ledger.entries[file.version].content:
            raise Violation("I3", f"version {file.version} was published as something else than ratified")
        else:
            self._check_in_order(file.version)

    def _check_in_order(self, version: Version) -> None:
        try:
            self._store.head(names.published(Version(version - 1)))
        except ObjectNotFound:
            raise Violation("I3", f"version {version} was published before {version - 1}") from None
