"""One SQLite file as the catalog's database: durable, shared by threads and processes."""

import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

from headgate.errors import CatalogUnavailable, CommitUnknown

_BUSY_SECONDS = 60
_LOOK_AGAIN_SECONDS = (0.0005, 0.003)
_MIGRATIONS = str(Path(__file__).with_name("migrations"))


class Database:
    """Transactions on one engine; writers of this process take turns instead of polling the file's lock."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one consistent state and changes nothing."""
        with _translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that holds the write lock from its beginning.

        Raises ``CatalogUnavailable`` if nothing was changed, and ``CommitUnknown`` if the
        database failed while committing.
        """
        with self._turn, _translated(), self._engine.connect() as connection:
            connection.execution_options(writing=True)
            transaction = connection.begin()
            try:
                yield connection
            except BaseException:
                transaction.rollback()
                raise
            try:
                transaction.commit()
            except DBAPIError as exc:
                raise CommitUnknown(f"the catalog failed while committing: {exc.orig}") from exc

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def open_sqlite(path: Path) -> Database:
    """The database in this file, made and brought to the newest schema if need be."""
    engine = create_engine(
        f"sqlite:///{path}", connect_args={"timeout": _BUSY_SECONDS}, pool_size=32, max_overflow=-1
    )
    event.listen(engine, "connect", _configure)
    event.listen(engine, "begin", _begin)
    database = Database(engine)
    with database.reading() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current != _newest_revision():
        with database.writing() as connection:
            command.upgrade(_alembic(connection), "head")
    return database


def _configure(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin, not by the driver
    cursor = connection.cursor()
    # WAL without FULL would lose acknowledged commits in a power cut.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    # A transaction that begins as a reader and then writes can fail on a lock it should have waited for.
    if connection.get_execution_options().get("writing", False):
        _begin_writing(connection)
    else:
        connection.exec_driver_sql("BEGIN")


def _begin_writing(connection: Connection) -> None:
    """Take the write lock, looking for it every millisecond or two.

    SQLite's own wait sleeps up to 100 ms between two looks: among many processes the lock would
    stand idle most of the time, and who has waited longest would look least often.
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
                time.sleep(random.uniform(*_LOOK_AGAIN_SECONDS))
            else:
                return
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # once more, for an error that SQLAlchemy knows
    finally:
        driver.execute(f"PRAGMA busy_timeout={_BUSY_SECONDS * 1000}")


def _alembic(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", _MIGRATIONS)
    config.attributes["connection"] = connection
    return config


def _newest_revision() -> str | None:
    return ScriptDirectory.from_config(_alembic()).get_current_head()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except DBAPIError as exc:
        raise CatalogUnavailable(f"the catalog's database did not answer: {exc.orig}; try again") from exc
