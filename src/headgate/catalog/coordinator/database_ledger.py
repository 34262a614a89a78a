"""A commit owner's ledger in the database of an embedded catalog: durable, shared by processes.

On PostgreSQL also by machines: one conditional update decides there as well.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
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

from headgate.catalog.coordinator import rules
from headgate.catalog.coordinator.ledger import LedgerEntry
from headgate.catalog.coordinator.rules import SCHEMA_VERSION, Registration
from headgate.catalog.database.engine import Database, open_sqlite
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.ports.commits import RatifiedCommit, StagedCommit
from headgate.catalog.targets import DATABASE_FILE, is_postgresql, without_password
from headgate.errors import InvalidRequest
from headgate.protocol.actions import EpochMillis, TxnId, Version
from headgate.settings import DatabaseSettings

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

    def records(self, location: str) -> tuple[Registration, ...]:
        query = select(owned_tables).where(owned_tables.c.location == location)
        with self.database.reading() as db:
            return tuple(_registration(row) for row in db.execute(query))

    def open(self, record: Registration, *, abandoned: Collection[str] = ()) -> None:
        with self.database.writing() as db:
            if abandoned:
                db.execute(
                    delete(owned_tables).where(
                        owned_tables.c.table_id.in_(sorted(abandoned)),
                        owned_tables.c.next_version == owned_tables.c.first_version,
                    )
                )
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
        with self.database.reading() as db:
            row = db.execute(select(owned_tables).where(owned_tables.c.table_id == table_id)).one_or_none()
            if row is None:
                return None
            found = db.execute(select(owned_commits).where(*mine)).one_or_none() if txn_id else None
            return LedgerEntry(_registration(row), None if found is None else _commit(found))

    def write(self, table_id: str, commit: RatifiedCommit, *, accepting: bool) -> bool:
        """One conditional update decides, whatever the isolation of the database."""
        if not isinstance(commit.where, StagedCommit):
            raise InvalidRequest("a commit owner is told of staged commits only")
        is_next = (
            owned_tables.c.table_id == table_id,
            owned_tables.c.next_version == commit.version,
            owned_tables.c.accepting.is_(True),
            owned_tables.c.schema_version == SCHEMA_VERSION,
        )
        with self.database.writing() as db:
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
        with self.database.reading() as db:
            return tuple(_commit(row) for row in db.execute(query))

    def publish(self, table_id: str, version: Version) -> None:
        behind = (owned_tables.c.table_id == table_id, owned_tables.c.published < version)
        with self.database.writing() as db:
            if db.execute(update(owned_tables).where(*behind).values(published=version)).rowcount == 0:
                return
            forgotten = owned_commits.c.version <= rules.last_forgettable_version(version)
            db.execute(delete(owned_commits).where(owned_commits.c.table_id == table_id, forgotten))


def open_ledger(lake: str | Path, settings: DatabaseSettings | None = None) -> DatabaseLedger:
    """The ledger in the database of a lake, a folder or ``postgresql://…``, which is made if need be."""
    if is_postgresql(str(lake)):
        return DatabaseLedger(
            without_password(str(lake)), open_postgresql(str(lake), settings or DatabaseSettings())
        )
    root = Path(lake)
    if not root.is_absolute():
        raise InvalidRequest(
            f"{str(lake)!r} is a relative path, and the conf of a commit owner is read by processes in other "
            "folders: write the absolute path of the lake"
        )
    root.mkdir(parents=True, exist_ok=True)
    return DatabaseLedger(str(root), open_sqlite(root / DATABASE_FILE))


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
