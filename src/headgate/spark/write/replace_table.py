"""REPLACE TABLE: another table under the same name and identity, with rows or without.

What was there stays readable as older versions. Properties become those that are asked for, save what a
catalog or a coordinator depends on; the protocol never asks for less than it did.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from pyspark.sql import DataFrame

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import EpochMillis, Metadata, Protocol, Version
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import (
    clustering,
    coordinated_commits,
    coordinator_properties,
    identity_columns,
    row_tracking,
)
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import (
    alter_properties,
    char_varchar,
    declared_constraints,
    kept_on_replace,
    session_defaults,
)
from headgate.protocol.metadata.alter_properties import PropertyChanges
from headgate.protocol.metadata.implicit_changes import check_partitioning, normalize_partition_columns
from headgate.protocol.schema import column_ids, column_mapping, enforcement
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.spark.calls import errors
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.write_options import WriteOptions
from headgate.spark.rules import identity_columns as spark_identity
from headgate.spark.scan import self_reads
from headgate.spark.write import append_overwrite, overwritten_files
from headgate.table.alter.create import TableDefinition
from headgate.table.commit import remove_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.transaction import Change, Operation

_PLAIN = WriteOptions()


@dataclass(frozen=True, slots=True)
class TableReplacement:
    """What comes in place of a table, and under which statement."""

    definition: TableDefinition
    rows: DataFrame | None = None
    or_create: bool = False
    options: WriteOptions = _PLAIN

    @property
    def operation(self) -> str:
        verb = "CREATE OR REPLACE TABLE" if self.or_create else "REPLACE TABLE"
        return verb if self.rows is None else f"{verb} AS SELECT"


@errors.translated_errors(errors.unreadable_file)
def replace_table(table: OpenedTable, new: TableReplacement) -> Version:
    """Replace a table; the version from which it is another."""
    base = table.snapshot(version=new.options.since)
    if new.rows is not None:
        base, _ = self_reads.base_and_reads(new.rows, table, base)
    state = base.state
    if property_values.flag(state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so it cannot be replaced: "
            "make another table",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )
    metadata, protocol = plan_replacement(table, state, new.definition)
    names = new.definition.cluster_by
    clustering_domains = (clustering.domain_from_names(names, metadata),) if names else ()
    domains = lifecycle.domains_after_replace(state.domains, clustering_domains)
    columns = lifecycle.clustering_columns({domain.domain: domain for domain in clustering_domains})
    removes = remove_actions.removals(
        overwritten_files.all_files(base).files, EpochMillis(table.world.now_ms())
    )
    written = data_file_writer.WrittenFiles("", (), 0)
    if new.rows is not None:
        enforcement.check_required_columns(
            append_overwrite.incoming_schema(new.rows), schema_json.parse(metadata.schema_string)
        )
        spark_identity.check_no_explicit_values(new.rows, metadata)
        written = data_file_writer.write_files(
            new.rows, table, metadata, clustering=columns, options=new.options.files
        )
        metadata = identity_columns.advance_high_water_marks(metadata, written.farthest)
    partitioned = msgspec.json.encode(list(metadata.partition_columns)).decode()
    parameters = {"isManaged": str(protocol.is_catalog_managed).lower(), "partitionBy": partitioned}
    changed = (protocol,) if protocol != state.protocol else ()
    meta = new.options.domain_settings.beside(state.protocol, (*changed, metadata, *domains))
    change = Change(
        Operation(new.operation, parameters, written.metrics if new.rows is not None else {}),
        (*meta, *removes, *written.adds),
        reads=overwritten_files.all_files(base).reads,
        user_metadata=new.options.user_metadata,
    )
    return append_overwrite.commit_or_discard(
        table, base, change, written=[written] if new.rows is not None else []
    )


def plan_replacement(
    table: OpenedTable, state: State, definition: TableDefinition
) -> tuple[Metadata, Protocol]:
    """Metadata and protocol of the table once it is replaced; refused if it cannot be."""
    before = state.metadata
    coordinator_properties.check_set_properties(
        before.configuration, definition.properties, PropertyCommand.REPLACE
    )
    _check_identity(state, alter_properties.parse(definition.properties), definition.properties)
    owned = state.protocol.is_catalog_managed or coordinated_commits.coordinator_of(before) is not None
    changes = session_defaults.with_session_defaults(definition.properties, definition.defaults, owned=owned)
    schema = identity_columns.without_high_water_marks(
        char_varchar.as_strings(column_ids.without_column_ids(definition.schema))
    )
    metadata = msgspec.structs.replace(
        before,
        description=changes.comment if definition.description is None else definition.description,
        schema_string=schema_json.render(schema),
        partition_columns=normalize_partition_columns(definition.partition_by, schema),
        configuration={
            **changes.configuration,
            **kept_on_replace.kept_properties(state),
            **declared_constraints.constraint_properties(definition.constraints, schema),
        },
    )
    enforcement.check_new_schema(
        schema, mapped=column_mapping.mapping_mode(metadata) is not ColumnMappingMode.NONE
    )
    check_partitioning(metadata.partition_columns, schema)
    identity_columns.check_identity_columns(metadata)
    if metadata.partition_columns and state.protocol.has(clustering.FEATURE):
        raise clustering.partitioning_error()
    metadata = column_ids.assign_column_ids(metadata, table.world.uuid)
    alter_properties.check_against_columns(metadata)
    metadata = alter_properties.with_materialized_row_columns(metadata, table.world.uuid)
    row_tracking.check_not_suspended(metadata)
    features = {*changes.features, *({clustering.FEATURE} if definition.cluster_by else ())}
    protocol = protocol_upgrade.protocol_for_changed_table(
        state.protocol, metadata, asked=features, writer=changes.writer
    )
    table_features.check_writable(protocol, metadata)
    return metadata, protocol


def _check_identity(state: State, asked: PropertyChanges, stated: Mapping[str, str]) -> None:
    if table_features.CATALOG_MANAGED in asked.features and not state.protocol.is_catalog_managed:
        raise InvalidRequest(
            "an ordinary table does not become a catalog-managed one by being replaced: make a new table in "
            "the catalog",
            code="DELTA_REPLACE_TABLE_WITH_CATALOG_MANAGED_NOT_SUPPORTED",
        )
    if state.protocol.is_catalog_managed:
        before = state.metadata
        kept = {
            name: asked.configuration[name] for name in alter_properties.CATALOG_PROPERTIES & stated.keys()
        }
        alter_properties.check_catalog_properties(before.configuration, kept)
        if property_values.is_switched_off(asked.configuration, property_values.IN_COMMIT_TIMESTAMPS):
            alter_properties.check_managed_change(before, {property_values.IN_COMMIT_TIMESTAMPS}, asked)
