"""Tables: listed, shown, made and dropped by their names of three parts.

DuckDB decides from the list whether a table is catalog-managed, so the rows of a list have all properties.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from litestar import Response, delete, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody

from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.directory import ExternalTable, TableEntry, TableName
from headgate.catalog.wire.unity_api import CreateUnityTable, UnityTable, UnityTables
from headgate.errors import HeadgateError, InvalidRequest, TableExists, TableNotFound
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake, ServedLakes
from headgate.server.routes.delta.session import DeltaSession, open_session
from headgate.server.routes.unity import first_version
from headgate.server.routes.unity.external_tables import EXTERNAL_TYPE, show_external, show_readable
from headgate.server.routes.unity.names import find_name
from headgate.server.routes.unity.paging import take_page
from headgate.server.routes.unity.schemas import require_schema
from headgate.server.routes.unity.shown_table import show_table
from headgate.storage import location_spelling

_LOG = logging.getLogger(__name__)
_MANAGED, _DELTA = "MANAGED", "DELTA"


@get("/tables", status_code=200, sync_to_thread=True)
def list_tables(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    catalog_name: FromQuery[str],
    schema_name: FromQuery[str],
    max_results: FromQuery[int | None] = None,
    page_token: FromQuery[str | None] = None,
) -> UnityTables:
    """The tables of a schema, as many of them as asked for."""
    lake = lakes.find(catalog_name)
    schema = require_schema(lake, caller, schema_name)
    catalog = lake.catalog_for(caller.principal)
    entries: list[TableEntry | ExternalTable] = [
        *catalog.tables(schema), *catalog.externals.external_tables(schema),
    ]  # fmt: skip
    entries.sort(key=lambda entry: entry.name.table)
    page, token = take_page(
        entries, lambda entry: entry.name.table, max_results=max_results, page_token=page_token
    )
    managed = _shown(lake, caller, (entry for entry in page if isinstance(entry, TableEntry)))
    others = show_readable(lake, (entry for entry in page if isinstance(entry, ExternalTable)))
    shown = sorted((*managed, *others), key=lambda table: table.name)
    return UnityTables(tables=tuple(shown), next_page_token=token)


@get("/tables/{full_name:str}", status_code=200, sync_to_thread=True)
def get_table(
    caller: NamedDependency[Caller],
    lakes: NamedDependency[ServedLakes],
    state: State,
    full_name: FromPath[str],
) -> UnityTable:
    """One table, published as far as it is ratified: Sail lists its log next, and wants no gap there."""
    lake, name = find_name(lakes, full_name)
    session = open_session(lake, caller, state)
    try:
        loaded = session.catalog.load(name)
    except TableNotFound as missing:
        return show_external(lake, _external(session.catalog, name, missing))
    if loaded.tail.latest > loaded.tail.published and not session.settings.strict:
        _publish(session, loaded.entry)
    return show_table(lake, caller, loaded.entry, loaded.tail)


@post("/tables", status_code=200, sync_to_thread=True)
def create_table(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], data: JSONBody[CreateUnityTable]
) -> UnityTable:
    """Name the table whose version 0 was written to the place reserved for it.

    What the table is, its version 0 says; what the request says of columns and properties is not needed,
    and clients that send none, such as Sail, get the table's id and features from the answer all the same.
    """
    lake = lakes.find(data.catalog_name)
    name = TableName(data.schema_name, data.name)
    catalog = lake.catalog_for(caller.principal)
    _check_request(data)
    if data.table_type.upper() == EXTERNAL_TYPE:
        return _register_external(lake, catalog, name, data.storage_location or "")
    entry = _register(lake, catalog, name, data)
    lake.catalog.copies.write_if_due()
    return show_table(lake, caller, entry, catalog.tail(entry.table_id))


@delete("/tables/{full_name:str}", status_code=200, sync_to_thread=True)
def delete_table(
    caller: NamedDependency[Caller], lakes: NamedDependency[ServedLakes], full_name: FromPath[str]
) -> Response[bytes]:
    """Drop a table, which can be had back until it is purged; of an ordinary one only the name goes."""
    lake, name = find_name(lakes, full_name)
    catalog = lake.catalog_for(caller.principal)
    try:
        catalog.drop(name)
    except TableNotFound as missing:
        catalog.externals.forget_external(_external(catalog, name, missing).name)
    lake.catalog.copies.write_now()
    return Response(b"", status_code=200)


def _external(catalog: LakeCatalog, name: TableName, missing: TableNotFound) -> ExternalTable:
    """The ordinary table of that name; if there is none, what was missing before."""
    try:
        return catalog.externals.find_external(name)
    except TableNotFound:
        raise missing from None


def _register_external(lake: ServedLake, catalog: LakeCatalog, name: TableName, location: str) -> UnityTable:
    """Name an ordinary table, which must be there: it is forgotten again if nobody can read it."""
    made = catalog.externals.register_external(name, location)
    try:
        return show_external(lake, made)
    except TableNotFound as exc:
        catalog.externals.forget_external(name)
        raise InvalidRequest(f"there is no Delta table at {location!r}: make it first") from exc


def _publish(session: DeltaSession, entry: TableEntry) -> None:
    """Publish what can be; what cannot, the catalog lists among its commits."""
    try:
        session.publish(entry)
    except HeadgateError as exc:
        _LOG.warning("a table is shown before all of it is published: %s", exc)


def _shown(lake: ServedLake, caller: Caller, entries: Iterable[TableEntry]) -> Iterator[UnityTable]:
    """What is there of these tables; one that is dropped while they are looked at is left out."""
    found = tuple(entries)
    tails = _tails(lake.catalog_for(caller.principal), [entry.table_id for entry in found])
    for entry in found:
        with suppress(TableNotFound):
            if entry.table_id in tails:
                yield show_table(lake, caller, entry, tails[entry.table_id])


def _tails(catalog: LakeCatalog, table_ids: list[TableId]) -> Mapping[TableId, Tail]:
    try:
        return catalog.tails(table_ids)
    except TableNotFound:  # one of them; which one is found out by asking for each
        found: dict[TableId, Tail] = {}
        for table_id in table_ids:
            with suppress(TableNotFound):
                found[table_id] = catalog.tail(table_id)
        return found


def _check_request(data: CreateUnityTable) -> None:
    if data.table_type.upper() == EXTERNAL_TYPE and not data.storage_location:
        raise InvalidRequest("an EXTERNAL table is somewhere already: say where, as storage_location")
    if data.table_type.upper() not in (_MANAGED, EXTERNAL_TYPE):
        raise InvalidRequest(
            f"a table of the type {data.table_type!r} cannot be made here: ask for a staging table, write "
            "version 0 to its location and make the table MANAGED"
        )
    if (data.data_source_format or _DELTA).upper() != _DELTA:
        raise InvalidRequest(
            f"UnsupportedTableFormatException: tables are Delta tables here, not {data.data_source_format}"
        )


def _register(lake: ServedLake, catalog: LakeCatalog, name: TableName, data: CreateUnityTable) -> TableEntry:
    """The table, now that it has its name, or since an earlier request whose answer was lost."""
    table_id = _reserved_id(catalog, data.storage_location or "")
    try:
        staging = catalog.find_staging(table_id)
    except TableNotFound:
        entry = catalog.resolve(name)
        if entry.table_id != table_id:
            raise TableExists(f"there is already a table {name}", name=str(name)) from None
        return entry
    first_version.ensure_version_0(staging, name, data, lake.world)
    return catalog.register(staging, name)


def _reserved_id(catalog: LakeCatalog, location: str) -> TableId:
    """The id for which a place was reserved: its last part. Where that is, the catalog knows itself."""
    root = location_spelling.comparable(catalog.warehouse)
    parent, _, table_id = location_spelling.comparable(location).rpartition("/")
    if not location or parent != root:
        raise InvalidRequest(
            f"nothing is reserved at {location!r}: ask for a staging table and use its staging_location"
        )
    return TableId(table_id)
