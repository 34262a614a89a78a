"""May somebody have credentials for a table's files? What is granted decides, before anything is minted."""

from sqlalchemy import Connection

from headgate.catalog.ports.access import WRITING_PRIVILEGES, Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.store import grant_store, name_store
from headgate.errors import NotAllowed
from headgate.storage.credentials import StorageOperation


def require_storage_access(
    db: Connection, principal: Principal, table_id: TableId, operation: StorageOperation
) -> None:
    """``TableNotFound`` if the caller may not see it, ``NotAllowed`` if it asks to write and may not."""
    grant_store.require_visible(db, principal, table_id)
    held = grant_store.table_privileges(db, principal, table_id)
    if operation is StorageOperation.READ_WRITE and not held & WRITING_PRIVILEGES:
        raise NotAllowed(
            f"{principal} may read the files of {_shown_name(db, table_id)} and not write them: ask for "
            f"{Privilege.MAINTAIN.value} to tend it, for {Privilege.APPEND.value} or another privilege that "
            "commits take to write to it, or for access to read",
            table_id=table_id,
        )


def _shown_name(db: Connection, table_id: TableId) -> str:
    row = name_store.find_row(db, table_id)
    return f"table {table_id}" if row is None else f"{row.schema_name}.{row.table_name}"
