"""How is an ordinary table shown in the older API? As EXTERNAL, by what its own log says."""

from collections.abc import Iterable, Iterator

from headgate.catalog.ports.commits import TableState
from headgate.catalog.ports.directory import ExternalTable
from headgate.catalog.wire.unity_api import UnityTable
from headgate.catalog.wire.unity_columns import unity_columns
from headgate.errors import HeadgateError
from headgate.plugins import coordinators
from headgate.server.credentials import location_url
from headgate.server.lakes import ServedLake
from headgate.server.routes.unity.shown_table import protocol_properties
from headgate.storage.locate import locate
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.by_path import PathCommitter
from headgate.table.opened_table import OpenedTable

EXTERNAL_TYPE = "EXTERNAL"


def show_external(lake: ServedLake, table: ExternalTable) -> UnityTable:
    """An ordinary table; nothing among its properties says that a catalog decides its commits."""
    found = _opened(lake, table).describe()
    state = TableState(found.protocol, found.metadata)
    return UnityTable(
        name=table.name.table,
        catalog_name=lake.name,
        schema_name=table.name.schema,
        table_type=EXTERNAL_TYPE,
        data_source_format="DELTA",
        columns=unity_columns(state.metadata),
        storage_location=location_url(table.location),
        table_id=table.table_id,
        comment=state.metadata.description,
        properties=protocol_properties(state),
        created_at=table.created_ms,
        updated_at=table.created_ms,
    )


def show_readable(lake: ServedLake, tables: Iterable[ExternalTable]) -> Iterator[UnityTable]:
    """Those of them that can be read at the moment: what became of the others is not this lake's affair."""
    for table in tables:
        try:
            yield show_external(lake, table)
        except HeadgateError:
            continue


def _opened(lake: ServedLake, table: ExternalTable) -> OpenedTable:
    store, settings = locate(table.location), lake.settings
    find = coordinators.find_coordinator
    return OpenedTable(
        table.location,
        store,
        PathCommitter(table.location, store, find, world=lake.world, settings=settings),
        after_commit=PostCommitScheduler(settings),
        settings=settings,
        world=lake.world,
    )
