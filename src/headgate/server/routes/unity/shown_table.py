"""What does a table look like in the older API? Its row, with what its protocol says among its properties."""

from collections.abc import Mapping

from headgate.catalog.ports.commits import TableState, Tail
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.wire.unity_api import UnityTable
from headgate.catalog.wire.unity_columns import unity_columns
from headgate.server.caller import Caller
from headgate.server.lakes import ServedLake
from headgate.storage.location_spelling import location_url


def show_table(lake: ServedLake, caller: Caller, entry: TableEntry, tail: Tail) -> UnityTable:
    """A table by its entry and what its catalog tells of it; the log is read if that is not all."""
    state = tail.description or _read_state(lake, caller, entry)
    return UnityTable(
        name=entry.name.table,
        catalog_name=lake.name,
        schema_name=entry.name.schema,
        table_type="MANAGED",
        data_source_format="DELTA",
        columns=unity_columns(state.metadata),
        storage_location=location_url(entry.location),
        table_id=entry.table_id,
        comment=state.metadata.description,
        properties=shown_properties(entry, state),
        created_at=entry.created_ms,
        updated_at=max((commit.in_commit_timestamp for commit in tail.commits), default=entry.created_ms),
    )


def shown_properties(entry: TableEntry, state: TableState) -> Mapping[str, str]:
    """The properties of a table, and what its protocol and its id say as properties.

    By ``delta.feature.catalogManaged`` other engines know that they have to ask this server for commits.
    """
    return {**protocol_properties(state), "io.unitycatalog.tableId": entry.table_id}


def protocol_properties(state: TableState) -> dict[str, str]:
    """The properties of a table, and what its protocol says as properties."""
    protocol = state.protocol
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    return {
        **state.metadata.configuration,
        "delta.minReaderVersion": str(protocol.min_reader_version),
        "delta.minWriterVersion": str(protocol.min_writer_version),
        **{f"delta.feature.{feature}": "supported" for feature in sorted(features)},
    }


def _read_state(lake: ServedLake, caller: Caller, entry: TableEntry) -> TableState:
    _, opened = lake.tables_for(caller.principal).open(entry)
    found = opened.describe()
    return TableState(found.protocol, found.metadata)
