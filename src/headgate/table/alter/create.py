"""Version 0 of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headgate.clock import World
from headgate.deferred import deferred
from headgate.errors import InvalidRequest, ObjectExists, TableExists
from headgate.protocol import protocol_upgrade, table_features
from headgate.protocol.actions import (
    Action,
    AddFile,
    CommitInfo,
    DomainMetadata,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.protocol.domains import rules
from headgate.protocol.domains.rules import DomainSettings
from headgate.protocol.features import coordinated_commits, identity_columns, row_tracking
from headgate.protocol.log import codec, file_names, in_commit_timestamps
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_properties, char_varchar
from headgate.protocol.metadata.alter_properties import PropertyChanges
from headgate.protocol.schema import column_mapping, enforcement
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Struct
from headgate.protocol.transaction.attempt import BLIND, Attempt
from headgate.storage.store import Store
from headgate.table.transaction import ENGINE, Operation

if TYPE_CHECKING:
    from headgate.protocol.features import clustering, coordinator_properties
    from headgate.protocol.features.coordinator_properties import PropertyCommand
    from headgate.protocol.metadata import declared_constraints, session_defaults, stored_expressions
    from headgate.protocol.metadata.implicit_changes import check_partitioning, normalize_partition_columns
    from headgate.protocol.schema import column_ids
    from headgate.storage import conditional_put_probe
else:
    clustering, coordinator_properties = deferred(
        "headgate.protocol.features", "clustering", "coordinator_properties"
    )
    PropertyCommand = deferred("headgate.protocol.features.coordinator_properties", "PropertyCommand")
    declared_constraints, session_defaults, stored_expressions = deferred(
        "headgate.protocol.metadata", "declared_constraints", "session_defaults", "stored_expressions"
    )
    check_partitioning, normalize_partition_columns = deferred(
        "headgate.protocol.metadata.implicit_changes", "check_partitioning", "normalize_partition_columns"
    )
    column_ids = deferred("headgate.protocol.schema", "column_ids")
    conditional_put_probe = deferred("headgate.storage", "conditional_put_probe")


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """What a new table shall be."""

    schema: Struct
    description: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)
    """What the catalog of the table wants it to say, which nobody may change."""
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    """The columns to cluster by, nested ones with dots."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """The properties that the session gives to new tables which do not say otherwise."""
    domains: Mapping[str, str] = field(default_factory=dict)
    """The metadata domains that it has from its first version on, and their configurations."""
    constraints: Mapping[str, str] = field(default_factory=dict)
    """The CHECK constraints that its rows must meet, by name."""


@dataclass(frozen=True, slots=True)
class InitialRows:
    """The rows that a new table has from the start."""

    operation: Operation
    adds: tuple[AddFile, ...] = ()
    others: tuple[Action, ...] = ()
    user_metadata: str | None = None


def no_initial_rows(*, managed: bool) -> InitialRows:
    """No rows, as CREATE TABLE leaves it."""
    return InitialRows(Operation("CREATE TABLE", {"isManaged": "true" if managed else "false"}))


def write_version_0(store: Store, definition: TableDefinition, *, managed: bool, world: World) -> None:
    """Initialise the table: protocol, metadata and nothing else.

    Raises ``TableExists`` if there is a table already.
    """
    write_first_commit(store, version_0(definition, managed=managed, world=world), managed=managed)


def version_0(definition: TableDefinition, *, managed: bool, world: World) -> bytes:
    """The first commit of such a table without rows, after checking that there can be one."""
    opening = initial_state(definition, managed=managed, world=world)
    return first_commit_content(opening, no_initial_rows(managed=managed), world=world)


@dataclass(frozen=True, slots=True)
class InitialState:
    """What a new table says of itself in its first commit."""

    protocol: Protocol
    metadata: Metadata
    domains: tuple[DomainMetadata, ...] = ()


def initial_state(definition: TableDefinition, *, managed: bool, world: World) -> InitialState:
    """Protocol, metadata and domains of a new table, after checking that there can be such a one."""
    coordinator_properties.check_set_properties(None, definition.properties, PropertyCommand.CREATE)
    changes = session_defaults.with_session_defaults(
        definition.properties, definition.defaults, owned=managed
    )
    coordinated_commits.check_added_features(changes.features)
    schema = identity_columns.without_high_water_marks(char_varchar.as_strings(definition.schema))
    metadata = Metadata(
        id=world.uuid(),
        description=changes.comment if definition.description is None else definition.description,
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(schema),
        partition_columns=normalize_partition_columns(definition.partition_by, schema),
        configuration={
            **_properties(definition, changes, managed=managed),
            **declared_constraints.constraint_properties(definition.constraints, schema),
        },
        created_time=EpochMillis(world.now_ms()),
    )
    enforcement.check_new_schema(
        schema, mapped=column_mapping.mapping_mode(metadata) is not ColumnMappingMode.NONE
    )
    check_partitioning(metadata.partition_columns, schema)
    identity_columns.check_identity_columns(metadata)
    metadata = column_ids.assign_column_ids(metadata, world.uuid)
    alter_properties.check_against_columns(metadata)
    metadata = alter_properties.with_materialized_row_columns(metadata, world.uuid)
    features = {*changes.features, table_features.CATALOG_MANAGED} if managed else set(changes.features)
    clustered = (
        (clustering.domain_from_names(definition.cluster_by, metadata),) if definition.cluster_by else ()
    )
    features |= {clustering.FEATURE} if clustered else set()
    user_domains = DomainSettings(definition.domains).actions
    features |= {rules.DOMAIN_METADATA} if user_domains else set()
    protocol = protocol_upgrade.protocol_for_new_table(metadata, asked=features, writer=changes.writer)
    table_features.check_writable(protocol, metadata)
    row_tracking.check_not_suspended(metadata)
    return InitialState(protocol, metadata, (*clustered, *user_domains))


def first_commit_content(opening: InitialState, contents: InitialRows, *, world: World) -> bytes:
    """The first commit of a table that starts so and has these rows."""
    stored_expressions.check_new_expressions(opening.metadata)
    now = EpochMillis(world.now_ms())
    info = CommitInfo(
        in_commit_timestamp=now if in_commit_timestamps.has_in_commit_timestamps(opening.metadata) else None,
        timestamp=now,
        operation=contents.operation.name,
        operation_parameters=contents.operation.parameters,
        isolation_level="Serializable",
        is_blind_append=True,
        operation_metrics=contents.operation.metrics,
        engine_info=ENGINE,
        txn_id=TxnId(world.uuid()),
        user_metadata=contents.user_metadata,
    )
    rows = _with_row_ids(opening, (*contents.others, *contents.adds), now)
    return codec.encode((info, opening.protocol, opening.metadata, *opening.domains, *rows))


def _with_row_ids(opening: InitialState, actions: tuple[Action, ...], now: EpochMillis) -> tuple[Action, ...]:
    """The actions, with row ids if the table tracks its rows."""
    if not row_tracking.is_supported(opening.protocol):
        return actions
    nothing = State(Version(-1), opening.protocol, opening.metadata, None)
    attempt = Attempt(nothing, nothing, "CREATE TABLE", BLIND, actions, now)
    return row_tracking.assign_row_ids(
        attempt, nothing, read_mark=row_tracking.NO_HIGH_WATER_MARK, lost=None, theirs={}
    )


def write_first_commit(store: Store, content: bytes, *, managed: bool) -> None:
    """Write the first commit; ``TableExists`` if there is a table already."""
    path = file_names.published_path(Version(0))
    if not managed:  # nobody else knows the place that a catalog has reserved
        conditional_put_probe.require_conditional_puts(store, file_names.PROBE_FOLDER)
    try:
        store.put_if_absent(path, content)
    except ObjectExists as exc:
        if store.read(path) != content:  # else ours, and only the answer to the first request was lost
            raise TableExists("there is a Delta table here already", name="") from exc


def _properties(definition: TableDefinition, asked: PropertyChanges, *, managed: bool) -> Mapping[str, str]:
    if managed:
        return alter_properties.properties_of_new_managed_table(asked.configuration, definition.required)
    if table_features.CATALOG_MANAGED in asked.features:
        raise InvalidRequest(
            "a catalog-managed table is made by its catalog, which must know of it: "
            "headgate.connect(…).create_table('schema.table', …)",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    return asked.configuration
