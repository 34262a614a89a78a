"""What is a table, in the words of the API? Its metadata, with the properties that a server derives.

The etag is a fingerprint of protocol, metadata and domains: it stays the same when rows are written and files
are published, and no two states of a table share one, however quickly they follow each other.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from headgate.catalog.ports.commits import TableId, TableState
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.serving import ReaderCatalog
from headgate.catalog.wire import delta_api, delta_columns, derived_properties
from headgate.catalog.wire.delta_api import TableMetadata
from headgate.protocol.actions import DomainMetadata, EpochMillis, Version
from headgate.protocol.domains.lifecycle import CLUSTERING_DOMAIN
from headgate.protocol.domains.rules import ROW_TRACKING_DOMAIN
from headgate.protocol.metadata import table_properties
from headgate.protocol.schema import json as schema_json
from headgate.storage.location_spelling import location_url

_MOST_REMEMBERED = 10_000
Domain = TypeVar("Domain")


@dataclass(frozen=True, slots=True)
class LastChange:
    """The last version that changed what the table is, and when that was."""

    version: Version
    moment: EpochMillis


class ChangeMoments:
    """When versions were committed, which never changes; safe to share between threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[TableId, Version], LastChange] = OrderedDict()

    def last_change(
        self, catalog: ReaderCatalog, table_id: TableId, version: Version | None
    ) -> LastChange | None:
        """That version with its timestamp; None if the catalog cannot tell."""
        if version is None:
            return None
        if known := self._known.get((table_id, version)):
            return known
        record = next(iter(catalog.commits(table_id, before=Version(version + 1), limit=1)), None)
        if record is None or record.version != version:
            return None
        found = self._known[table_id, version] = LastChange(version, record.in_commit_timestamp)
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return found


MOMENTS = ChangeMoments()


def describe_table(
    entry: TableEntry, state: TableState, changed: LastChange | None, *, extended: bool
) -> TableMetadata:
    """The table's metadata, with what is not in the API if ``extended``."""
    metadata = state.metadata
    return TableMetadata(
        etag=metadata_etag(entry.table_id, state),
        table_type=delta_api.MANAGED,
        table_uuid=entry.table_id,
        location=location_url(entry.location),
        created_time=entry.created_ms,
        updated_time=entry.created_ms if changed is None else max(entry.created_ms, changed.moment),
        columns=delta_columns.columns_to_wire(schema_json.parse(metadata.schema_string)),
        partition_columns=metadata.partition_columns,
        properties=_properties(entry.table_id, state, changed),
        last_commit_version=None if changed is None else changed.version,
        last_commit_timestamp_ms=None if changed is None else changed.moment,
        protocol=delta_api.protocol_body(state.protocol) if extended else None,
        domain_metadata=_configurations(state) if extended and state.domains is not None else None,
        comment=metadata.description if extended else None,
    )


def metadata_etag(table_id: TableId, state: TableState) -> str:
    """The same for the same metadata, and for no other; the mark of row ids is not part of it."""
    protocol = msgspec.structs.replace(
        state.protocol,
        reader_features=tuple(sorted(state.protocol.reader_features or ())),
        writer_features=tuple(sorted(state.protocol.writer_features or ())),
    )
    domains = {name: text for name, text in _configurations(state).items() if name != ROW_TRACKING_DOMAIN}
    what = msgspec.json.encode((table_id, protocol, state.metadata, domains), order="deterministic")
    return hashlib.sha256(what).hexdigest()[:32]


def clustering_columns(domains: Mapping[str, DomainMetadata]) -> tuple[tuple[str, ...], ...] | None:
    """The columns by which a table is clustered, as its log keeps them."""
    found = _decoded(domains.get(CLUSTERING_DOMAIN), delta_api.ClusteringDomain)
    return None if found is None else found.clustering_columns


def row_id_high_water_mark(domains: Mapping[str, DomainMetadata]) -> int | None:
    """The highest row id that was given."""
    found = _decoded(domains.get(ROW_TRACKING_DOMAIN), delta_api.RowTrackingDomain)
    return None if found is None else found.row_id_high_water_mark


def _decoded(action: DomainMetadata | None, kind: type[Domain]) -> Domain | None:
    if action is None or action.removed:
        return None
    try:
        return msgspec.json.decode(action.configuration, type=kind)
    except msgspec.DecodeError:
        return None


def _configurations(state: TableState) -> dict[str, str]:
    return {name: action.configuration for name, action in (state.domains or {}).items()}


def _properties(table_id: TableId, state: TableState, changed: LastChange | None) -> dict[str, str]:
    protocol, domains = state.protocol, state.domains or {}
    features = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    found = {
        **state.metadata.configuration,
        delta_api.UUID_PROPERTY: str(table_id),
        table_properties.MIN_READER: str(protocol.min_reader_version),
        table_properties.MIN_WRITER: str(protocol.min_writer_version),
        **{delta_api.FEATURE_PREFIX + name: delta_api.SUPPORTED for name in sorted(features)},
    }
    if columns := clustering_columns(domains):
        text = msgspec.json.encode(columns).decode()
        found |= dict.fromkeys(derived_properties.CLUSTERING_COLUMNS, text)
    if (mark := row_id_high_water_mark(domains)) is not None:
        found[derived_properties.ROW_ID_HIGH_WATER_MARK] = str(mark)
    if changed is not None:
        found |= {
            derived_properties.LAST_UPDATE: str(changed.version),
            derived_properties.LAST_COMMIT: str(changed.moment),
        }
    return found
