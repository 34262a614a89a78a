"""A catalog in dicts that decides by the real rules, and a catalog at the far end of a wire."""

import threading
from dataclasses import dataclass, field
from typing import NoReturn

from headgate.catalog import rules, validate
from headgate.catalog.api import (
    CommitCatalog,
    Inline,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    Staged,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.rules import Decision, Head
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    CorruptLog,
    InvalidRequest,
    ObjectNotFound,
    TableNotFound,
)
from headgate.protocol import codec, names
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.timestamps import next_in_commit_timestamp
from headgate.storage.api import Store
from tests.support.faulty_store import Wire

_ZERO = Version(0)


@dataclass
class _Table:
    store: Store
    published: Version
    commits: list[RatifiedCommit] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    first_ratified_as: dict[TxnId, Version] = field(default_factory=dict)
    latest_change: Version = _ZERO

    @property
    def head(self) -> Head:
        latest = self.commits[-1]
        return Head(latest.version, self.published, latest.in_commit_timestamp, self.latest_change)

    def since(self, start: int) -> tuple[RatifiedCommit, ...]:
        return tuple(
            commit
            if commit.version > self.published
            else RatifiedCommit(commit.version, commit.txn_id, commit.in_commit_timestamp, None)
            for commit in self.commits[start:]
        )


class SimulatedCatalog:
    """Both the decision and the checks of a proposal are the product's own; only the database is not."""

    def __init__(self) -> None:
        self._tables: dict[TableId, _Table] = {}
        self._lock = threading.Lock()

    def add_table(self, table_id: TableId, store: Store) -> None:
        """Take on a table whose version 0 is written."""
        content = store.read(names.published(Version(0)))
        info = codec.decode(Version(0), content).info
        if info is None or info.txn_id is None or info.in_commit_timestamp is None:
            raise InvalidRequest("version 0 must have a commitInfo with a txnId and an inCommitTimestamp")
        table = self._tables[table_id] = _Table(store, Version(0))
        self._ratify(table, RatifiedCommit(Version(0), info.txn_id, info.in_commit_timestamp, None), content)

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        validate.check_name(proposal)
        table = self._table(proposal.table_id)
        content = _content(table.store, proposal)
        checked = validate.check_content(proposal, content)
        version, timestamp = proposal.target, checked.timestamp
        with self._lock:
            first = table.first_ratified_as.get(proposal.txn_id)
            match rules.decide(table.head, proposal.target, first, any_version=proposal.any_version):
                case Decision.REPLAY:
                    return Ratified(Version(first or 0))
                case Decision.LOST:
                    return Lost(table.since(proposal.target))
                case Decision.GAP:
                    raise InvalidRequest(
                        f"version {proposal.target} leaves a gap after {table.head.latest}",
                        asked=proposal.target, latest=table.head.latest,
                    )  # fmt: skip
                case Decision.RATIFY:
                    validate.check_timestamp(timestamp, table.head.latest_timestamp)
                case Decision.ASSIGN:
                    version = Version(table.head.latest + 1)
                    timestamp = next_in_commit_timestamp(timestamp, table.head.latest_timestamp)
                    content = validate.with_timestamp(content, timestamp)
            where = Inline(content) if isinstance(proposal.content, Inline) else proposal.content
            self._ratify(table, RatifiedCommit(version, proposal.txn_id, timestamp, where), content)
            if checked.changes_table:
                table.latest_change = version
        return Ratified(version)

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        table = self._table(table_id)
        with self._lock:
            first = table.first_ratified_as.get(txn_id)
            match rules.decide(table.head, target, first, any_version=any_version):
                case Decision.REPLAY:
                    return Ratified(Version(first or 0))
                case Decision.LOST:
                    return Lost(table.since(target))
                case _:
                    return Open()

    def tail(self, table_id: TableId) -> Tail:
        table = self._table(table_id)
        with self._lock:
            return Tail(table.head.latest, table.published, table.since(table.published + 1))

    def mark_published(self, table_id: TableId, version: Version) -> None:
        table = self._table(table_id)
        if version > table.head.latest:
            raise InvalidRequest(
                f"version {version} is not ratified", asked=version, latest=table.head.latest
            )
        for number in range(table.published + 1, version + 1):
            try:
                content = table.store.read(names.published(Version(number)))
            except ObjectNotFound as exc:
                raise InvalidRequest(f"version {number} is not published") from exc
            if content != table.contents[number]:
                raise CorruptLog(f"the published version {number} is not the ratified one", version=number)
        with self._lock:
            table.published = max(table.published, version)

    def _table(self, table_id: TableId) -> _Table:
        try:
            return self._tables[table_id]
        except KeyError:
            raise TableNotFound(f"there is no table {table_id}", name=table_id) from None

    def _ratify(self, table: _Table, commit: RatifiedCommit, content: bytes) -> None:
        table.commits[commit.version :] = [commit]
        table.contents[commit.version :] = [content]
        table.first_ratified_as.setdefault(commit.txn_id, commit.version)


def _content(store: Store, proposal: Proposal) -> bytes:
    match proposal.content:
        case Inline(content):
            return content
        case Staged(file_name):
            try:
                return store.read(names.STAGED + file_name)
            except ObjectNotFound as exc:
                raise InvalidRequest(f"the staged commit {file_name!r} does not exist") from exc


class RemoteCatalog:
    """Another catalog at the far end of a wire."""

    def __init__(self, catalog: CommitCatalog, wire: Wire) -> None:
        self._catalog = catalog
        self._wire = wire

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        def unanswered(untouched: bool) -> Unknown:
            if untouched:
                raise CatalogUnavailable("the catalog could not be reached")
            return Unknown("no answer")

        return self._wire.call(
            f"propose version {proposal.target}",
            lambda: self._catalog.propose(proposal),
            unanswered=unanswered,
            writes=True,
        )

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        return self._wire.call(
            f"outcome_of version {target}",
            lambda: self._catalog.outcome_of(table_id, txn_id, target, any_version=any_version),
            unanswered=lambda untouched: Unknown("no answer"),
            writes=False,
        )

    def tail(self, table_id: TableId) -> Tail:
        return self._wire.call(
            "tail", lambda: self._catalog.tail(table_id), unanswered=_unreachable, writes=False
        )

    def mark_published(self, table_id: TableId, version: Version) -> None:
        def unanswered(untouched: bool) -> None:
            if untouched:
                _unreachable(untouched)
            raise CommitUnknown(f"no answer whether version {version} is marked as published")

        self._wire.call(
            f"mark_published {version}",
            lambda: self._catalog.mark_published(table_id, version),
            unanswered=unanswered,
            writes=True,
        )


def _unreachable(untouched: bool) -> NoReturn:
    raise CatalogUnavailable("the catalog could not be reached")
