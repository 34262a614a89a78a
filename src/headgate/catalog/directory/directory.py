"""Which tables are there, and by which names? The directory's use cases, a database transaction each."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import LAKE, OWNER, Principal, Privilege, Scope, Securable
from headgate.catalog.ports.commits import RatifiedCommit, TableId, fingerprint
from headgate.catalog.ports.directory import StagingTable, TableEntry, TableName, checked_name, normalize_name
from headgate.catalog.ports.events import EventKind, operation_name
from headgate.catalog.ports.recovery import StoredCommit
from headgate.catalog.store import (
    commit_rules,
    commit_store,
    event_store,
    grant_store,
    name_store,
    new_commits,
    opening,
    table_not_found,
    table_state,
    transfer_store,
)
from headgate.catalog.store.event_store import NewEvent
from headgate.catalog.store.opening import TableOpening
from headgate.catalog.validation import timestamp_rules, validation
from headgate.catalog.validation.timestamp_rules import ProposedTimestamp
from headgate.clock import World
from headgate.errors import (
    InvalidRequest,
    ObjectNotFound,
    SchemaNotFound,
    TableExists,
    TableNotFound,
)
from headgate.protocol.actions import Commit, EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.spelling import did_you_mean
from headgate.storage import conditional_put_probe, locations
from headgate.storage.locate import Locate
from headgate.storage.store import Store

STAGING_TTL_MS = 24 * 60 * 60 * 1000
"""For how long a place stays reserved for a table that is being made."""


@dataclass(frozen=True, slots=True)
class DatabaseDirectory:
    """The ports ``TableDirectory``, ``SchemaDirectory`` and ``TableRenaming`` over one database."""

    database: Database
    warehouse: str
    locate: Locate
    world: World
    principal: Principal = OWNER
    """On whose behalf everything is done."""

    def create_schema(self, schema: str) -> bool:
        name = checked_name(schema)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            known = name_store.schema_exists(db, name)
            if known and grant_store.sees_schema(db, self.principal, name):
                return False
            self._require(db, Privilege.CREATE, LAKE, f"make the schema {name}")
            name_store.insert_schema(db, name, self.world.now_ms())
        return True

    def schemas(self) -> tuple[str, ...]:
        with self.database.reading() as db:
            names = name_store.schema_names(db)
            if self.principal == OWNER:
                return names
            return tuple(name for name in names if grant_store.sees_schema(db, self.principal, name))

    def drop_schema(self, schema: str) -> bool:
        name = checked_name(schema)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            known = name in name_store.schema_names(db)
            if not known or not grant_store.sees_schema(db, self.principal, name):
                return False
            self._require(db, Privilege.DROP, Securable(Scope.SCHEMA, name), f"drop the schema {name}")
            if name_store.is_schema_used(db, name) or transfer_store.is_schema_claimed(db, name):
                raise InvalidRequest(
                    f"the schema {name} is not empty: drop its tables and purge them; places that are "
                    "reserved for tables in the making go when they expire",
                    schema=name,
                )
            grant_store.revoke_all_on(db, Securable(Scope.SCHEMA, name))
            commit_rules.delete_rules_on(db, Securable(Scope.SCHEMA, name))
            name_store.delete_schema(db, name)
        return True

    def stage(self, name: TableName) -> StagingTable:
        name = normalize_name(name)
        table_id = TableId(self.world.uuid())
        with self.database.writing() as db:
            commit_store.lock_names(db)
            self._check_schema(db, name.schema)
            self._check_may_create(db, name)
            self._check_free(db, name)
            # The place is named by the id alone: a name in a path would have to be escaped and renamed.
            staging, now = StagingTable(table_id, table_id), self.world.now_ms()
            owner = None if self.principal == OWNER else str(self.principal)
            expires = now + STAGING_TTL_MS
            name_store.insert_staging(db, staging, name, now, expires_ms=expires, owner=owner)
        return StagingTable(table_id, self.absolute(table_id))

    def find_staging(self, table_id: TableId) -> StagingTable:
        with self.database.reading() as db:
            row = name_store.find_staging(db, table_id, self.world.now_ms())
            if row is None or not self._reserved(row.owner):  # as if there were none (no existence oracle)
                raise _not_staged_error(table_id, table_id)
            return StagingTable(table_id, self.absolute(row.location))

    def register(self, staging: StagingTable, name: TableName) -> TableEntry:
        name = normalize_name(name)
        first = self.first_commit(staging)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            existing = name_store.find_table(db, name)
            if existing is not None and existing.table_id == staging.table_id:
                return self.located(existing)
            self.register_in(db, staging, name, first)
            entry = name_store.find_table(db, name)
        if entry is None:
            raise table_not_found.no_table(staging.table_id)
        return self.located(entry)

    def register_in(
        self, db: Connection, staging: StagingTable, name: TableName, first: tuple[StoredCommit, Commit]
    ) -> None:
        """Name the staged table in the caller's transaction, which holds the lock of names."""
        record, says = first
        stamp = record.commit.in_commit_timestamp
        timestamp_rules.check_timestamp(ProposedTimestamp(stamp, EpochMillis(-1), self.world.now_ms()))
        name = normalize_name(name)
        self._check_schema(db, name.schema)
        self._check_may_create(db, name)
        self._check_free(db, name)
        row = name_store.find_staging(db, staging.table_id, self.world.now_ms())
        if row is not None and not self._reserved(row.owner):
            raise _not_staged_error(staging.table_id, str(name))
        if not name_store.make_live(db, staging.table_id, name, self.world.now_ms()):
            raise _not_staged_error(staging.table_id, str(name))
        grant_store.set_table_owner(db, staging.table_id, self.principal)
        new_commits.insert_commits(db, staging.table_id, [record], latest_change=Version(0))
        table_state.save_table_state(db, staging.table_id, says, before=Version(0))
        created = NewEvent(EventKind.CREATE, staging.table_id, str(name), Version(0), record.commit.txn_id)
        event_store.record_event(db, created, now_ms=self.world.now_ms())

    def resolve(self, name: TableName) -> TableEntry:
        with self.database.reading() as db:
            return self.find_table(db, name)

    def find_table(self, db: Connection, name: TableName) -> TableEntry:
        """The table of that name, in the caller's transaction; or ``TableNotFound``."""
        return self.located(self._find_visible(db, normalize_name(name)))

    def find_opening(self, db: Connection, name: TableName) -> TableOpening:
        """What opens the table of that name, its place not spelled out; or ``TableNotFound``."""
        name = normalize_name(name)
        found = opening.find_opening(db, name)
        seen = self._visible(db, () if found is None else (found.entry,))
        if found is None or not seen:
            raise self._not_found(db, name)
        return found

    def find_openings(self, db: Connection, names: Iterable[TableName]) -> list[TableOpening]:
        """What opens the tables of these names, their places not spelled out; or ``TableNotFound``."""
        wanted = [normalize_name(name) for name in names]
        found = opening.find_openings(db, wanted)
        seen = {entry.name for entry in self._visible(db, tuple(each.entry for each in found.values()))}
        for name in wanted:
            if name not in seen:
                raise self._not_found(db, name)
        return [found[name] for name in wanted]

    def resolve_id(self, table_id: TableId) -> TableEntry:
        with self.database.reading() as db:
            grant_store.require_visible(db, self.principal, table_id)
            found = transfer_store.find_live_table(db, table_id)
            if found is None:
                raise transfer_store.not_live_error(db, table_id)
            return self.located(found)

    def tables(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        with self.database.reading() as db:
            found = self._live_tables(db, checked_name(schema) if schema is not None else None)
        return tuple(self.located(entry) for entry in found)

    def rename(self, name: TableName, to: TableName) -> TableEntry:
        name, to = normalize_name(name), normalize_name(to)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            entry = self._find_visible(db, name)
            if to == name:
                return self.located(entry)
            self._check_may_drop(db, entry.table_id)
            self._check_schema(db, to.schema)
            self._check_may_create(db, to)
            self._check_free(db, to)
            name_store.rename_table(db, entry.table_id, to)
            happened = NewEvent(EventKind.RENAME, entry.table_id, str(to), details={"from": str(name)})
            event_store.record_event(db, happened, now_ms=self.world.now_ms())
            return self.find_table(db, to)

    def drop(self, name: TableName) -> TableEntry:
        name = normalize_name(name)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            entry = self._find_visible(db, name)
            commit_store.lock_table(db, entry.table_id)
            self.drop_in(db, entry.table_id)
        return self.located(entry)

    def share_log(self, name: TableName) -> TableEntry:
        """Let others publish versions of the table themselves; for good.

        All its versions must be published: from here on each is created in the log, after the one before.
        """
        found = self.resolve(name)
        name = found.name
        conditional_put_probe.require_conditional_puts(
            self.locate(found.location), file_names.PROBE_FOLDER
        )  # else both could win
        with self.database.writing() as db:
            commit_store.lock_names(db)
            entry = self._find_visible(db, name)
            commit_store.lock_table(db, entry.table_id)
            what = f"let others write the log of {name}"
            self._require(db, Privilege.ALTER_PROTOCOL, Securable(Scope.TABLE, entry.table_id), what)
            known = commit_store.find_head(db, entry.table_id)
            if known is None or known.head.latest > known.head.published:
                raise InvalidRequest(
                    f"not all versions of {name} are published: table.publish(), and share its log then"
                )
            name_store.make_log_shared(db, entry.table_id)
            return self.find_table(db, name)

    def check_may_purge(self, table_id: TableId) -> None:
        """``NotAllowed`` to whoever may not drop the table."""
        with self.database.reading() as db:
            self._check_may_drop(db, table_id)

    def dropped(self, schema: str | None = None) -> tuple[TableEntry, ...]:
        with self.database.reading() as db:
            found = name_store.dropped_tables(db, checked_name(schema) if schema is not None else None)
            found = self._visible(db, found)
        return tuple(self.located(entry) for entry in found)

    def undrop(
        self, name: TableName, *, table_id: TableId | None = None, to: TableName | None = None
    ) -> TableEntry:
        name, to = normalize_name(name), normalize_name(to or name)
        with self.database.writing() as db:
            commit_store.lock_names(db)
            found = self._visible(db, name_store.dropped_tables(db, name.schema, name.table))
            entry = next((each for each in found if table_id in (None, each.table_id)), None)
            if entry is None:
                raise TableNotFound(
                    f"no table {name} was dropped, or it was purged: lake.dropped() lists what is there",
                    name=str(name),
                )
            self._check_may_drop(db, entry.table_id)
            self._check_schema(db, to.schema)
            self._check_may_create(db, to)
            self._check_free(db, to)
            name_store.undrop_table(db, entry.table_id, to)
            happened = NewEvent(EventKind.UNDROP, entry.table_id, str(to))
            event_store.record_event(db, happened, now_ms=self.world.now_ms())
            return self.find_table(db, to)

    def drop_in(self, db: Connection, table_id: TableId) -> None:
        """Take a live table's name away in the caller's transaction, which holds the lock of names."""
        self._check_may_drop(db, table_id)
        name_store.make_dropped(db, table_id, self.world.now_ms())
        event_store.record_event(db, NewEvent(EventKind.DROP, table_id), now_ms=self.world.now_ms())

    def first_commit(self, staging: StagingTable) -> tuple[StoredCommit, Commit]:
        """Version 0 of a staged table, as it is written down and as what it says."""
        zero = Version(0)
        with self.database.reading() as db:
            row = name_store.find_row(db, staging.table_id)
            if row is None or not grant_store.owns_table(db, self.principal, staging.table_id):
                raise TableNotFound(f"nothing is staged as {staging.table_id}", name=staging.table_id)
        try:
            # Where it is, the catalog knows from the id, whatever the client says (T3).
            content = self.files(staging.table_id).read(file_names.published_path(zero))
        except ObjectNotFound as exc:
            raise InvalidRequest("a table is registered after its version 0 is written, not before") from exc
        first = codec.decode(zero, content)
        if first.protocol is None or not first.protocol.is_catalog_managed or first.info is None:
            raise InvalidRequest("version 0 of a catalog-managed table must say so in its protocol")
        txn_id, timestamp = first.info.txn_id, first.info.in_commit_timestamp
        if txn_id is None or timestamp is None:
            raise InvalidRequest("version 0 must have a commitInfo with a txnId and an inCommitTimestamp")
        with self.database.reading() as db:
            validation.check_first_commit(content, commit_rules.load_file_sources(db, staging.table_id))
        ratified = RatifiedCommit(zero, txn_id, timestamp, None)
        said = operation_name(first.info)
        return StoredCommit(ratified, len(content), fingerprint(content), said), first

    def _find_visible(self, db: Connection, name: TableName) -> TableEntry:
        found = name_store.find_table(db, name)
        seen = self._visible(db, () if found is None else (found,))  # asked of what is not there too (T14)
        if not seen:
            raise self._not_found(db, name)
        return seen[0]

    def _not_found(self, db: Connection, name: TableName) -> TableNotFound:
        """The error for a name that no table has, with those that may be meant."""
        beside = self._live_tables(db, name.schema)
        near = did_you_mean(name.table, (entry.name.table for entry in beside), prefix=f"{name.schema}.")
        if not near:
            alike = self._live_tables(db, table=name.table)
            near = did_you_mean(str(name), (str(entry.name) for entry in alike))
        return TableNotFound(
            f"there is no table {name}:{near} lake.tables() lists what there is", name=str(name)
        )

    def _live_tables(
        self, db: Connection, schema: str | None = None, table: str | None = None
    ) -> tuple[TableEntry, ...]:
        """Those the principal may see, picked by the database, which may have very many more (T10)."""
        return name_store.live_tables(db, grant_store.may_be_seen(self.principal), schema, table)

    def _visible(self, db: Connection, found: tuple[TableEntry, ...]) -> tuple[TableEntry, ...]:
        if self.principal == OWNER:
            return found
        seen = grant_store.visible_tables(db, self.principal, (entry.table_id for entry in found))
        return tuple(entry for entry in found if entry.table_id in seen)

    def _reserved(self, owner: str | None) -> bool:
        return self.principal in (OWNER, owner)

    def _check_may_create(self, db: Connection, name: TableName) -> None:
        self._require(db, Privilege.CREATE, Securable(Scope.SCHEMA, name.schema), f"make the table {name}")

    def _check_may_drop(self, db: Connection, table_id: TableId) -> None:
        grant_store.require_visible(db, self.principal, table_id)
        self._require(
            db,
            Privilege.DROP,
            Securable(Scope.TABLE, table_id),
            f"drop or rename {_shown_name(db, table_id)}",
        )

    def _require(self, db: Connection, privilege: Privilege, on: Securable, what: str) -> None:
        grant_store.require_privilege(db, self.principal, privilege, on, what)

    def _check_schema(self, db: Connection, schema: str) -> None:
        known = name_store.schema_exists(db, schema)
        if not known or not grant_store.sees_schema(db, self.principal, schema):
            raise SchemaNotFound(
                f"there is no schema {schema!r}: make it with lake.create_schema({schema!r})", name=schema
            )

    def _check_free(self, db: Connection, name: TableName) -> None:
        if name_store.is_name_taken(db, name) or transfer_store.is_name_reserved(
            db, name, self.world.now_ms()
        ):
            raise _name_taken_error(name)

    def absolute(self, location: str) -> str:
        """Where that is, which the catalog has written down."""
        return locations.absolute_location(location, self.warehouse)

    def files(self, location: str) -> Store:
        """The files of a table, by its location as the database has it."""
        return self.locate(self.absolute(location))

    def located(self, entry: TableEntry) -> TableEntry:
        """The entry with the place of its table spelled out."""
        return replace(entry, location=self.absolute(entry.location))


def _shown_name(db: Connection, table_id: TableId) -> str:
    row = name_store.find_row(db, table_id)
    return "the table" if row is None else f"the table {row.schema_name}.{row.table_name}"


def _not_staged_error(table_id: TableId, name: str) -> TableNotFound:
    return TableNotFound(
        f"nothing is staged as {table_id}, or its time is over and its files may be gone: make it anew",
        name=name,
    )


def _name_taken_error(name: TableName) -> TableExists:
    return TableExists(
        f"there is already a table {name}: choose another name or drop it first", name=str(name)
    )
