"""A database as the catalog's memory: transactions that say what became of them, and its schema.

On SQLite, a file shared by threads and processes, there is one writer at a time, and what a transaction
wrote or saw is durable when it has ended (``sqlite_group_fsync.py``), so nobody is told of what a power
cut could undo. For that reason nothing is sent, published or deleted inside of one. On PostgreSQL
(``postgresql.py``) a writer holds the rows it locks.
"""

import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from enum import Enum, auto
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, Engine, RootTransaction, create_engine, event, inspect
from sqlalchemy.exc import DataError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from headgate import tracing
from headgate.catalog.database import failures, private_files
from headgate.catalog.database.kept_connections import MOST_KEPT, EngineConnections
from headgate.catalog.database.sqlite_group_fsync import GroupFsync, NotDurable
from headgate.catalog.database.sqlite_write_queue import WriteQueue
from headgate.deferred import deferred
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    InvalidRequest,
    UnsafeDatabase,
    UnsupportedFeature,
)

if TYPE_CHECKING:
    from headgate.catalog.database import schema_upgrade
else:
    schema_upgrade = deferred("headgate.catalog.database", "schema_upgrade")

_BUSY_SECONDS, _TURN_SECONDS = 60, 30
_LOCK_POLL_SECONDS = (0.0005, 0.003)
_ANY_READ = "SELECT 1 FROM sqlite_master LIMIT 1"
NEWEST_REVISION = "0011"
"""The schema that the newest of ``catalog/migrations`` makes, known without loading any."""
_REVISIONS = "alembic_version"
_SCHEMA_QUERY = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"

READ_OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"sqlite": {}, "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}}
)
WRITE_OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"sqlite": {}, "postgresql": {"isolation_level": "READ COMMITTED"}}
)
"""How a transaction begins on a server; a writer that waited for a row must see what its holder wrote."""

ROLLED_BACK_SQLSTATES = ("23", "40001", "40002", "40P01", "57014")
"""SQLSTATEs, or classes of them, by which a server answers a commit when it has undone everything."""


class TransactionKind(Enum):
    """What a transaction may do."""

    READING = auto()
    WRITING = auto()


class Database:
    """Transactions on one engine."""

    def __init__(
        self,
        engine: Engine,
        *,
        turns: WriteQueue | None = None,
        syncs: GroupFsync | None = None,
        begin: Callable[[Connection, TransactionKind], None] = lambda _connection, _kind: None,
        before_commit: Callable[[Connection], None] = lambda _connection: None,
        require_file: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._connections = EngineConnections(engine)
        self._kind = engine.dialect.name
        self._place = engine.url.render_as_string()
        self._turns = turns
        self._syncs = syncs
        # No listener of the engine: one alone costs every connection a tenth of a commit.
        self._begin = begin
        self._before_commit = before_commit
        self._require_file = require_file
        self.writes = 0
        """Greater after every transaction that may have changed something; not a count."""

    @property
    def has_one_writer(self) -> bool:
        """Whether a writer keeps all others waiting, and not only those of the same table."""
        return self._kind == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one consistent state and changes nothing."""
        self._require_file()
        options = READ_OPTIONS[self._kind]
        with _translated_errors(self._place), self._connections.lent(options) as connection:
            begun = 0
            try:
                with connection.begin():
                    self._begin(connection, TransactionKind.READING)
                    begun = self._last_begun_commit()
                    yield connection
            finally:
                self._wait(begun)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may change something; SQLite's write lock is held from its beginning.

        Raises ``CatalogUnavailable`` if nothing was changed, and ``CommitUnknown`` if the
        database failed while committing.
        """
        self._require_file()
        with (
            tracing.span("headgate.database.transaction", {"db.system": self._kind}),
            _translated_errors(self._place),
            self._connections.lent(WRITE_OPTIONS[self._kind]) as connection,
        ):
            number = 0
            try:
                with self._turn():
                    transaction = connection.begin()
                    try:
                        self._begin(connection, TransactionKind.WRITING)
                        number, before = self._last_begun_commit(), self._changes(connection)
                        yield connection
                        self._before_commit(connection)
                        if self._syncs is not None and self._changes(connection) != before:
                            number = self._syncs.begin()
                    except BaseException:
                        transaction.rollback()
                        raise
                    self._commit(transaction, number)
            except CommitUnknown:  # it tells nothing of what was seen
                raise
            except BaseException:
                self._wait(number)
                raise
            try:
                self._wait(number)
            except NotDurable as exc:
                raise CommitUnknown(f"the catalog committed, and its disk may lose it: {exc}") from exc

    def _commit(self, transaction: RootTransaction, number: int) -> None:
        self.writes += 1
        try:
            transaction.commit()
        except DBAPIError as exc:
            if _sqlstate(exc).startswith(ROLLED_BACK_SQLSTATES):
                raise
            raise CommitUnknown(f"the catalog failed while committing: {exc.orig}") from exc
        finally:
            if self._syncs is not None:
                self._syncs.end(number)

    def _changes(self, connection: Connection) -> int:
        """How many rows were ever changed; a change of the schema comes with the row that names it."""
        driver: Any = connection.connection.dbapi_connection  # the pool's view of it is untyped
        return 0 if self._syncs is None else int(driver.total_changes)

    def _last_begun_commit(self) -> int:
        return 0 if self._syncs is None else self._syncs.last_begun_commit()

    def _wait(self, number: int) -> None:
        if self._syncs is not None:
            self._syncs.wait(number)

    def _turn(self) -> AbstractContextManager[None]:
        return nullcontext() if self._turns is None else self._turns.turn()

    def connections_in_use(self) -> float:
        """How many connections are in use at the moment."""
        return self._connections.in_use()

    def revision(self) -> str | None:
        """The schema of the database; None if it has none yet."""
        with self.reading() as connection:
            if not inspect(connection).has_table(_REVISIONS):
                return None
            found: str | None = connection.exec_driver_sql(f"SELECT version_num FROM {_REVISIONS}").scalar()
            return found

    def migrate(self, prepare: Callable[[Connection], None] = lambda _connection: None) -> None:
        """Bring the database to the newest schema, if it is older.

        ``prepare`` begins the transaction that does so; it must keep out all who want the same.
        """
        current = self.revision()
        if current == NEWEST_REVISION:
            return
        if current is not None and not schema_upgrade.is_known_revision(current):
            raise UnsupportedFeature(
                f"the catalog's database has the schema {current} of a newer release of Headgate: upgrade "
                "Headgate here too",
                code="HEADGATE_DATABASE_TOO_NEW",
            )
        with self.writing() as connection:
            prepare(connection)
            schema_upgrade.upgrade(connection)

    def close(self) -> None:
        """Give the connections back."""
        if self._turns is not None:
            self._turns.close()
        if self._syncs is not None:
            self._syncs.close()
        self._connections.close()


def open_sqlite(path: Path, *, create: bool = True) -> Database:
    """The database in this file, brought to the newest schema if need be.

    With ``create`` it is made if there is none, for its owner alone (``private_files.py``); without, what has
    no lake is left as it is.
    """
    if not create:
        _require_lake(path)
    turn = path.with_name(f"{path.name}-turn")
    private_files.create_private_files(path, turn)
    # From parts: in a text, a mark in the name of a folder would end the path and be another file.
    url = URL.create("sqlite", database=str(path))
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS}, pool_size=MOST_KEPT, max_overflow=-1)
    turns, syncs, opened = WriteQueue(turn, patience=_TURN_SECONDS), GroupFsync(path), _file_identity(path)

    def require_file() -> None:
        if (
            _file_identity(path) != opened
        ):  # what is written to a file without a name is gone with the process
            raise failures.replaced_file_error(path)

    event.listen(engine, "connect", partial(_configure, syncs))
    database = Database(engine, turns=turns, syncs=syncs, begin=_begin, require_file=require_file)
    database.migrate()
    return database


def _require_lake(path: Path) -> None:
    """Look whether a file is the database of a lake, without making or changing any."""
    place = URL.create("sqlite", database=str(path)).render_as_string()
    with _translated_errors(place):
        is_lake = path.is_file() and _has_schema(path)  # to open a pipe would wait for its other end
    if not is_lake:
        raise InvalidRequest(
            f"there is no lake in {str(path.parent)!r}: headgate.connect(…) makes one, and so does giving "
            "a table to a coordinator there",
            code="HEADGATE_LAKE_NOT_FOUND",
        )


def _has_schema(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as driver:
            return driver.execute(_SCHEMA_QUERY, (_REVISIONS,)).fetchone() is not None
    except sqlite3.Error as exc:
        raise DBAPIError.instance(_SCHEMA_QUERY, (), exc, sqlite3.Error) from exc


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Which file that is, whatever it is called; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _configure(syncs: GroupFsync, connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin, not by the driver
    cursor = connection.cursor()
    ((journal,),) = cursor.execute("PRAGMA journal_mode=WAL")
    # With NORMAL a commit to the log is not synced: then whoever commits must wait for that, or a power cut
    # would undo what was acknowledged.
    leaves_sync = syncs.are_shared and journal == "wal"
    cursor.execute(f"PRAGMA synchronous={'NORMAL' if leaves_sync else 'FULL'}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin(connection: Connection, kind: TransactionKind) -> None:
    # A transaction that begins as a reader and then writes can fail on a lock it should have waited for.
    if kind is TransactionKind.WRITING:
        _begin_writing(connection)
    else:
        _begin_reading(connection)


def _begin_reading(connection: Connection) -> None:
    """Take the snapshot, too: SQLite would wait for the first statement."""
    driver: Any = connection.connection.dbapi_connection
    try:
        driver.execute("BEGIN")
        driver.execute(_ANY_READ).fetchone()
    except sqlite3.Error as exc:
        raise DBAPIError.instance(_ANY_READ, (), exc, sqlite3.Error) from exc


def _begin_writing(connection: Connection) -> None:
    """Take the write lock, looking for it every millisecond or two.

    SQLite's own wait sleeps up to 100 ms between two looks: among many processes the lock would
    stand idle most of the time, and whoever has waited longest would look least often.
    """
    driver: Any = connection.connection.dbapi_connection  # the pool's view of it is untyped
    deadline = time.monotonic() + _BUSY_SECONDS
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while time.monotonic() < deadline:
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as exc:
                if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
                time.sleep(random.uniform(*_LOCK_POLL_SECONDS))
            else:
                return
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # once more, for an error that SQLAlchemy knows
    finally:
        driver.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")


def _sqlstate(exc: DBAPIError) -> str:
    return getattr(exc.orig, "sqlstate", None) or ""


@contextmanager
def _translated_errors(place: str) -> Iterator[None]:
    try:
        yield
    except DataError as exc:
        raise InvalidRequest(
            f"the catalog's database cannot hold a value of this request: {exc.orig}"
        ) from exc
    except DBAPIError as exc:
        raise failures.unavailable_error(exc, place) from exc
    except NotDurable as exc:
        raise UnsafeDatabase(f"what the catalog's database has may not be durable: {exc}") from exc
    except PoolTimeout as exc:
        raise CatalogUnavailable(
            "all connections to the catalog's database were busy for too long: try again, or allow more with "
            "Settings(database=DatabaseSettings(connections=…))"
        ) from exc
