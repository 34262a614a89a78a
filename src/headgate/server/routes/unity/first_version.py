"""Who writes version 0 of a new table? Its client; and this server for clients that name a table first.

Sail asks for a place, names the table at once and writes when there are rows. Nobody could open such a table
until then, so its version 0 is written here, of the columns that the request has.
"""

from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.wire.unity_api import CreateUnityTable
from headgate.catalog.wire.unity_columns import columns_of_request, partition_columns_of_request
from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectNotFound, TableExists
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.protocol.metadata import alter_properties
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import create
from headgate.table.alter.create import TableDefinition

_FEATURE = "delta.feature."


def ensure_version_0(staging: StagingTable, name: TableName, data: CreateUnityTable, world: World) -> None:
    """Write version 0 if the client did not; if it does so now, it is the client's that counts."""
    store = locate(staging.location)
    if _has_version_0(store):
        return
    if not data.columns:
        raise InvalidRequest(
            f"there is no version 0 at {staging.location} and the request has no columns: write version 0 "
            "before naming the table, or say which columns it has"
        )
    definition = TableDefinition(
        columns_of_request(data.columns),
        description=data.comment,
        properties={
            key: value for key, value in (data.properties or {}).items() if not key.startswith(_FEATURE)
        },
        required=alter_properties.catalog_identity(staging.table_id, str(name)),
        partition_by=partition_columns_of_request(data.columns),
    )
    try:
        create.write_version_0(store, definition, managed=True, world=world)
    except TableExists:
        return


def _has_version_0(store: Store) -> bool:
    try:
        store.head(file_names.published_path(Version(0)))
    except ObjectNotFound:
        return False
    return True
