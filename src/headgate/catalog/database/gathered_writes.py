"""Which small writes can wait for each other? What is said of published versions and of logs: nobody relies
on hearing it at once, and saying it again changes nothing.

A background publisher sees to the tables of a burst one after another. On SQLite, where writers queue for one
lock, each of its writes would take a turn among those who commit; so while it is ``gathering`` they are kept,
and done in one transaction for many tables:

    with writes.gathering():
        writes.run(orders, raise_watermark)      kept
        writes.run(stock, raise_watermark)       kept
                                                 both written, in one transaction

Where a writer holds only the rows of its table, as on PostgreSQL, each is done at once: many tables in a
transaction would hold each other up.

In ``benchmarks/many_tables.py`` the publisher takes 0.22 turns a commit with it, 0.8 without. That it makes
the run faster by itself is not shown: see ``benchmarks/NOTES.md``.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from headgate.catalog.database.engine import Database
from headgate.catalog.database.prepared_statements import PreparedStatement
from headgate.errors import CatalogUnavailable, CommitUnknown, HeadgateError

_LOG = logging.getLogger(__name__)
_SAVEPOINT = PreparedStatement(text("SAVEPOINT small_write"))
_RELEASE = PreparedStatement(text("RELEASE small_write"))
_ROLL_BACK = PreparedStatement(text("ROLLBACK TO small_write"))
_AT_ONCE = 32
"""How many are done together: whoever commits waits for all of them."""

SmallWrite = Callable[[Connection], None]


class GatheredWrites:
    """The small writes of one catalog; safe to share between threads, each of which gathers its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = threading.local()

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """A while at whose end the writes of this thread are done at the latest; raises if they cannot be."""
        if not self._database.has_one_writer or self._kept() is not None:
            yield
            return
        kept: list[SmallWrite] = []
        self._thread.kept = kept
        try:
            yield
            self._write(kept)
        finally:
            self._thread.kept = None

    def run(self, write: SmallWrite) -> None:
        """Do a write that may be done again, now or, in a thread that gathers, a little later."""
        kept = self._kept()
        if kept is None:
            with self._database.writing() as db:
                write(db)
            return
        kept.append(write)
        if len(kept) >= _AT_ONCE:
            self._write(kept)

    def _kept(self) -> list[SmallWrite] | None:
        kept: list[SmallWrite] | None = getattr(self._thread, "kept", None)
        return kept

    def _write(self, kept: list[SmallWrite]) -> None:
        """Do them all; one that is refused does not undo the others."""
        if not kept:
            return
        with self._database.writing() as db:
            for write in kept:
                try:
                    with _undone_if_refused(db):
                        write(db)
                except (CatalogUnavailable, CommitUnknown):
                    raise
                except HeadgateError as exc:
                    _LOG.info("nothing was written down of a table, which is no failure: %s", exc)
        kept.clear()


@contextmanager
def _undone_if_refused(db: Connection) -> Iterator[None]:
    """A part of a transaction that is undone by itself; any other failure undoes the transaction."""
    _SAVEPOINT.run(db, {})
    try:
        yield
    except HeadgateError:
        _ROLL_BACK.run(db, {})
        _RELEASE.run(db, {})
        raise
    _RELEASE.run(db, {})
