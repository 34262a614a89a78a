"""Places for tables that are being made: a client writes version 0 there, and names the table then."""

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from headgate.catalog.ports.directory import TableName
from headgate.catalog.wire.unity_api import CreateUnityStagingTable, UnityStagingTable
from headgate.protocol.log import file_names
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLakes
from headgate.storage.location_spelling import location_url
from headgate.storage.make_folder import make_folder


@post("/staging-tables", status_code=200, sync_to_thread=True)
def create_staging_table(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    data: JSONBody[CreateUnityStagingTable],
) -> UnityStagingTable:
    """Reserve a place; whoever asks twice gets two, and what is not used expires."""
    lake = lakes.find(data.catalog_name)
    staging = lake.catalog_for(caller.principal).stage(TableName(data.schema_name, data.name))
    make_folder(staging.location, file_names.STAGED_FOLDER)
    return UnityStagingTable(
        id=staging.table_id,
        name=data.name,
        catalog_name=lake.name,
        schema_name=data.schema_name,
        staging_location=location_url(staging.location),
    )
