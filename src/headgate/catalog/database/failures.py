"""What does it mean for the user that the catalog's database failed, and does trying again help?"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import DBAPIError

from headgate.errors import CatalogUnavailable, DatabaseUnusable


@dataclass(frozen=True, slots=True)
class DatabaseFailure:
    """One row: by what codes a database says so, and what is said of it."""

    codes: frozenset[int | str]
    """Primary result codes of SQLite, or SQLSTATEs of PostgreSQL."""
    says: str


FAILURES: tuple[DatabaseFailure, ...] = (
    DatabaseFailure(
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, "25006"}),
        "cannot be written to: it is read-only for this process, or was deleted or moved while it was open. "
        "Give this user the right to write to it and to its folder, or connect again",
    ),
    DatabaseFailure(
        frozenset({sqlite3.SQLITE_CANTOPEN, "3D000"}),
        "cannot be opened: it is not there, or not a file that this process may open. Correct the path, or "
        "give this user the right to read and write it and its folder",
    ),
    DatabaseFailure(
        frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}),
        "is not a database, or is damaged: put it back from a backup, or correct the path",
    ),
    DatabaseFailure(
        frozenset({sqlite3.SQLITE_FULL, "53100"}),
        "cannot grow, because its disk is full: make room there",
    ),
    DatabaseFailure(
        frozenset({"28000", "28P01", "42501"}),
        "does not let this user in, or not do this: correct user and password, or have the rights granted",
    ),
)


def unavailable_error(exc: DBAPIError, place: str) -> CatalogUnavailable:
    """The error for a failure that changed nothing, in the database at this place."""
    url = make_url(place)
    shown = url.database if url.get_backend_name() == "sqlite" else url.render_as_string()
    said = str(exc.orig).strip()
    for failure in FAILURES:
        if _code(exc) in failure.codes:
            return DatabaseUnusable(
                f"the catalog's database {shown} {failure.says}; nothing was changed ({said})"
            )
    return CatalogUnavailable(f"the catalog's database {shown} did not answer: {said}; try again")


def replaced_file_error(path: Path) -> DatabaseUnusable:
    """The error for a database whose file was deleted, moved or replaced while it was open."""
    return DatabaseUnusable(
        f"the catalog's database {path} was deleted, moved or replaced while it was open; nothing was "
        "changed: connect again, after putting it back from a backup if it is gone"
    )


def _code(exc: DBAPIError) -> int | str:
    if isinstance(exc.orig, sqlite3.Error):
        return getattr(exc.orig, "sqlite_errorcode", 0) & 0xFF  # what is above says more, and never less
    return getattr(exc.orig, "sqlstate", None) or ""
