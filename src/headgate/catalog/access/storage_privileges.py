"""May somebody have credentials for a table's files? What is granted decides, before anything is minted."""

from sqlalchemy import Connection

from headgate.catalog.ports.access import Principal, Privilege
from headgate.catalog.ports.commits import TableId
from headgate.catalog.store import grant_store
from headgate.errors import NotAllowed
from headgate.storage.credentials import StorageOperation

_WRITERS = frozenset(
    {
        Privilege.APPEND,
        Privilege.CHANGE_DATA,
        Privilege.ALTER_SCHEMA,
        Privilege.ALTER_PROPERTIES,
        Privilege.ALTER_PROTOCOL,
        Privilege.MAINTAIN,
    }
)
"""Each of these is for commits, and every commit writes files."""


def require_storage_access(
    db: Connection, principal: Principal, table_id: TableId, operation: StorageOperation
) -> None:
    """``TableNotFound`` to who may not see the table, ``NotAllowed`` to who asks to write and may not."""
    grant_store.require_visible(db, principal, table_id)
    held = grant_store.table_privileges(db, principal, table_id)
    if operation is StorageOperation.READ_WRITE and not held & _WRITERS:
        raise NotAllowed(
            f"{principal} may read the files of table {table_id} and not write them: ask for "
            f"{Privilege.APPEND.value} or another privilege that commits take, or for access to read",
            table_id=table_id,
        )
