"""A catalog in dicts that decides by the real rules, and a catalog at the far end of a wire."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from headgate.catalog import decision
from headgate.catalog.catalog import Catalog
from headgate.catalog.decision import Decision, TableHead
from headgate.catalog.ports.commits import (
    CommitCatalog,
    InlineCommit,
    Lost,
    Open,
    Outcome,
    Proposal,
    Ratified,
    RatifiedCommit,
    StagedCommit,
    TableId,
    Tail,
    Unknown,
)
from headgate.catalog.ports.groups import (
    GroupCatalog,
    GroupId,
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
)
from headgate.catalog.store import transfer_store
from headgate.catalog.validation import timestamp_rules, validation
from headgate.catalog.validation.timestamp_rules import ProposedTimestamp
from headgate.catalog.validation.validation import CheckedContent
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    CorruptLog,
    InvalidRequest,
    ObjectNotFound,
    TableNotFound,
)
from headgate.protocol.actions import TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import next_in_commit_timestamp
from headgate.storage.store import Store
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
    def head(self) -> TableHead:
        latest = self.commits[-1]
        return TableHead(latest.version, self.published, latest.in_commit_timestamp, self.latest_change)

    def add(self, commit: RatifiedCommit, content: bytes) -> None:
        self.commits[commit.version :] = [commit]
        self.contents[commit.version :] = [content]
        self.first_ratified_as.setdefault(commit.txn_id, commit.version)

    def since(self, start: int) -> tuple[RatifiedCommit, ...]:
        return tuple(
            commit
            if commit.version > self.published
            else RatifiedCommit(commit.version, commit.txn_id, commit.in_commit_timestamp, None)
            for commit in self.commits[start:]
        )


@dataclass
class _Ready:
    """A commit that will be ratified once it is written down."""

    table: _Table
    commit: RatifiedCommit
    content: bytes
    changes_table: bool

    def write(self) -> None:
        self.table.add(self.commit, self.content)
        if self.changes_table:
            self.table.latest_change = self.commit.version


class SimulatedCatalog:
    """Both the decision and the checks of a proposal are the product's own; only the database is not."""

    def __init__(self) -> None:
        self._tables: dict[TableId, _Table] = {}
        self._groups: dict[GroupId, GroupRatified] = {}
        self._lock = threading.Lock()

    def add_table(self, table_id: TableId, store: Store) -> None:
        """Take on a table whose version 0 is written."""
        content = store.read(file_names.published_path(Version(0)))
        info = codec.decode(Version(0), content).info
        if info is None or info.txn_id is None or info.in_commit_timestamp is None:
            raise InvalidRequest("version 0 must have a commitInfo with a txnId and an inCommitTimestamp")
        table = self._tables[table_id] = _Table(store, Version(0))
        table.add(RatifiedCommit(Version(0), info.txn_id, info.in_commit_timestamp, None), content)

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        table, content, checked = self._checked(proposal)
        with self._lock:
            answer = self._decided(table, proposal, content, checked)
            if isinstance(answer, _Ready):
                answer.write()
                return Ratified(answer.commit.version)
            return answer

    def _checked(self, proposal: Proposal) -> tuple[_Table, bytes, CheckedContent]:
        validation.check_staged_name(proposal)
        table = self._table(proposal.table_id)
        content = _content(table.store, proposal)
        return table, content, validation.check_content(proposal, content)

    def _decided(
        self, table: _Table, proposal: Proposal, content: bytes, checked: CheckedContent
    ) -> "Ratified | Lost[RatifiedCommit] | _Ready":
        version, timestamp = proposal.target, checked.timestamp
        first = table.first_ratified_as.get(proposal.txn_id)
        match decision.decide(table.head, proposal.target, first, any_version=proposal.any_version):
            case Decision.REPLAY:
                return Ratified(Version(first or 0))
            case Decision.LOST:
                return Lost(table.since(proposal.target))
            case Decision.GAP:
                raise InvalidRequest(
                    f"version {proposal.target} leaves a gap after {table.head.latest}",
                    asked=proposal.target, latest=table.head.latest,
                )  # fmt: skip
            case Decision.FROZEN:
                raise transfer_store.frozen_error(proposal.table_id)
            case Decision.RATIFY:
                timestamp_rules.check_timestamp(
                    ProposedTimestamp(timestamp, table.head.latest_timestamp, None)
                )
            case Decision.ASSIGN:
                version = Version(table.head.latest + 1)
                timestamp = next_in_commit_timestamp(timestamp, table.head.latest_timestamp)
                content = validation.with_timestamp(content, timestamp)
        where = InlineCommit(content) if isinstance(proposal.content, InlineCommit) else proposal.content
        commit = RatifiedCommit(version, proposal.txn_id, timestamp, where)
        return _Ready(table, commit, content, changes_table=checked.changes_table)

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        """Without creations and drops: there is no directory."""
        asked = [(proposal, *self._checked(proposal)) for proposal in group.proposals]
        with self._lock:
            if group.group_id in self._groups:
                return self._groups[group.group_id]
            if moved := self._moved(group):
                return GroupLost(moved)
            versions: dict[TableId, Version] = {}
            ready: list[_Ready] = []
            for proposal, table, content, checked in asked:
                answer = self._decided(table, proposal, content, checked)
                if not isinstance(answer, _Ready):
                    raise CorruptLog(f"transaction {proposal.txn_id} was ratified without this group")
                ready.append(answer)
                versions[proposal.table_id] = answer.commit.version
            for each in ready:
                each.write()
            self._groups[group.group_id] = GroupRatified(versions)
            return self._groups[group.group_id]

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        with self._lock:
            if group.group_id in self._groups:
                return self._groups[group.group_id]
            moved = self._moved(group)
        return GroupLost(moved) if moved else Open()

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        tables = {table_id: self._table(table_id) for table_id in table_ids}
        with self._lock:
            return {
                table_id: Tail(table.head.latest, table.published, table.since(table.published + 1))
                for table_id, table in tables.items()
            }

    def _moved(self, group: GroupProposal) -> dict[TableId, tuple[RatifiedCommit, ...]]:
        wanted = {proposal.table_id: (proposal.target, proposal.any_version) for proposal in group.proposals}
        wanted |= {table_id: (Version(read + 1), False) for table_id, read in group.read_only.items()}
        return {
            table_id: self._table(table_id).since(target)
            for table_id, (target, any_version) in wanted.items()
            if decision.decide(self._table(table_id).head, target, None, any_version=any_version)
            is Decision.LOST
        }

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        table = self._table(table_id)
        with self._lock:
            first = table.first_ratified_as.get(txn_id)
            match decision.decide(table.head, target, first, any_version=any_version):
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
                content = table.store.read(file_names.published_path(Version(number)))
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


def _content(store: Store, proposal: Proposal) -> bytes:
    match proposal.content:
        case InlineCommit(content):
            return content
        case StagedCommit(file_name):
            try:
                return store.read(file_names.STAGED_FOLDER + file_name)
            except ObjectNotFound as exc:
                raise InvalidRequest(f"the staged commit {file_name!r} does not exist") from exc


class RemoteCatalog:
    """Another catalog at the far end of a wire."""

    def __init__(self, catalog: CommitCatalog, wire: Wire) -> None:
        self._catalog = catalog
        self._wire = wire

    @property
    def _groups(self) -> GroupCatalog:
        assert isinstance(self._catalog, (SimulatedCatalog, Catalog))
        return self._catalog

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        return self._wire.call(
            "propose_group", lambda: self._groups.propose_group(group), unanswered=_unanswered, writes=True
        )

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        return self._wire.call(
            "outcome_of_group",
            lambda: self._groups.outcome_of_group(group),
            unanswered=lambda untouched: Unknown("no answer"),
            writes=False,
        )

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        return self._wire.call(
            "tails", lambda: self._groups.tails(table_ids), unanswered=_unreachable, writes=False
        )

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        return self._wire.call(
            f"propose version {proposal.target}",
            lambda: self._catalog.propose(proposal),
            unanswered=_unanswered,
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


def _unanswered(untouched: bool) -> Unknown:
    if untouched:
        raise CatalogUnavailable("the catalog could not be reached")
    return Unknown("no answer")
