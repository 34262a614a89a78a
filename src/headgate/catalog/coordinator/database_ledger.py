"""Which ledger does the conf of a coordinator mean? That of the database of a lake, a folder or a server."""

from pathlib import Path

from headgate.catalog.activity.coordinator_ledger import DatabaseLedger
from headgate.catalog.database.engine import Database, open_sqlite
from headgate.catalog.database.postgresql import open_postgresql
from headgate.catalog.targets import DATABASE_FILE, is_postgresql, without_password
from headgate.errors import DatabaseUnusable, InvalidRequest
from headgate.settings import DatabaseSettings

_NO_LAKE = "HEADGATE_LAKE_NOT_FOUND"


def open_ledger(
    lake: str | Path, settings: DatabaseSettings | None = None, *, create: bool = True
) -> DatabaseLedger:
    """The ledger in the database of a lake, a folder or ``postgresql://…``.

    With ``create`` it is made if there is none; without, that is ``DatabaseUnusable``, and nothing is made.
    """
    place = without_password(str(lake))
    try:
        return DatabaseLedger(place, _open_database(str(lake), settings or DatabaseSettings(), create=create))
    except InvalidRequest as exc:
        if exc.code != _NO_LAKE:
            raise
        raise DatabaseUnusable(f"what the coordinator decided is not to be had: {exc.message}") from exc


def _open_database(lake: str, settings: DatabaseSettings, *, create: bool) -> Database:
    if is_postgresql(lake):
        return open_postgresql(lake, settings, create=create)
    root = Path(lake)
    if not root.is_absolute():
        raise InvalidRequest(
            f"{lake!r} is a relative path, and the conf of a coordinator is read by processes in other "
            "folders: write the absolute path of the lake"
        )
    if create:
        root.mkdir(parents=True, exist_ok=True)
    return open_sqlite(root / DATABASE_FILE, create=create)
