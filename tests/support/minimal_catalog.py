"""A second catalog, written on the ports alone: in dicts, for one process, without a database.

It imports nothing of the catalog but ``headgate.catalog.ports``. That it passes the contracts and that a lake
works with it shows that whoever stands above the catalog cannot tell which one it is.
"""

import copy
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

import msgspec

from headgate.catalog.ports.access import OWNER
from headgate.catalog.ports.catalog import LakeCatalog, Policies
from headgate.catalog.ports.commits import (
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
    fingerprint,
)
from headgate.catalog.ports.directory import (
    ExternalTables,
    StagingTable,
    TableEntry,
    TableName,
    checked_name,
    never_dropped,
    normalize_name,
)
from headgate.catalog.ports.events import EventKind
from headgate.catalog.ports.groups import (
    GroupId,
    GroupLost,
    GroupOutcome,
    GroupProposal,
    GroupRatified,
    PinnedTables,
)
from headgate.catalog.ports.handover import TableAdoptions, TableReleases
from headgate.catalog.ports.integrity import AuditedCommit, CatalogRecords
from headgate.catalog.ports.ledger import Ledger
from headgate.catalog.ports.recovery import CatalogRecovery
from headgate.catalog.ports.serving import CommitRecord, LoadedTable, LogHints
from headgate.clock import SystemWorld, World
from headgate.errors import (
    CorruptLog,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    ObjectNotFound,
    SchemaNotFound,
    TableExists,
    TableNotFound,
    VersionNotFound,
)
from headgate.protocol.actions import Commit, EpochMillis, TxnId, Version
from headgate.protocol.log import codec, file_names
from headgate.protocol.log.timestamps import next_in_commit_timestamp
from headgate.storage.credentials import StorageOperation, VendedCredential
from headgate.storage.locate import locate
from headgate.storage.store import Store
from tests.support.minimal_parts import (
    Events,
    KeptBooks,
    Leases,
    NoCopies,
    NoTokens,
    OwnersOnly,
    Permissions,
    refuse,
)

_STAGING, _LIVE, _DROPPED, _CONDEMNED = "staging", "live", "dropped", "condemned"
_ZERO = Version(0)
_STAGING_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class _Kept:
    """A version as it was ratified."""

    commit: RatifiedCommit
    content: bytes


@dataclass
class _Table:
    table_id: TableId
    location: str
    name: TableName
    created_ms: EpochMillis
    state: str = _STAGING
    dropped_ms: EpochMillis | None = None
    etag: int = 0
    published: Version = _ZERO
    latest_change: Version = _ZERO
    versions: list[_Kept] = field(default_factory=list)
    by_txn: dict[TxnId, Version] = field(default_factory=dict)
    known: LogHints = field(default_factory=LogHints)

    @property
    def latest(self) -> RatifiedCommit:
        return self.versions[-1].commit

    @property
    def entry(self) -> TableEntry:
        return TableEntry(
            self.table_id, self.name, self.location, self.created_ms, self.etag, self.dropped_ms
        )

    @property
    def staging(self) -> StagingTable:
        return StagingTable(self.table_id, self.location)

    @property
    def files(self) -> Store:
        return locate(self.location)

    @property
    def tail(self) -> Tail:
        return Tail(self.latest.version, self.published, self.since(self.published + 1))

    def since(self, start: int) -> tuple[RatifiedCommit, ...]:
        return tuple(
            replace(kept.commit, where=None) if kept.commit.version <= self.published else kept.commit
            for kept in self.versions[start:]
        )

    def is_lost(self, target: Version, *, any_version: bool) -> bool:
        return target <= self.latest.version and not (any_version and target > self.latest_change)

    def add(self, kept: _Kept, *, changes_table: bool) -> None:
        self.versions.append(kept)
        self.by_txn[kept.commit.txn_id] = kept.commit.version
        if changes_table:
            self.latest_change = kept.commit.version


@dataclass(frozen=True)
class _Checked:
    """A proposal whose content is a commit."""

    proposal: Proposal
    content: bytes
    commit: Commit

    @property
    def timestamp(self) -> EpochMillis:
        info = self.commit.info
        assert info is not None
        assert info.in_commit_timestamp is not None
        return info.in_commit_timestamp

    @property
    def changes_table(self) -> bool:
        says = self.commit
        return bool(says.protocol or says.metadata or says.txns or says.domains)


class MinimalCatalog:
    """Everything that ``LakeCatalog`` asks for, or an error that says that it is not offered."""

    def __init__(self, warehouse: str, *, world: World | None = None) -> None:
        self._warehouse = warehouse
        self._world = world or SystemWorld()
        self._lock = threading.RLock()
        self._schemas: set[str] = set()
        self._tables: dict[TableId, _Table] = {}
        self._groups: dict[GroupId, tuple[GroupProposal, GroupRatified]] = {}
        self._changes = count(1)
        self._writes = 0
        self.events = Events(self._world)
        self.leases = Leases(self._world, self._stamp)
        self.permissions = Permissions()
        self.granting = OwnersOnly()
        self.tokens = NoTokens()
        self.copies = NoCopies()

    @property
    def warehouse(self) -> str:
        return self._warehouse

    @property
    def principal(self) -> str:
        return OWNER

    def acting_as(self, principal: str, *, policies: Policies | None = None) -> "MinimalCatalog":
        if principal != OWNER:
            raise NotAllowed("this catalog knows nobody but its owner")
        return self

    def close(self) -> None:
        """There is nothing to let go of."""

    # --- CommitCatalog

    def propose(self, proposal: Proposal) -> Ratified | Lost[RatifiedCommit] | Unknown:
        checked = self._checked(proposal)
        with self._writing():
            table = self._live(proposal.table_id)
            first = table.by_txn.get(proposal.txn_id)
            if first is not None:
                return Ratified(first)
            if table.is_lost(proposal.target, any_version=proposal.any_version):
                return Lost(table.since(proposal.target))
            return Ratified(self._ratify(table, checked))

    def outcome_of(
        self, table_id: TableId, txn_id: TxnId, target: Version, *, any_version: bool = False
    ) -> Outcome[RatifiedCommit]:
        with self._lock:
            table = self._live(table_id)
            if txn_id in table.by_txn:
                return Ratified(table.by_txn[txn_id])
            if table.is_lost(target, any_version=any_version):
                return Lost(table.since(target))
            return Open()

    def tail(self, table_id: TableId) -> Tail:
        with self._lock:
            return self._live(table_id).tail

    def mark_published(self, table_id: TableId, version: Version) -> None:
        with self._writing():
            table = self._live(table_id)
            if version > table.latest.version:
                raise InvalidRequest(f"version {version} is not ratified", asked=version)
            for kept in table.versions[table.published + 1 : version + 1]:
                number = kept.commit.version
                try:
                    found = table.files.read(file_names.published_path(number))
                except ObjectNotFound as exc:
                    raise InvalidRequest(f"version {number} is not published", version=number) from exc
                if found != kept.content:
                    raise CorruptLog(f"the published version {number} is another one", version=number)
            table.published = max(table.published, version)
            self._touch(table)

    def _checked(self, proposal: Proposal, location: str | None = None) -> _Checked:
        content = self._content(proposal, location)
        try:
            commit = codec.decode(proposal.target, content)
        except CorruptLog as exc:
            raise InvalidRequest(f"this is no commit: {exc.message}") from exc
        info = commit.info
        if info is None or info.txn_id != proposal.txn_id or info.in_commit_timestamp is None:
            raise InvalidRequest("a commit begins with a commitInfo of its txnId and an inCommitTimestamp")
        checked = _Checked(proposal, content, commit)
        only_adds = not checked.changes_table and not commit.removes
        if proposal.any_version and not (isinstance(proposal.content, InlineCommit) and only_adds):
            raise InvalidRequest("only an inline commit that adds files may leave its version open")
        return checked

    def _content(self, proposal: Proposal, location: str | None) -> bytes:
        if isinstance(proposal.content, InlineCommit):
            return proposal.content.content
        name = proposal.content.file_name
        if file_names.staged_version(name) != proposal.target:
            raise InvalidRequest(f"{name!r} is not the name of a staged commit of version {proposal.target}")
        with self._lock:
            place = location or self._live(proposal.table_id).location
        try:
            return locate(place).read(file_names.STAGED_FOLDER + name)
        except ObjectNotFound as exc:
            raise InvalidRequest(f"the staged commit {name!r} does not exist") from exc

    def _ratify(self, table: _Table, checked: _Checked) -> Version:
        proposal, content, timestamp = checked.proposal, checked.content, checked.timestamp
        following, before = Version(table.latest.version + 1), table.latest.in_commit_timestamp
        if proposal.target > following:
            raise InvalidRequest(
                f"version {proposal.target} of table {table.table_id} leaves a gap", table_id=table.table_id
            )
        if proposal.target < following:
            timestamp = next_in_commit_timestamp(timestamp, before)
            content = _stamped(content, timestamp)
        if timestamp <= before:
            raise InvalidRequest(
                f"table {table.table_id}: {timestamp} is not after {before}", table_id=table.table_id
            )
        where = InlineCommit(content) if isinstance(proposal.content, InlineCommit) else proposal.content
        commit = RatifiedCommit(following, proposal.txn_id, timestamp, where, fingerprint(content))
        table.add(_Kept(commit, content), changes_table=checked.changes_table)
        self._touch(table)
        self.events.tell(EventKind.COMMIT, table.table_id, table.name, following, proposal.txn_id)
        return following

    # --- GroupCatalog

    def propose_group(self, group: GroupProposal) -> GroupRatified | GroupLost[RatifiedCommit] | Unknown:
        with self._writing():
            if known := self._known_group(group):
                return known
            created = {creation.staging.table_id for creation in group.creations}
            places = {table_id: self._staged(table_id).location for table_id in created}
            asked = [self._checked(each, places.get(each.table_id)) for each in group.proposals]
            if moved := self._moved(group, created):
                return GroupLost(moved)
            with self._all_or_nothing(group):
                for table_id in group.drops:
                    self._drop(self._live(table_id))
                for creation in group.creations:
                    self._enter(self._staged(creation.staging.table_id), normalize_name(creation.name))
                versions = {table_id: Version(0) for table_id in created}
                for checked in asked:
                    table = self._live(checked.proposal.table_id)
                    if checked.proposal.txn_id in table.by_txn:
                        raise CorruptLog(
                            f"transaction {checked.proposal.txn_id} was ratified without this group"
                        )
                    versions[table.table_id] = self._ratify(table, checked)
            done = GroupRatified(versions)
            self._groups[group.group_id] = (group, done)
            return done

    def outcome_of_group(self, group: GroupProposal) -> GroupOutcome[RatifiedCommit]:
        with self._lock:
            if known := self._known_group(group):
                return known
            moved = self._moved(group, {creation.staging.table_id for creation in group.creations})
            return GroupLost(moved) if moved else Open()

    def tails(self, table_ids: Iterable[TableId]) -> Mapping[TableId, Tail]:
        with self._lock:
            return {table_id: self._live(table_id).tail for table_id in table_ids}

    def pin(self, names: Iterable[TableName], table_ids: Iterable[TableId] = ()) -> PinnedTables:
        with self._lock:
            entries = self.resolve_all(names)
            return PinnedTables(entries, self.tails((*table_ids, *(entry.table_id for entry in entries))))

    def _known_group(self, group: GroupProposal) -> GroupRatified | None:
        known = self._groups.get(group.group_id)
        if known is None:
            return None
        if known[0].participants != group.participants:
            raise InvalidRequest("a group of this id was ratified, with other tables or transactions")
        return known[1]

    def _moved(
        self, group: GroupProposal, created: set[TableId]
    ) -> dict[TableId, tuple[RatifiedCommit, ...]]:
        wanted = {each.table_id: (each.target, each.any_version, each.txn_id) for each in group.proposals}
        read = {table_id: (Version(at + 1), False, TxnId("")) for table_id, at in group.read_only.items()}
        moved = {}
        for table_id, (target, any_version, txn_id) in {**wanted, **read}.items():
            table = None if table_id in created else self._live(table_id)
            if table is None or txn_id in table.by_txn:
                continue
            if table.is_lost(target, any_version=any_version):
                moved[table_id] = table.since(target)
        return moved

    @contextmanager
    def _all_or_nothing(self, group: GroupProposal) -> Iterator[None]:
        before = {table_id: copy.deepcopy(self._tables[table_id]) for table_id in group.participants}
        try:
            yield
        except HeadgateError:
            self._tables.update(before)
            raise

    # --- TableDirectory, TableRenaming

    def create_schema(self, schema: str) -> bool:
        name = checked_name(schema)
        with self._writing():
            is_new = name not in self._schemas
            self._schemas.add(name)
            return is_new

    def schemas(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(self._schemas))

    def drop_schema(self, schema: str) -> bool:
        name = checked_name(schema)
        with self._writing():
            if any(table.name.schema == name for table in self._tables.values()):
                raise InvalidRequest(f"the schema {name} is not empty: drop and purge its tables first")
            was_there = name in self._schemas
            self._schemas.discard(name)
            return was_there

    def stage(self, name: TableName) -> StagingTable:
        name = normalize_name(name)
        with self._writing():
            self._check_free(name)
            table_id = TableId(self._world.uuid())
            now = EpochMillis(self._world.now_ms())
            self._tables[table_id] = _Table(table_id, f"{self._warehouse}/{table_id}", name, now)
            return self._tables[table_id].staging

    def find_staging(self, table_id: TableId) -> StagingTable:
        with self._lock:
            return self._staged(table_id).staging

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        name = normalize_name(name)
        with self._writing():
            found = self._named(name)
            if found is not None and found.table_id == staging.table_id:
                return found.entry
            table = self._staged(staging.table_id)
            self._enter(table, name)
            return table.entry

    def _enter(self, table: _Table, name: TableName) -> None:
        self._check_free(name)
        try:
            content = table.files.read(file_names.published_path(Version(0)))
        except ObjectNotFound as exc:
            raise InvalidRequest("a table is registered after its version 0 is written") from exc
        first = codec.decode(Version(0), content)
        info = first.info
        if first.protocol is None or not first.protocol.is_catalog_managed or info is None:
            raise InvalidRequest("version 0 of a catalog-managed table must say so in its protocol")
        if info.txn_id is None or info.in_commit_timestamp is None:
            raise InvalidRequest("version 0 must have a txnId and an inCommitTimestamp")
        commit = RatifiedCommit(Version(0), info.txn_id, info.in_commit_timestamp, None, fingerprint(content))
        table.name, table.state = name, _LIVE
        table.add(_Kept(commit, content), changes_table=True)
        self._touch(table)
        self.events.tell(EventKind.CREATE, table.table_id, name, Version(0), info.txn_id)

    def resolve(self, name: TableName) -> TableEntry:
        name = normalize_name(name)
        with self._lock:
            found = self._named(name)
        if found is None:
            raise TableNotFound(f"there is no table {name}", name=str(name))
        return found.entry

    def resolve_all(self, names: Iterable[TableName]) -> tuple[TableEntry, ...]:
        with self._lock:
            return tuple(self.resolve(name) for name in names)

    def resolve_id(self, table_id: TableId) -> TableEntry:
        with self._lock:
            return self._live(table_id).entry

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        found = self._in_state(_LIVE, schema)
        return tuple(sorted(found, key=lambda entry: (entry.name.schema, entry.name.table)))

    def drop(self, name: TableName) -> TableEntry:
        with self._writing():
            table = self._live(self.resolve(name).table_id)
            self._drop(table)
            return table.entry

    def _drop(self, table: _Table) -> None:
        table.state, table.dropped_ms = _DROPPED, EpochMillis(self._world.now_ms())
        self._touch(table)
        self.events.tell(EventKind.DROP, table.table_id, table.name, table.latest.version)

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        to = normalize_name(to)
        with self._writing():
            table = self._live(self.resolve(name).table_id)
            if table.name != to:
                self._check_free(to)
                table.name = to
                self._touch(table)
                self.events.tell(EventKind.RENAME, table.table_id, to, table.latest.version)
            return table.entry

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        found = self._in_state(_DROPPED, schema)
        return tuple(sorted(found, key=lambda entry: -entry.etag))

    def undrop(
        self, name: TableName, *, table_id: TableId | None = None, to: TableName | None = None
    ) -> TableEntry:
        name, to = normalize_name(name), normalize_name(to or name)
        with self._writing():
            found = [each for each in self.dropped() if each.name == name]
            wanted = next((each for each in found if table_id in (None, each.table_id)), None)
            if wanted is None:
                raise never_dropped(name)
            self._check_free(to)
            table = self._tables[wanted.table_id]
            table.name, table.state, table.dropped_ms = to, _LIVE, None
            self._touch(table)
            self.events.tell(EventKind.UNDROP, table.table_id, to, table.latest.version)
            return table.entry

    def check_may_purge(self, table_id: TableId) -> None:
        """Its owner may everything."""

    # --- TableDisposal, which is a part of its own elsewhere

    @property
    def disposal(self) -> "MinimalCatalog":
        return self

    def abandoned(self) -> tuple[StagingTable, ...]:
        old = self._world.now_ms() - _STAGING_MS
        with self._lock:
            return tuple(
                table.staging
                for table in self._tables.values()
                if table.state == _CONDEMNED or (table.state == _STAGING and table.created_ms <= old)
            )

    def condemned(self, name: TableName) -> tuple[TableId, ...]:
        return tuple(entry.table_id for entry in self._in_state(_CONDEMNED, None) if entry.name == name)

    def condemn(self, table_id: TableId) -> StagingTable:
        with self._writing():
            table = self._tables.get(table_id)
            if table is None:
                raise never_dropped(table_id)
            is_over = table.state in (_DROPPED, _CONDEMNED) or table.staging in self.abandoned()
            if not is_over:
                raise NotAllowed(f"the table {table.name} is in use: drop it first", operation="purge")
            table.state = _CONDEMNED
            return table.staging

    def forget(self, table_id: TableId) -> None:
        with self._writing():
            table = self._tables.get(table_id)
            if table is not None and table.state != _CONDEMNED:
                raise InvalidRequest(f"the table {table_id} is not condemned, so it is not forgotten")
            self._tables.pop(table_id, None)

    def forget_keeping_files(self, table_id: TableId) -> None:
        with self._writing():
            table = self._tables.get(table_id)
            if table is None or table.state != _DROPPED:
                raise never_dropped(table_id)
            if table.latest.version > table.published:
                raise NotAllowed("not all of its versions are published: undrop it, and publish")
            del self._tables[table_id]

    # --- ReaderCatalog

    @property
    def writes(self) -> int:
        return self._writes

    def load(self, name: TableName) -> LoadedTable:
        with self._lock:
            table = self._live(self.resolve(name).table_id)
            return LoadedTable(table.entry, table.tail, table.known, self._writes)

    def note_log(self, table_id: TableId, known: LogHints) -> None:
        with self._lock:
            table = self._live(table_id)
            latest, old = table.latest.version, table.known
            newest = old.checkpoint[0].version if old.checkpoint else -1
            if known.checkpoint and newest < known.checkpoint[0].version <= latest:
                old = replace(old, checkpoint=known.checkpoint)
            if known.checksum is not None and (old.checksum or -1) < known.checksum <= latest:
                old = replace(old, checksum=known.checksum)
            table.known = old

    def version_at(self, table_id: TableId, moment: EpochMillis) -> Version | None:
        with self._lock:
            versions = [kept.commit for kept in self._live(table_id).versions]
        found = [each.version for each in versions if each.in_commit_timestamp <= moment]
        return found[-1] if found else None

    def commits(
        self, table_id: TableId, *, before: Version | None = None, limit: int = 1_000
    ) -> tuple[CommitRecord, ...]:
        with self._lock:
            kept = list(self._live(table_id).versions)
        records = [
            CommitRecord(
                each.commit.version, each.commit.txn_id, each.commit.in_commit_timestamp,
                len(each.content), fingerprint(each.content),
            )
            for each in reversed(kept)
            if before is None or each.commit.version < before
        ]  # fmt: skip
        return tuple(records[:limit])

    def credentials(self, table_id: TableId, operation: StorageOperation) -> tuple[VendedCredential, ...]:
        return ()

    def import_external_versions(self, table_id: TableId) -> Version:
        return self.tail(table_id).latest

    # --- what it offers no more than the words of

    def share_log(self, name: TableName) -> TableEntry:
        refuse("ratifies every version itself")

    def accept_version(self, name: TableName, version: Version) -> Version:
        refuse("ratifies every version itself")

    def set_aside_version(self, name: TableName, version: Version) -> str:
        refuse("moves no files")

    def ahead(self) -> tuple[str, ...]:
        return ()

    @property
    def adoptions(self) -> TableAdoptions:
        refuse("takes no tables in")

    @property
    def externals(self) -> ExternalTables:
        refuse("names no tables of others")

    @property
    def ledger(self) -> Ledger:
        refuse("own the commits of other tables")

    @property
    def releases(self) -> TableReleases:
        refuse("gives no tables back")

    @property
    def recoveries(self) -> CatalogRecovery:
        refuse("has no database to lose")

    # --- StagedFiles, TableBooks

    @property
    def publications(self) -> "MinimalCatalog":
        return self

    def ratified_names(self, table_id: TableId, file_names: Iterable[str]) -> frozenset[str]:
        with self._lock:
            kept = [each.commit.where for each in self._live(table_id).versions]
        return frozenset(file_names) & {where.file_name for where in kept if isinstance(where, StagedCommit)}

    def books(self, table_id: TableId) -> KeptBooks:
        with self._lock:
            table = self._live(table_id)
            rows = tuple(_row(each, table.published) for each in table.versions)
            latest = table.latest
            told = CatalogRecords(
                table_id, latest.version, table.published, latest.in_commit_timestamp, None, rows
            )
        return KeptBooks(told, self.mark_published)

    # --- within

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            self._writes += 1
            yield

    def _touch(self, table: _Table) -> None:
        table.etag = next(self._changes)

    def _live(self, table_id: TableId) -> _Table:
        return self._of_state(table_id, _LIVE, "there is no table")

    def _staged(self, table_id: TableId) -> _Table:
        return self._of_state(table_id, _STAGING, "nothing is staged as")

    def _of_state(self, table_id: TableId, state: str, what: str) -> _Table:
        found = self._tables.get(table_id)
        if found is None or found.state != state:
            raise TableNotFound(f"{what} {table_id}", name=table_id)
        return found

    def _named(self, name: TableName) -> _Table | None:
        live = (table for table in self._tables.values() if table.state == _LIVE)
        return next((table for table in live if table.name == name), None)

    def _in_state(self, state: str, schema: str | None) -> list[TableEntry]:
        wanted = None if schema is None else checked_name(schema)
        with self._lock:
            found = [table.entry for table in self._tables.values() if table.state == state]
        return [entry for entry in found if wanted in (None, entry.name.schema)]

    def _check_free(self, name: TableName) -> None:
        if name.schema not in self._schemas:
            raise SchemaNotFound(f"there is no schema {name.schema!r}", name=name.schema)
        if self._named(name) is not None:
            raise TableExists(f"there is already a table {name}", name=str(name))

    def _stamp(self, table_id: TableId, version: Version) -> EpochMillis:
        with self._lock:
            versions = self._live(table_id).versions
        if not 0 <= version < len(versions):
            raise VersionNotFound(f"version {version} does not exist", version=version)
        return versions[version].commit.in_commit_timestamp


def _stamped(content: bytes, timestamp: EpochMillis) -> bytes:
    first, _, rest = content.partition(b"\n")
    line = msgspec.json.decode(first)
    line["commitInfo"]["inCommitTimestamp"] = timestamp
    return msgspec.json.encode(line) + b"\n" + rest


def _row(kept: _Kept, published: Version) -> AuditedCommit:
    commit = kept.commit
    file_name = commit.where.file_name if isinstance(commit.where, StagedCommit) else None
    is_held = commit.version > published and isinstance(commit.where, InlineCommit)
    content = kept.content if is_held else None
    return AuditedCommit(
        commit.version, commit.txn_id, commit.in_commit_timestamp, len(kept.content),
        fingerprint(kept.content), file_name, content,
    )  # fmt: skip


def is_a_catalog(catalog: MinimalCatalog) -> LakeCatalog:
    """Said by its types, too."""
    return catalog
