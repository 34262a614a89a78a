"""Several tables at one moment: read as they were together, changed together or not at all."""

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import replace as replaced
from enum import StrEnum
from types import TracebackType

from typing_extensions import override

from headgate.calls import summary
from headgate.calls.summary import Summary
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.ports.groups import GroupId, StagedCreation
from headgate.errors import (
    ConflictError,
    HeadgateError,
    InvalidRequest,
    NotAllowed,
    SharedLog,
    TableExists,
    TableNotFound,
    UserError,
)
from headgate.lake import pinned
from headgate.lake.pinned import Participant, TransactionAccess
from headgate.lake.summaries import lake_summary
from headgate.lake.table import Table
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.metadata.alter_properties import TABLE_NAME
from headgate.protocol.schema import column_ids
from headgate.protocol.schema import json as schema_json
from headgate.spark.calls.user_calls import CallSubject, user_calls
from headgate.spark.session import new_table
from headgate.spark.session.schema import SchemaLike
from headgate.table.alter import clone
from headgate.table.alter.clone import CloneOptions, CloneSource
from headgate.table.alter.create import TableDefinition
from headgate.table.commit.loop import CommitResult
from headgate.table.committer import Frontier
from headgate.table.multi import loop
from headgate.table.multi.loop import GroupMember, GroupTransaction
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Transaction

_RUNNING: ContextVar["LakeTransaction | None"] = ContextVar("headgate-transaction", default=None)


class TransactionIsolation(StrEnum):
    """What a transaction may ignore of what others did to tables that it only read."""

    SERIALIZABLE = "serializable"
    """Nothing: it commits only if what it read is still true by then."""
    SNAPSHOT = "snapshot"
    """Everything: what it read was true at one moment, and that is enough."""


@user_calls
class LakeSnapshot:
    """Several tables as they were at one moment, for reading."""

    def __init__(self, access: TransactionAccess, names: Iterable[str]) -> None:
        refusal = "a snapshot of a lake is for reading: write to lake.table(…), or in lake.transaction()"
        entries, frontiers = pinned.pin_tables(access, tuple(names), ())
        self._tables = {
            name: Participant(access, entry, frontiers[entry.table_id], refusal=refusal)
            for name, entry in entries.items()
        }

    def table(self, name: str) -> Table:
        """One of the tables, as it was at that moment.

        rows = lake.snapshot(["sales.orders"]).table("sales.orders").to_arrow()
        """
        found = self._tables.get(name.lower())
        if found is None:
            raise TableNotFound(
                f"{name!r} is not in this snapshot, which has {', '.join(sorted(self._tables))}: name every "
                "table when taking it",
                name=name,
            )
        return Table(found.name, found.inside)

    @property
    def versions(self) -> Mapping[str, int]:
        """The version of each table at that moment, by name."""
        return {name: found.collector.version for name, found in self._tables.items()}

    @override
    def __repr__(self) -> str:
        return summary.one_line("LakeSnapshot", dict(self.versions))

    def _repr_html_(self) -> str:
        return summary.html_or_line(
            lambda: lake_summary.summarize_versions("LakeSnapshot", self.versions), repr(self)
        )


@user_calls
class LakeTransaction:
    """Changes to several tables that become visible all at once, or never; safe to share between threads.

    Every table stands still at the moment at which it was opened, and all that are opened with it; what
    the transaction writes only itself sees, until it commits.
    """

    def __init__(self, access: TransactionAccess, names: Iterable[str], isolation: str) -> None:
        if isolation not in list(TransactionIsolation):
            raise InvalidRequest(
                f"{isolation!r} is not an isolation: choose {' or '.join(TransactionIsolation)}",
                code="DELTA_INVALID_ISOLATION_LEVEL",
            )
        self._access = access
        self._serializable = isolation == TransactionIsolation.SERIALIZABLE
        self._lock = threading.RLock()
        self._tables: dict[str, Participant] = {}
        self._participants: list[Participant] = []  # with those whose name another table got
        self._creations: dict[str, StagedCreation] = {}
        self._drops: dict[str, TableEntry] = {}
        self._over: str | None = None
        self._token: Token[LakeTransaction | None] | None = None
        self.versions: Mapping[str, int] = {}
        """What the tables became, by name, once the transaction is committed."""
        self._open(tuple(names))

    def table(self, name: str) -> Table:
        """A table of the lake inside this transaction; operations on it return provisional versions.

        tx.table("sales.orders").append([{"id": 7}])
        """
        with self._lock:
            self._check_running()
            key = name.lower()
            if key in self._drops and key not in self._creations:
                raise TableNotFound(f"this transaction dropped {name}", name=name)
            if key not in self._tables:
                self._open((name,))
            found = self._tables[key]
        return Table(found.name, found.inside)

    def create_table(  # noqa: PLR0913 — what a new table is, each by its name
        self,
        name: str,
        columns: SchemaLike,
        *,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
        partition_by: Iterable[str] = (),
        cluster_by: Iterable[str] = (),
        domains: Mapping[str, str] | None = None,
    ) -> Table:
        """Make a table that is there once the transaction commits; as ``lake.create_table`` does.

        It may be written to at once. A table of the same name may be dropped first.

            tx.create_table("sales.items", "sku STRING")
        """
        definition = new_table.define(
            columns,
            comment=comment,
            properties=properties,
            partition_by=partition_by,
            cluster_by=cluster_by,
            domains=domains,
        )
        return self._create(name, definition)

    def _create(self, name: str, definition: TableDefinition) -> Table:
        with self._lock:
            self._check_running()
            key, wanted = name.lower(), self._access.parse(name)
            if key in self._creations:
                raise TableExists(f"this transaction has made {name} already", name=name)
            reserved = wanted
            if key in self._drops:  # until it commits, the name is not free
                reserved = TableName(wanted.schema, f"_{self._access.world.uuid().replace('-', '')}")
            definition = replaced(definition, required={TABLE_NAME: str(wanted).lower()})
            staging = self._access.stage(reserved, definition)
            entry = TableEntry(
                staging.table_id, wanted, staging.location, EpochMillis(self._access.world.now_ms())
            )
            self._creations[key] = StagedCreation(staging, wanted)
            made = self._add(key, entry, Frontier(Version(0), {}, managed=True))
        return Table(made.name, made.inside)

    def clone(
        self,
        source: str,
        name: str,
        *,
        shallow: bool = False,
        replace: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> Table:
        """Make a table what another of the lake is in this transaction; as ``lake.clone`` does.

        Several tables are so cloned as they were at one moment. With ``replace`` the clone may be a table
        that is there.

            tx.clone("sales.orders", "sales.orders_before")
        """
        with self._lock:
            found = self.table(source)
            snapshot = found.log.snapshot()
            target = self._target(name, snapshot, replace=replace)
            entry = self._tables[name.lower()].entry
            if shallow:
                self._access.allow_clone_of(entry.table_id, self._access.parse(source))
            wish = CloneOptions(shallow=shallow, properties=properties or {})
            clone.replace_with_clone(target.log, CloneSource(found.name, found.log, snapshot), wish)
        return target

    def _target(self, name: str, source: Snapshot, *, replace: bool) -> Table:
        """The table to clone to: one that is there, or an empty one that is made for it."""
        if replace:
            with suppress(TableNotFound):
                return self.table(name)
        metadata = source.state.metadata
        columns = column_ids.without_column_ids(schema_json.parse(metadata.schema_string))
        return self._create(name, TableDefinition(columns))

    def drop_table(self, name: str) -> None:
        """Take a table's name away when the transaction commits; its log and its data stay where they are.

        tx.drop_table("sales.stock")
        """
        with self._lock:
            self._check_running()
            key = name.lower()
            if key in self._creations:
                self._abandon(key)
                return
            known = self._tables.get(key)
            if known is not None and known.collector.collected:
                raise InvalidRequest(
                    f"this transaction has written to {name}, so it cannot drop it too: leave one of them out"
                )
            self._drops[key] = known.entry if known is not None else self._access.resolve(name)

    def commit(self) -> Mapping[str, int]:
        """Commit everything at once; the version of each table that was written or made, by name.

        Raises ``GroupConflict`` if others changed what it read or writes in a way it cannot follow:
        then nothing happened, and the whole transaction is to be run again. ``CommitUnknown`` means
        that nobody can say; then nothing may be run again before looking.

            versions = tx.commit()
        """
        with self._lock:
            self._check_running()
            try:
                self.versions = self._commit()
            except (ConflictError, UserError, NotAllowed, SharedLog):
                self._end("this transaction was refused", discard=True)
                raise
            except BaseException:
                self._end("nobody can say what became of this transaction", discard=False)
                raise
            self._end("this transaction is committed", discard=False)
            return self.versions

    def rollback(self) -> None:
        """Forget everything, and delete the files that were written.

        tx.rollback()
        """
        with self._lock:
            if self._over is None:
                self._end("this transaction was rolled back", discard=True)

    def __enter__(self) -> "LakeTransaction":
        running = _RUNNING.get()
        if running is not None and running._access.catalog is self._access.catalog:
            raise InvalidRequest(
                "there is a transaction around this one: what belongs together goes into one transaction"
            )
        self._check_running()
        self._token = _RUNNING.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _RUNNING.reset(self._token)
        if kind is not None:
            self.rollback()
        elif self._over is None:
            self.commit()

    @override
    def __repr__(self) -> str:
        tables = dict(self.versions) or sorted(table.name for table in tuple(self._participants))
        return summary.one_line("LakeTransaction", self._over or "this transaction is open", tables)

    def _repr_html_(self) -> str:
        return summary.html_or_line(self._summarize, repr(self))

    def _summarize(self) -> Summary:
        tables = tuple(self._participants)
        facts = (
            ("state", self._over or "this transaction is open"),
            ("written", ", ".join(sorted(table.name for table in tables if table.collector.collected))),
            ("made", ", ".join(sorted(str(made.name) for made in tuple(self._creations.values())))),
            ("dropped", ", ".join(sorted(str(entry.name) for entry in tuple(self._drops.values())))),
        )
        seen = self.versions or {table.name: int(table.pinned.version) for table in tables}
        return lake_summary.summarize_versions("LakeTransaction", seen, facts)

    def _subject(self) -> CallSubject:
        return CallSubject(ids={str(table.entry.table_id): table.name for table in self._participants})

    def _commit(self) -> dict[str, int]:
        conflicts: dict[str, HeadgateError] = {}
        members: list[GroupMember] = []
        new = {creation.staging.table_id for creation in self._creations.values()}
        for table in self._participants:
            try:
                table.collector.check()
            except ConflictError as exc:
                conflicts[table.name] = exc
            part = table.part(serializable=self._serializable)
            if isinstance(part, Transaction) or (part is not None and table.entry.table_id not in new):
                members.append(GroupMember(table.name, table.entry.table_id, table.route, part))
        if conflicts:
            raise loop.group_conflict_error(conflicts)
        changes = [member for member in members if isinstance(member.part, Transaction)]
        if not (changes or self._creations or self._drops):
            return {}
        asked = GroupTransaction(
            GroupId(self._access.world.uuid()),
            tuple(members),
            tuple(self._creations.values()),
            tuple(entry.table_id for entry in self._drops.values()),
        )
        access = self._access
        done = loop.commit_group(asked, access.catalog, access.settings, world=access.world)
        return self._committed(changes, done)

    def _committed(self, changes: list[GroupMember], done: Mapping[TableId, CommitResult]) -> dict[str, int]:
        tables = {table.entry.table_id: table for table in self._participants}
        for member in changes:
            table = tables[member.table_id]
            if isinstance(member.part, Transaction):
                table.opened.committed(member.part, table.pinned, done[member.table_id])
        return {tables[table_id].name: known.version for table_id, known in done.items()}

    def _open(self, names: tuple[str, ...]) -> None:
        """Open tables at one moment, to which those that are open are brought as well."""
        new = {creation.staging.table_id for creation in self._creations.values()}
        standing = [table for table in self._participants if table.entry.table_id not in new]
        entries, frontiers = pinned.pin_tables(
            self._access, names, [table.entry.table_id for table in standing]
        )
        conflicts: dict[str, HeadgateError] = {}
        for table in standing:
            try:
                table.repin(frontiers[table.entry.table_id])
            except ConflictError as exc:
                conflicts[table.name] = exc
        if conflicts:
            raise loop.group_conflict_error(conflicts)
        for key, entry in entries.items():
            self._add(key, entry, frontiers[entry.table_id])

    def _add(self, key: str, entry: TableEntry, frontier: Frontier) -> Participant:
        made = self._tables[key] = Participant(self._access, entry, frontier)
        self._participants.append(made)
        return made

    def _abandon(self, key: str) -> None:
        gone = self._tables.pop(key)
        self._participants.remove(gone)
        gone.discard()
        del self._creations[key]

    def _check_running(self) -> None:
        if self._over is not None:
            raise InvalidRequest(f"{self._over}: begin a new one with lake.transaction()")

    def _end(self, reason: str, *, discard: bool) -> None:
        self._over = reason
        for table in self._participants:
            table.collector.end(f"{reason}: use lake.table({table.name!r})")
            if discard:
                table.discard()
