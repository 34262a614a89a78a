"""Which ledger does the conf of a commit owner mean? That of the database of a lake, a folder or a server."""

from pathlib import Path

from headgate.catalog.activity.owner_ledger import DatabaseLedger
from headgate.catalog.database.engine import open_sqlite
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.targets import DATABASE_FILE, is_postgresql, without_password
from headgate.errors import InvalidRequest
from headgate.settings import DatabaseSettings


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
