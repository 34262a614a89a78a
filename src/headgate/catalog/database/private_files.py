"""Who may read the files of a catalog's database? Whoever made it, and nobody else.

It has the properties and statistics of all tables, and everybody who can write to it owns the lake. SQLite
gives its log and its shared memory the mode of the database, and so does this to the files beside them. A
database that is there keeps its mode: somebody may have given it to a group.
"""

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

_LOG = logging.getLogger(__name__)
PRIVATE_MODE = 0o600
_OTHERS_MASK = 0o077


def create_private_files(database: Path, *beside: Path) -> None:
    """Have a new database, and the files ``beside`` it, be for its owner alone, whatever the umask is."""
    if not _create_exclusively(database, PRIVATE_MODE):
        _warn(database)
    with suppress(OSError):
        mode = stat.S_IMODE(database.stat().st_mode)
        for path in beside:
            _create_exclusively(path, mode)


def _create_exclusively(path: Path, mode: int) -> bool:
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE_MODE)
    except OSError:  # it is there, or cannot be; SQLite says which
        return False
    try:
        os.fchmod(file, mode)
    finally:
        os.close(file)
    return True


def _warn(database: Path) -> None:
    with suppress(OSError):
        mode = stat.S_IMODE(database.stat().st_mode)
        if mode & _OTHERS_MASK:
            _LOG.warning(
                "%s can be read or written by others (mode %03o), who can so see or change the whole lake: "
                "chmod 600 it and the files beside it, unless that is meant",
                database,
                mode,
            )
