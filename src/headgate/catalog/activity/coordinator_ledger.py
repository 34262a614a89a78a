"""A coordinator's ledger in the database of a catalog: durable, shared by processes.

On PostgreSQL also by machines: one conditional update decides there as well. The tables are in no directory,
so who may use the ledger is granted on the lake.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    delete,
    insert,
    select,
    update,
)

from headgate.catalog.database.engine import Database
from headgate.catalog.ports.access import LAKE, OWNER, Principal, Privilege
from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.ports.ledger import (
    SCHEMA_VERSION,
    LedgerEntry,
    Registration,
    last_forgettable_version,
)
from headgate.catalog.store import grant_store
from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis, TxnId, Version

metadata = MetaData()

owned_tables = Table(
    "owned_tables",
    metadata,
    Column("table_id", String, primary_key=True),
    Column("location", String, nullable=False, index=True),
    Column("metadata_id", String, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("first_version", BigInteger, nullable=False),
    Column("next_version", BigInteger, nullable=False),
    Column("published", BigInteger, nullable=False),
    Column("accepting", Boolean, nullable=False),
)

owned_commits = Table(
    "owned_commits",
    metadata,
    Column("table_id", String, ForeignKey("owned_tables.table_id"), primary_key=True),
    Column("version", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
    Column("txn_id", String, nullable=False),
    Column("in_commit_timestamp", BigInteger, nullable=False),
    Column("folder", String, nullable=False),
    Column("file_name", String, nullable=False),
    UniqueConstraint("table_id", "txn_id", name="one_owned_version_per_transaction"),
)


@dataclass(frozen=True, slots=True)
class DatabaseLedger:
    """Ledgers of the same place are equal."""

    place: str
    database: Database = field(compare=False, repr=False)
    principal: Principal = field(default=OWNER, compare=False)
    """On whose behalf everything is asked."""

    def records(self, location: str) -> tuple[Registration, ...]:
        query = select(owned_tables).where(owned_tables.c.location == location)
        with self._reading() as db:
            return tuple(_registration(row) for row in db.execute(query))

    def open(self, record: Registration, *, abandoned: Iterable[str] = ()) -> None:
        with self._writing(Privilege.CREATE) as db:
            if given_up := sorted(abandoned):
                db.execute(
                    delete(owned_tables).where(
                        owned_tables.c.table_id.in_(given_up),
                        owned_tables.c.next_version == owned_tables.c.first_version,
                    )
                )
            if db.execute(select(1).where(owned_tables.c.table_id == record.table_id)).first():
                return
            db.execute(
                insert(owned_tables),
                {
                    "table_id": record.table_id,
                    "location": record.location,
                    "metadata_id": record.metadata_id,
                    "schema_version": record.schema_version,
                    "first_version": record.first,
                    "next_version": record.next,
                    "published": record.published,
                    "accepting": record.accepting,
                },
            )

    def find(self, table_id: str, txn_id: TxnId | None = None) -> LedgerEntry | None:
        mine = (owned_commits.c.table_id == table_id, owned_commits.c.txn_id == txn_id)
        with self._reading() as db:
            row = db.execute(select(owned_tables).where(owned_tables.c.table_id == table_id)).one_or_none()
            if row is None:
                return None
            found = db.execute(select(owned_commits).where(*mine)).one_or_none() if txn_id else None
            return LedgerEntry(_registration(row), None if found is None else _commit(found))

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        """One conditional update decides, whatever the isolation of the database."""
        if not isinstance(commit.where, StagedCommit):
            raise InvalidRequest("a coordinator is told of staged commits only")
        is_next = (
            owned_tables.c.table_id == table_id,
            owned_tables.c.next_version == commit.version,
            owned_tables.c.accepting.is_(True),
            owned_tables.c.schema_version == SCHEMA_VERSION,
        )
        with self._writing(Privilege.CHANGE_DATA) as db:
            moved = db.execute(
                update(owned_tables)
                .where(*is_next)
                .values(next_version=commit.version + 1, accepting=accepting)
            )
            if moved.rowcount != 1:
                return False
            db.execute(
                insert(owned_commits),
                {
                    "table_id": table_id,
                    "version": commit.version,
                    "txn_id": commit.txn_id,
                    "in_commit_timestamp": commit.in_commit_timestamp,
                    "folder": commit.where.folder,
                    "file_name": commit.where.file_name,
                },
            )
        return True

    def commits(self, table_id: str, start: Version) -> tuple[RatifiedCommit, ...]:
        query = (
            select(owned_commits)
            .where(owned_commits.c.table_id == table_id, owned_commits.c.version >= start)
            .order_by(owned_commits.c.version)
        )
        with self._reading() as db:
            return tuple(_commit(row) for row in db.execute(query))

    def publish(self, table_id: str, version: Version) -> None:
        behind = (
            owned_tables.c.table_id == table_id,
            owned_tables.c.published < version,
            owned_tables.c.next_version > version,
        )
        with self._writing(Privilege.CHANGE_DATA) as db:
            if db.execute(update(owned_tables).where(*behind).values(published=version)).rowcount == 0:
                return
            forgotten = owned_commits.c.version <= last_forgettable_version(version)
            db.execute(delete(owned_commits).where(owned_commits.c.table_id == table_id, forgotten))

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self.database.reading() as db:
            self._require(db, Privilege.READ)
            yield db

    @contextmanager
    def _writing(self, privilege: Privilege) -> Iterator[Connection]:
        with self.database.writing() as db:
            self._require(db, privilege)
            yield db

    def _require(self, db: Connection, privilege: Privilege) -> None:
        """Refuse whoever may not use the ledger, whatever it knows of the table (T14)."""
        if self.principal != OWNER:
            what = "ask the lake as the coordinator of a table"
            grant_store.require_privilege(db, self.principal, privilege, LAKE, what)


def _registration(row: Any) -> Registration:
    return Registration(
        row.table_id,
        row.location,
        row.metadata_id,
        first=Version(row.first_version),
        next=Version(row.next_version),
        published=Version(row.published),
        accepting=row.accepting,
        schema_version=row.schema_version,
    )


def _commit(row: Any) -> RatifiedCommit:
    return RatifiedCommit(
        Version(row.version),
        TxnId(row.txn_id),
        EpochMillis(row.in_commit_timestamp),
        StagedCommit(row.file_name, row.folder),
    )
