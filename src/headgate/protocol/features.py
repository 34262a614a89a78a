"""Which table features exist, what switches each on, and what Headgate can do with them.

One row per feature. A feature that is merely listed costs nothing; one that a protocol demands
and Headgate does not support is refused by name.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headgate.errors import UnsupportedFeature
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import Array, DataType, Field, Map, Struct

CATALOG_MANAGED = "catalogManaged"
IN_COMMIT_TIMESTAMP = "inCommitTimestamp"
VACUUM_PROTOCOL_CHECK = "vacuumProtocolCheck"
INVARIANTS = "invariants"
TIMESTAMP_NTZ = "timestampNtz"

MAX_READER_VERSION = 3
MAX_WRITER_VERSION = 7


def _always(_: Metadata) -> bool:
    return True


def _property(name: str) -> Callable[[Metadata], bool]:
    return lambda metadata: metadata.configuration.get(name, "").lower() == "true"


def _any_property(prefix: str) -> Callable[[Metadata], bool]:
    return lambda metadata: any(key.startswith(prefix) for key in metadata.configuration)


def _field_key(prefix: str) -> Callable[[Metadata], bool]:
    return lambda metadata: any(
        key.startswith(prefix) for field in fields(metadata) for key in field.metadata
    )


def _column_mapping(metadata: Metadata) -> bool:
    return metadata.configuration.get("delta.columnMapping.mode", "none").lower() != "none"


def _invariant_expressions(metadata: Metadata) -> bool:
    return any("delta.invariants" in field.metadata for field in fields(metadata))


@dataclass(frozen=True, slots=True)
class Feature:
    """One row: its name, who must know it, the legacy writer version that implies it, our support."""

    name: str
    reader: bool
    legacy_writer: int | None
    active: Callable[[Metadata], bool]
    can_read: bool
    can_write: bool


FEATURES: tuple[Feature, ...] = (
    Feature("appendOnly", False, 2, _property("delta.appendOnly"), True, True),
    Feature(INVARIANTS, False, 2, _invariant_expressions, True, False),
    Feature("checkConstraints", False, 3, _any_property("delta.constraints."), True, False),
    Feature("changeDataFeed", False, 4, _property("delta.enableChangeDataFeed"), True, True),
    Feature("generatedColumns", False, 4, _field_key("delta.generationExpression"), True, False),
    Feature("columnMapping", True, 5, _column_mapping, True, False),
    Feature("identityColumns", False, 6, _field_key("delta.identity."), True, False),
    Feature("deletionVectors", True, None, _always, True, False),
    Feature("rowTracking", False, None, _always, True, False),
    Feature(TIMESTAMP_NTZ, True, None, _always, True, True),
    Feature("domainMetadata", False, None, _always, True, True),
    Feature("v2Checkpoint", True, None, _always, True, False),
    Feature(IN_COMMIT_TIMESTAMP, False, None, _always, True, True),
    Feature(VACUUM_PROTOCOL_CHECK, True, None, _always, True, True),
    Feature(CATALOG_MANAGED, True, None, _always, True, True),
    Feature("coordinatedCommits-preview", False, None, _always, True, False),
    Feature("clustering", False, None, _always, True, False),
    Feature("typeWidening", True, None, _always, True, False),
    Feature("typeWidening-preview", True, None, _always, True, False),
    Feature("allowColumnDefaults", False, None, _field_key("CURRENT_DEFAULT"), True, False),
    Feature("variantType", True, None, _always, True, False),
    Feature("variantType-preview", True, None, _always, True, False),
    Feature("variantShredding", True, None, _always, True, False),
    Feature("variantShredding-preview", True, None, _always, True, False),
)
_BY_NAME = {feature.name: feature for feature in FEATURES}


def check_readable(protocol: Protocol, metadata: Metadata) -> None:
    """Refuse to read a table that demands what Headgate cannot do, naming it."""
    if protocol.min_reader_version > MAX_READER_VERSION:
        raise _version_refused(protocol, "read")
    _check_well_formed(protocol)
    listed = protocol.reader_features or ()
    implied = ("columnMapping",) if protocol.min_reader_version == _COLUMN_MAPPING_READER else ()
    refused = tuple(name for name in (*listed, *implied) if not _supported(name, metadata, reading=True))
    if refused:
        raise UnsupportedFeature(
            f"the table needs {', '.join(refused)}, which this version of Headgate cannot read",
            features=refused, operation="read",
        )  # fmt: skip
    if _column_mapping(metadata) and "columnMapping" not in (*listed, *implied):
        raise UnsupportedFeature(
            "the table maps its columns, but its protocol does not tell readers so; by the letter every "
            "column would be null: have its writer add columnMapping to the reader features",
            code="DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
            features=("columnMapping",), operation="read",
        )  # fmt: skip


def _check_well_formed(protocol: Protocol) -> None:
    """Refuse a protocol that contradicts itself: nobody can tell what it asks for."""
    readers, writers = protocol.reader_features, protocol.writer_features
    problems = {
        "names reader features below reader version 3": readers and protocol.min_reader_version < 3,
        "names no reader features at reader version 3": readers is None and protocol.min_reader_version == 3,
        "names writer features below writer version 7": writers and protocol.min_writer_version < 7,
        "names no writer features at writer version 7": writers is None and protocol.min_writer_version == 7,
        "has reader version 3 with a writer version below 7": protocol.min_reader_version == 3
        and protocol.min_writer_version < 7,
        "names a feature for readers that it does not name for writers": set(readers or ())
        - set(writers or ()),
    }
    if found := [problem for problem, holds in problems.items() if holds]:
        raise UnsupportedFeature(
            f"the table's protocol is malformed: it {'; it '.join(found)}",
            code="DELTA_INVALID_PROTOCOL_VERSION", features=tuple(readers or ()), operation="read",
        )  # fmt: skip


def check_writable(protocol: Protocol, metadata: Metadata) -> None:
    """Refuse to write to a table that demands what Headgate cannot do, naming it."""
    check_readable(protocol, metadata)
    if protocol.min_writer_version > MAX_WRITER_VERSION:
        raise _version_refused(protocol, "write")
    names = tuple(_demanded_of_writers(protocol))
    refused = tuple(name for name in names if not _supported(name, metadata, reading=False))
    if refused:
        raise UnsupportedFeature(
            f"the table needs {', '.join(refused)}, which this version of Headgate cannot write; "
            "reading it works",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            features=refused, operation="write",
        )  # fmt: skip
    if metadata.partition_columns:
        raise UnsupportedFeature(
            "this version of Headgate cannot write partitioned tables; reading them works",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            features=("partitionColumns",), operation="write",
        )  # fmt: skip


def fields(metadata: Metadata) -> Iterator[Field]:
    """Every column of the table, nested ones too."""
    return fields_of(schema_json.parse(metadata.schema_string))


def fields_of(schema: Struct) -> Iterator[Field]:
    """Every column of a schema, nested ones too."""
    return _fields(schema)


_COLUMN_MAPPING_READER = 2


def _demanded_of_writers(protocol: Protocol) -> Iterator[str]:
    if protocol.writer_features is not None:
        yield from protocol.writer_features
        return
    for feature in FEATURES:
        if feature.legacy_writer is not None and feature.legacy_writer <= protocol.min_writer_version:
            yield feature.name


def _supported(name: str, metadata: Metadata, *, reading: bool) -> bool:
    feature = _BY_NAME.get(name)
    if feature is None:
        return False
    able = feature.can_read if reading else feature.can_write
    return able or not feature.active(metadata)


def _version_refused(protocol: Protocol, operation: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"the table's protocol is ({protocol.min_reader_version}, {protocol.min_writer_version}), "
        f"above ({MAX_READER_VERSION}, {MAX_WRITER_VERSION}), the newest that Headgate can {operation}",
        code="DELTA_INVALID_PROTOCOL_VERSION", features=(), operation=operation,
    )  # fmt: skip


def _fields(data_type: DataType) -> Iterator[Field]:
    match data_type:
        case Struct(parts):
            for part in parts:
                yield part
                yield from _fields(part.type)
        case Array(element, _):
            yield from _fields(element)
        case Map(key, value, _):
            yield from _fields(key)
            yield from _fields(value)
        case _:
            return
