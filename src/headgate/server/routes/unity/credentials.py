"""With what does a client reach the files of a table? With nothing, where they are in a folder."""

from litestar import post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import JSONBody

from headgate.catalog.ports.commits import TableId
from headgate.catalog.wire.unity_api import AskPathCredentials, AskTableCredentials, UnityCredentials
from headgate.catalog.wire.unity_credentials import unity_credentials
from headgate.errors import NotAllowed, TableNotFound
from headgate.server.caller import Caller
from headgate.server.credentials import parse_operation, vend_for_table
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.unity.names import find_by_id
from headgate.storage import locations

_OF_PATHS = "PATH_"
"""How operations begin that are asked for by a path."""


@post("/temporary-table-credentials", status_code=200, sync_to_thread=True)
def table_credentials(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
    data: JSONBody[AskTableCredentials],
) -> UnityCredentials:
    """For a table, or the place that the caller has reserved for one."""
    operation, vendor = parse_operation(data.operation), state.credential_vendor
    lake, table_id, location = _find_table(lakes, caller, data.table_id)
    catalog = lake.catalog_for(caller.principal)
    return unity_credentials(vend_for_table(vendor, catalog, table_id, location, operation))


@post("/temporary-path-credentials", status_code=200, sync_to_thread=True)
def path_credentials(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
    data: JSONBody[AskPathCredentials],
) -> UnityCredentials:
    """For a place, if it is that of a table which the caller may see; what is vended is for that table."""
    wanted, operation = locations.canonical(data.url), parse_operation(data.operation.removeprefix(_OF_PATHS))
    for lake in lakes:
        catalog = lake.catalog_for(caller.principal)
        for entry in catalog.tables():
            if locations.is_within(wanted, locations.canonical(entry.location)):
                vendor, table_id = state.credential_vendor, entry.table_id
                return unity_credentials(vend_for_table(vendor, catalog, table_id, entry.location, operation))
    raise NotAllowed(f"no table that you may see is at {data.url!r}, so there are no credentials for it")


def _find_table(lakes: ServedLakes, caller: Caller, table_id: str) -> tuple[ServedLake, TableId, str]:
    for lake in lakes:
        try:
            staging = lake.catalog_for(caller.principal).find_staging(TableId(table_id))
            return lake, staging.table_id, staging.location
        except TableNotFound:
            continue
    for lake in lakes:
        for table in lake.catalog_for(caller.principal).externals.external_tables():
            if table.table_id == table_id:
                return lake, table.table_id, table.location
    lake, entry = find_by_id(lakes, caller, table_id)
    return lake, entry.table_id, entry.location
