"""What is a clone, given its source? Its metadata, protocol and domains.

It has the columns, the partitioning, the clustering and the properties of its source. It has nothing of
whose the source is and what happened to it: no coordinator, no id in a catalog, no word on since when
there are timestamps or which versions a checkpoint protects, no row ids, no domains of users (C6, S117).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import DomainMetadata, EpochMillis, Metadata, Protocol
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import clustering, coordinated_commits, coordinator_properties, row_tracking
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.log import log_retention
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_properties, kept_on_replace, table_properties
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES, PropertyChanges
from headgate.protocol.schema import column_mapping

PROPERTIES_NOT_CLONED = (
    table_properties.TIMESTAMP_PROPERTIES
    | CATALOG_PROPERTIES
    | {
        property_values.ROW_ID_COLUMN,
        property_values.ROW_COMMIT_VERSION_COLUMN,
        property_values.ROW_TRACKING_SUSPENDED,
        property_values.PROTECTED_BEFORE,
    }
)
"""What properties say of the source alone; that of coordinators is left by ``properties_copied_by_clone``.

The columns of row ids must have other names: what files have in them are ids of the source.
"""
FEATURES_NOT_CLONED = frozenset(
    {
        *(naming.feature for naming in coordinated_commits.FEATURE_NAMINGS),
        *coordinated_commits.REQUIRED_FEATURES,
        table_features.CATALOG_MANAGED,
        "catalogOwned-preview",
        log_retention.CHECKPOINT_PROTECTION,
        row_tracking.FEATURE,
        clustering.FEATURE,
    }
)
"""The features of the source that a clone has only if it needs them itself."""


@dataclass(frozen=True, slots=True)
class CloneMetadata:
    """What a clone says of itself."""

    protocol: Protocol
    metadata: Metadata
    domains: tuple[DomainMetadata, ...]

    @property
    def tracks_rows(self) -> bool:
        """Whether every file must have row ids."""
        return row_tracking.is_supported(self.protocol)


def new_clone(
    source: State,
    stated: Mapping[str, str],
    *,
    required: Mapping[str, str] | None,
    uuid: Callable[[], str],
    now: EpochMillis,
) -> CloneMetadata:
    """A new table that is a clone of ``source``, with these properties over its own.

    It is managed by a catalog, which requires properties of its own, or ordinary if none does.
    """
    coordinator_properties.check_set_properties(None, stated, PropertyCommand.CLONE)
    asked = alter_properties.parse(stated)
    if required is None:
        catalog_asks: Mapping[str, str] = {}
    else:
        alter_properties.properties_of_new_managed_table(asked.configuration, required)
        catalog_asks = {**required, property_values.IN_COMMIT_TIMESTAMPS: "true"}
    configuration = {**_cloned_properties(source), **asked.configuration, **catalog_asks}
    metadata = msgspec.structs.replace(
        source.metadata,
        id=uuid(),
        name=None,
        description=_comment(source, asked),
        configuration=configuration,
        created_time=now,
    )
    metadata = _complete(source, metadata, uuid)
    wanted = {*_features(source), *asked.features}
    wanted |= set() if required is None else {table_features.CATALOG_MANAGED}
    protocol = protocol_upgrade.protocol_for_new_table(metadata, asked=wanted, writer=asked.writer)
    table_features.check_writable(protocol, metadata)
    return CloneMetadata(
        protocol, metadata, lifecycle.domains_after_clone({}, source.domains, protocol=protocol)
    )


def replace_with_clone(
    now: State, source: State, stated: Mapping[str, str], *, uuid: Callable[[], str]
) -> CloneMetadata:
    """The table ``now`` once it is a clone of ``source``: its id and what its catalog depends on stay."""
    before = now.metadata
    coordinator_properties.check_set_properties(before.configuration, stated, PropertyCommand.CLONE)
    asked = alter_properties.parse(stated)
    _check_properties_kept(before, asked)
    metadata = msgspec.structs.replace(
        source.metadata,
        id=before.id,
        name=before.name,
        description=_comment(source, asked),
        configuration={**_cloned_properties(source), **asked.configuration, **_properties_kept(now, source)},
        created_time=before.created_time,
    )
    metadata = _complete(source, metadata, uuid)
    wanted = {*_features(source), *asked.features}
    protocol = protocol_upgrade.protocol_for_changed_table(
        now.protocol, metadata, asked=wanted, writer=asked.writer
    )
    if metadata.partition_columns and protocol.has(clustering.FEATURE):
        raise InvalidRequest(
            "the table has the feature clustering, with which a table cannot be partitioned as the source "
            "is: clone it to a new table",
            code="DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
        )
    table_features.check_writable(protocol, metadata)
    domains = lifecycle.domains_after_clone(now.domains, source.domains, protocol=protocol)
    return CloneMetadata(protocol, metadata, domains)


def _cloned_properties(source: State) -> dict[str, str]:
    taken = coordinator_properties.properties_copied_by_clone(source.metadata.configuration)
    return {name: value for name, value in taken.items() if name not in PROPERTIES_NOT_CLONED}


def _features(source: State) -> frozenset[str]:
    clustered = {clustering.FEATURE} if lifecycle.CLUSTERING_DOMAIN in source.domains else set()
    return (table_features.writer_features(source.protocol) - FEATURES_NOT_CLONED) | clustered


def _comment(source: State, asked: PropertyChanges) -> str | None:
    return source.metadata.description if asked.comment is None else asked.comment


def _check_properties_kept(before: Metadata, asked: PropertyChanges) -> None:
    stated = asked.configuration
    alter_properties.check_catalog_properties(
        before.configuration, {name: stated[name] for name in CATALOG_PROPERTIES & stated.keys()}
    )
    if property_values.is_switched_off(stated, property_values.IN_COMMIT_TIMESTAMPS):
        alter_properties.check_managed_change(before, {property_values.IN_COMMIT_TIMESTAMPS}, asked)


def _properties_kept(now: State, source: State) -> dict[str, str]:
    """What stays of the table's own properties."""
    kept = dict(kept_on_replace.kept_properties(now))
    present, copied = now.metadata.configuration, source.metadata.configuration
    if property_values.MAX_COLUMN_ID in kept and property_values.MAX_COLUMN_ID in copied:
        kept[property_values.MAX_COLUMN_ID] = str(
            max(int(kept[property_values.MAX_COLUMN_ID]), int(copied[property_values.MAX_COLUMN_ID]))
        )
    # Files of the table's own that come back with a clone of its clone have its own ids in them.
    return kept | {
        name: present[name]
        for name in (property_values.ROW_ID_COLUMN, property_values.ROW_COMMIT_VERSION_COLUMN)
        if name in present
    }


def _complete(source: State, metadata: Metadata, uuid: Callable[[], str]) -> Metadata:
    modes = column_mapping.mapping_mode(source.metadata), column_mapping.mapping_mode(metadata)
    if modes[0] is not modes[1]:
        raise InvalidRequest(
            f"a clone maps its columns as its source does, by {modes[0].value!r}, because it has the same "
            f"files: {property_values.COLUMN_MAPPING_MODE} cannot be {modes[1].value!r}; change it once the "
            "clone is there",
            code="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
        )
    alter_properties.check_against_columns(metadata)
    if property_values.flag(metadata, property_values.ROW_TRACKING):
        metadata = alter_properties.with_materialized_row_columns(metadata, uuid)
    else:
        left = {property_values.ROW_ID_COLUMN, property_values.ROW_COMMIT_VERSION_COLUMN}
        kept = {name: value for name, value in metadata.configuration.items() if name not in left}
        metadata = msgspec.structs.replace(metadata, configuration=kept)
    row_tracking.check_not_suspended(metadata)
    return metadata
