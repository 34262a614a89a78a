"""How is an ordinary table shown in the older API? As EXTERNAL, by what is published in its own log.

A coordinator that the log names is not asked. Whoever may write to the table's folder wrote that name and
its conf: it would send the server to any database, server or folder, with the secrets of the server's own
(T19).
"""

from collections.abc import Iterable, Iterator

from headgate.catalog.ports.commits import TableState
from headgate.catalog.ports.directory import ExternalTable
from headgate.catalog.wire.unity_api import UnityTable
from headgate.catalog.wire.unity_columns import unity_columns
from headgate.errors import HeadgateError
from headgate.server.lakes import ServedLake
from headgate.server.routes.unity.shown_table import protocol_properties
from headgate.storage.locate import locate
from headgate.storage.location_spelling import location_url
from headgate.table.commit.background import PostCommitScheduler
from headgate.table.commit.filesystem import FilesystemCommitter
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
    return OpenedTable(
        table.location,
        store,
        FilesystemCommitter(store),
        after_commit=PostCommitScheduler(settings),
        settings=settings,
        world=lake.world,
    )
