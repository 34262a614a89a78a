"""Tables as they were at one moment, each standing still there while it is read and written to.

Whoever uses several tables at once asks for all of them in one question, so that of each group of commits
either everything is there or nothing.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName
from headgate.catalog.ports.groups import GroupCatalog, PinnedTables
from headgate.clock import World
from headgate.errors import InvalidRequest
from headgate.plugins import domain_handlers
from headgate.protocol import table_features
from headgate.protocol.actions import Commit, EpochMillis, TxnId, Version
from headgate.protocol.conflicts import read_validation
from headgate.protocol.log import codec
from headgate.protocol.transaction.attempt import BLIND, Attempt, ReadSet
from headgate.settings import Publish, Settings
from headgate.table import transaction
from headgate.table.alter.create import TableDefinition
from headgate.table.commit import catalog_managed
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.catalog_managed import ManagedCommitter
from headgate.table.committer import Frontier
from headgate.table.known_snapshots import KnownSnapshots
from headgate.table.location import CatalogIdentity
from headgate.table.multi import collector, combine
from headgate.table.multi.collector import CommitCollector, IdRecordingWorld, TransactionGuard
from headgate.table.opened_table import OpenedTable
from headgate.table.read import catalog_tail, log_reader, snapshot
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Transaction

OpenedManagedTable = tuple[ManagedCommitter, OpenedTable]
TableOpener = Callable[[TableEntry], OpenedManagedTable]

_MAX_CACHED = 32
_NO_PUBLISHING = PostCommitScheduler(Settings(publish=Publish.ON_DEMAND))


@dataclass(frozen=True, slots=True)
class TransactionAccess:
    """What a lake lends to those who use several of its tables at once."""

    catalog: GroupCatalog
    find: Callable[[Iterable[TableName]], Sequence[TableEntry]]
    pin: Callable[[Iterable[TableName], Iterable[TableId]], PinnedTables]
    """The tables of these names, and how far they and those with these ids reached, all at one moment."""
    parse: Callable[[str], TableName]
    open: TableOpener
    stage: Callable[[TableName, TableDefinition], StagingTable]
    """Reserve a place for a table and write its version 0 there."""
    settings: Settings
    world: World
    allow_clone_of: Callable[[TableId, TableName], None]
    """Allow a table, which may be one that is being made, to name the files of another."""

    def parse_all(self, names: Iterable[str]) -> tuple[TableName, ...]:
        """What these tables are called; a path is refused."""
        wanted = tuple(names)
        for name in wanted:
            if "`" in name or "/" in name:
                raise InvalidRequest(
                    f"{name!r} is a path, and only tables of the lake are used together with others: take it "
                    "in with lake.adopt(path, 'schema.table')"
                )
        return tuple(map(self.parse, wanted))

    def resolve(self, name: str) -> TableEntry:
        """The table of this name."""
        return self.find(self.parse_all((name,)))[0]


class OpenTableCache:
    """Opens tables, and keeps those that were used lately: of these only what is new must be read."""

    def __init__(self, opening: TableOpener) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._kept: OrderedDict[TableId, OpenedManagedTable] = OrderedDict()

    def __call__(self, entry: TableEntry) -> OpenedManagedTable:
        with self._lock:
            found = self._kept.pop(entry.table_id, None) or self._opening(entry)
            self._kept[entry.table_id] = found
            if len(self._kept) > _MAX_CACHED:
                self._kept.popitem(last=False)
        return found


class Participant:
    """A table that stands still, with what was read of it and written to it."""

    def __init__(
        self, access: TransactionAccess, entry: TableEntry, frontier: Frontier, *, refusal: str | None = None
    ) -> None:
        self.entry = entry
        self.name = str(entry.name)
        self.route, self.opened = access.open(entry)
        self.world = IdRecordingWorld(access.world)
        self.collector = CommitCollector(self.opened.store, frontier, refusal=refusal)
        self.txn_id = TxnId(access.world.uuid())
        self.inside = OpenedTable(
            entry.location,
            self.opened.store,
            self.collector,
            after_commit=_NO_PUBLISHING,
            settings=self.opened.settings,
            world=self.world,
            handlers=domain_handlers.registered,
            observer=self.collector,
            guard=TransactionGuard(self.opened.guard, self.collector.poison),
            member=CatalogIdentity(entry.table_id, self.txn_id),
            known=KnownSnapshots(self._note_loaded),
        )
        self.pinned = self._load() if refusal is not None else self._stand(frontier)

    def repin(self, frontier: Frontier) -> None:
        """Bring the table to the moment at which another one was opened."""
        if frontier.latest == self.collector.version:
            return
        if self.collector.is_idle:
            self.collector.pin(frontier)
            self.pinned = self._stand(frontier)
        else:
            self.collector.moved(lambda: self.pinned.state, self._since_pinned(frontier))

    def part(self, *, serializable: bool) -> Transaction | Attempt | None:
        """What is to be proposed for the table, or to be checked: what it writes, or what it only read."""
        self.collector.check_not_poisoned()
        written, reads = self.collector.collected, self.collector.reads
        if written:
            txn = self._combined(written, reads, serializable=serializable)
            reads = txn.change.reads
            if not txn.is_no_op:
                return txn
        if serializable and reads != BLIND:
            return read_validation.read_only_attempt(self.pinned.state, reads)
        return None

    def _combined(self, written: Sequence[Transaction], reads: ReadSet, *, serializable: bool) -> Transaction:
        first = written[0]
        is_alone = len(written) == 1 and reads == BLIND
        if is_alone and first.leaves_version_open and first.base == self.collector.version:
            # Nothing to combine: it was prepared when it was made.
            return first.in_group(self.txn_id, EpochMillis(self.world.now_ms()))
        change = combine.combine_changes(self.pinned, written, reads)
        strict = serializable and reads != BLIND
        change = replace(change, is_strict=strict, written_as=self.txn_id)
        return transaction.begin(
            self.pinned.state, change, world=self.world, handlers=domain_handlers.registered
        )

    def discard(self) -> None:
        """Delete what was written, which is proven to belong to no version."""
        collector.delete_uncommitted(self.opened.store, self.world, self.collector.collected)

    def _stand(self, frontier: Frontier) -> Snapshot:
        """The table where it stands still; where the catalog tells enough to append, its log unread.

        It outlives the transaction, so its files are read through the handle that does.
        """
        opened, inner = self.opened, self.inside.known_snapshots
        for known in (opened.known_snapshots.loaded, opened.known_snapshots.newest):
            if known is not None and known.version <= frontier.latest:
                inner.advance(known)
        if (known := inner.newest) is not None and known.version == frontier.latest:
            return known
        found = snapshot.snapshot_from_catalog(frontier, lambda version: opened.snapshot(version=version))
        if found is None:
            return self._load()
        state = found.state
        table_features.check_readable(state.protocol, state.metadata, previews=opened.settings.read_previews)
        inner.advance(found)
        opened.seed_snapshot(found)  # for whoever opens it next
        return found

    def _load(self) -> Snapshot:
        """The table where it stands still, with its files."""
        known = self.opened.loaded_snapshot
        if known is not None and known.version <= self.collector.version:
            self.inside.seed_snapshot(known)
        return self.inside.snapshot()

    def _note_loaded(self, found: Snapshot) -> None:
        if found.version == self.collector.version:  # later ones are seen by this transaction alone
            self.pinned = found
            self.opened.seed_snapshot(found)

    def _since_pinned(self, frontier: Frontier) -> tuple[Commit, ...]:
        versions = map(Version, range(self.collector.version + 1, frontier.latest + 1))
        store = self.opened.store
        return tuple(
            codec.decode(
                version, log_reader.commit_content(store, version, frontier.unpublished.get(version))
            )
            for version in versions
        )


def pin_tables(
    access: TransactionAccess, names: tuple[str, ...], open_ids: Iterable[TableId]
) -> tuple[dict[str, TableEntry], dict[TableId, Frontier]]:
    """The tables of these names, and how far they and those that are open reached, all at one moment."""
    wanted, open_ids = access.parse_all(names), tuple(open_ids)
    if not wanted and not open_ids:
        return {}, {}
    found = access.pin(wanted, open_ids)
    entries = dict(zip(map(str.lower, names), found.entries, strict=True))
    return entries, {table_id: _frontier(table_id, told) for table_id, told in found.tails.items()}


def _frontier(table_id: TableId, told: Tail) -> Frontier:
    return catalog_managed.frontier_from_tail(catalog_tail.require_contiguous(table_id, told))
