"""Version 0 of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectExists, TableExists
from headgate.protocol import (
    codec,
    coordination,
    features,
    names,
    property_changes,
    row_tracking,
    stamping,
    upgrade,
)
from headgate.protocol.actions import (
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    TxnId,
    Version,
)
from headgate.protocol.coordination import Command
from headgate.protocol.property_changes import Asked
from headgate.protocol.schema import enforce
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Struct
from headgate.storage import probe
from headgate.storage.api import Store
from headgate.table.transaction import ENGINE


@dataclass(frozen=True, slots=True)
class Definition:
    """What a new table shall be."""

    schema: Struct
    description: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)
    """What the catalog of the table wants it to say, which nobody may change."""


def write_version_0(store: Store, definition: Definition, *, managed: bool, world: World) -> None:
    """Initialise the table: protocol, metadata and nothing else.

    Raises ``TableExists`` if there is a table already.
    """
    place(store, version_0(definition, managed=managed, world=world), managed=managed)


def version_0(definition: Definition, *, managed: bool, world: World) -> bytes:
    """The first commit of such a table, after checking that there can be one."""
    enforce.check_new(definition.schema)
    now = EpochMillis(world.now_ms())
    coordination.check_set(None, definition.properties, Command.CREATE)
    asked = property_changes.parse(definition.properties)
    metadata = Metadata(
        id=world.uuid(),
        description=asked.comment if definition.description is None else definition.description,
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(definition.schema),
        partition_columns=(),
        configuration=_properties(definition, asked, managed=managed),
        created_time=now,
    )
    property_changes.check(metadata)
    metadata = property_changes.with_row_columns(metadata, world.uuid)
    wanted = {*asked.features, features.CATALOG_MANAGED} if managed else asked.features
    protocol = upgrade.of_new_table(metadata, asked=wanted, writer=asked.writer)
    features.check_writable(protocol, metadata)
    row_tracking.check(metadata)
    info = CommitInfo(
        in_commit_timestamp=now if stamping.has_stamps(metadata) else None,
        timestamp=now,
        operation="CREATE TABLE",
        operation_parameters={"isManaged": "true" if managed else "false"},
        isolation_level="Serializable",
        is_blind_append=True,
        operation_metrics={},
        engine_info=ENGINE,
        txn_id=TxnId(world.uuid()),
    )
    return codec.encode((info, protocol, metadata))


def place(store: Store, content: bytes, *, managed: bool) -> None:
    """Write the first commit; ``TableExists`` if there is a table already."""
    path = names.published(Version(0))
    if not managed:  # nobody else knows the place that a catalog has reserved
        probe.require_conditional_puts(store, names.PROBE)
    try:
        store.put_if_absent(path, content)
    except ObjectExists as exc:
        if store.read(path) != content:  # else ours, and only the answer to the first request was lost
            raise TableExists("there is a Delta table here already", name="") from exc


def _properties(definition: Definition, asked: Asked, *, managed: bool) -> Mapping[str, str]:
    if managed:
        return property_changes.of_new_managed_table(asked.configuration, definition.required)
    if features.CATALOG_MANAGED in asked.features:
        raise InvalidRequest(
            "a catalog-managed table is made by its catalog, which must know of it: "
            "headgate.connect(…).create_table('schema.table', …)",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    return asked.configuration
