"""Version 0 of a table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headgate.clock import World
from headgate.errors import InvalidRequest, ObjectExists, TableExists
from headgate.protocol import codec, features, names
from headgate.protocol.actions import (
    CommitInfo,
    EpochMillis,
    Format,
    Metadata,
    Protocol,
    TxnId,
    Version,
)
from headgate.protocol.schema import enforce
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Primitive, Struct
from headgate.storage.api import Store
from headgate.table.transaction import ENGINE

_STAMPS = "delta.enableInCommitTimestamps"
_LEGACY = Protocol(min_reader_version=1, min_writer_version=2)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a new table shall be."""

    schema: Struct
    description: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def write_version_0(store: Store, definition: Definition, *, managed: bool, world: World) -> None:
    """Initialise the table: protocol, metadata and nothing else.

    Raises ``TableExists`` if there is a table already.
    """
    enforce.check_new(definition.schema)
    now = EpochMillis(world.now_ms())
    protocol = _protocol(definition.schema, managed=managed)
    metadata = Metadata(
        id=world.uuid(),
        description=definition.description,
        format=Format(provider="parquet", options={}),
        schema_string=schema_json.render(definition.schema),
        partition_columns=(),
        configuration=_properties(definition.properties, managed=managed),
        created_time=now,
    )
    features.check_writable(protocol, metadata)
    info = CommitInfo(
        in_commit_timestamp=now if managed else None,
        timestamp=now,
        operation="CREATE TABLE",
        operation_parameters={"isManaged": "true" if managed else "false"},
        isolation_level="Serializable",
        is_blind_append=True,
        operation_metrics={},
        engine_info=ENGINE,
        txn_id=TxnId(world.uuid()),
    )
    try:
        store.put_if_absent(names.published(Version(0)), codec.encode((info, protocol, metadata)))
    except ObjectExists as exc:
        raise TableExists("there is a Delta table here already", name="") from exc


def _protocol(schema: Struct, *, managed: bool) -> Protocol:
    needed = tuple(_needed_by(schema))
    if not managed and set(needed) <= {features.INVARIANTS}:
        return _LEGACY
    both = [features.TIMESTAMP_NTZ] if features.TIMESTAMP_NTZ in needed else []
    if managed:
        both += [features.CATALOG_MANAGED, features.VACUUM_PROTOCOL_CHECK]
    writers = [*both, *(name for name in needed if name not in both)]
    if managed:
        writers.append(features.IN_COMMIT_TIMESTAMP)
    return Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=tuple(sorted(both)),
        writer_features=tuple(sorted(writers)),
    )


def _needed_by(schema: Struct) -> list[str]:
    columns = list(features.fields_of(schema))
    needed = []
    if any(not column.nullable for column in columns):
        needed.append(features.INVARIANTS)
    if any(column.type == Primitive("timestamp_ntz") for column in columns):
        needed.append(features.TIMESTAMP_NTZ)
    return needed


def _properties(asked: Mapping[str, str], *, managed: bool) -> Mapping[str, str]:
    for key in asked:
        if key.startswith("delta."):
            raise InvalidRequest(
                f"the property {key!r} cannot be set when creating a table in this version of Headgate",
                code="DELTA_UNKNOWN_CONFIGURATION",
            )
    return {**asked, _STAMPS: "true"} if managed else dict(asked)
