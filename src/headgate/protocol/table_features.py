"""Which table features exist, what switches each on, and what Headgate can do with them.

One row per feature. One that a protocol demands and Headgate does not support is refused by name. Of a
protocol of reader version 3 and writer version 7 that names these features, for readers and for writers:

    deletionVectors                  read and written
    variantType, variantShredding    read; to write: "the table needs variantShredding, which … cannot write"
    teleport                         "the table needs teleport, which this version of Headgate cannot read"

The row of ``variantShredding`` says ``can_write=False``; ``teleport`` has none.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from headgate.errors import CorruptLog, UnsupportedFeature
from headgate.protocol import property_values
from headgate.protocol.actions import Format, Metadata, Protocol
from headgate.protocol.schema import schema_contents

CATALOG_MANAGED = "catalogManaged"
IN_COMMIT_TIMESTAMP = "inCommitTimestamp"
VACUUM_PROTOCOL_CHECK = "vacuumProtocolCheck"
INVARIANTS = "invariants"
TIMESTAMP_NTZ = "timestampNtz"

MAX_READER_VERSION = 3
MAX_WRITER_VERSION = 7

Condition = Callable[[Metadata], bool]


def _always(_: Metadata) -> bool:
    return True


def _never(_: Metadata) -> bool:
    return False


def _flag(name: str) -> Condition:
    return lambda metadata: property_values.flag(metadata, name)


def _v2_checkpoints(metadata: Metadata) -> bool:
    return property_values.text(metadata, property_values.CHECKPOINT_POLICY).lower() == "v2"


def _any_property(prefix: str) -> Condition:
    return lambda metadata: any(key.startswith(prefix) for key in metadata.configuration)


def _field_key(prefix: str) -> Condition:
    return lambda metadata: any(key.startswith(prefix) for key in field_metadata_keys(metadata))


def _type(name: str) -> Condition:
    return lambda metadata: name in schema_contents.of_schema(metadata.schema_string).types


def _coordinated(metadata: Metadata) -> bool:
    return bool(metadata.configuration.get(property_values.COORDINATOR))


def _column_mapping(metadata: Metadata) -> bool:
    return property_values.text(metadata, property_values.COLUMN_MAPPING_MODE).lower() != "none"


def _invariant_expressions(metadata: Metadata) -> bool:
    return "delta.invariants" in field_metadata_keys(metadata)


def _invariants(metadata: Metadata) -> bool:
    return schema_contents.of_schema(metadata.schema_string).required or _invariant_expressions(metadata)


@dataclass(frozen=True, slots=True)
class Feature:
    """One row: its name, who must know it, what demands it, and what Headgate does with it."""

    name: str
    reader: bool = False
    legacy_writer: int | None = None
    """The writer version that implied it before protocols named features."""
    needed: Condition = _never
    """Whether metadata is such that the protocol must name it."""
    used: Condition = _always
    """Whether a table that names it asks anything of its writers."""
    can_read: bool = True
    can_write: bool = True
    requires: tuple[str, ...] = ()
    automatic: bool = True
    """Whether metadata that needs it adds it to an existing table, without being asked."""
    formerly: tuple[str, ...] = ()
    """The names of its previews, which will do in its place."""
    only_on_request: bool = False
    """Whether reading takes the user's word that this preview will do: ``Settings.read_previews``."""
    tolerated: bool = False
    """Whether tables are read and written although they need it and do not name it, as Delta Spark does."""
    retired: bool = False
    """Whether only older tables name it, which may lack what it requires."""


_COORDINATION = (IN_COMMIT_TIMESTAMP, VACUUM_PROTOCOL_CHECK)

FEATURES: tuple[Feature, ...] = (
    Feature("appendOnly", legacy_writer=2, needed=_flag(property_values.APPEND_ONLY)),
    Feature(INVARIANTS, legacy_writer=2, needed=_invariants, used=_invariant_expressions),
    Feature("checkConstraints", legacy_writer=3, needed=_any_property("delta.constraints.")),
    Feature("changeDataFeed", legacy_writer=4, needed=_flag(property_values.CHANGE_DATA_FEED)),
    Feature("generatedColumns", legacy_writer=4, needed=_field_key("delta.generationExpression")),
    Feature("columnMapping", reader=True, legacy_writer=5, needed=_column_mapping),
    Feature("identityColumns", legacy_writer=6, needed=_field_key("delta.identity.")),
    Feature("deletionVectors", reader=True, needed=_flag(property_values.DELETION_VECTORS)),
    Feature("rowTracking", needed=_flag(property_values.ROW_TRACKING), requires=("domainMetadata",)),
    Feature(TIMESTAMP_NTZ, reader=True, needed=_type("timestamp_ntz"), automatic=False),
    Feature("domainMetadata"),
    Feature("v2Checkpoint", reader=True, needed=_v2_checkpoints),
    Feature("checkpointProtection"),
    Feature(IN_COMMIT_TIMESTAMP, needed=_flag(property_values.IN_COMMIT_TIMESTAMPS)),
    Feature(VACUUM_PROTOCOL_CHECK, reader=True),
    Feature(CATALOG_MANAGED, reader=True, requires=_COORDINATION),
    Feature("catalogOwned-preview", reader=True, can_write=False, requires=_COORDINATION,
            only_on_request=True),
    Feature("coordinatedCommits-preview", needed=_coordinated, requires=_COORDINATION),
    Feature("coordinatedCommits", requires=_COORDINATION, retired=True),
    Feature("managedCommit-preview", requires=_COORDINATION, retired=True),
    Feature("managed-commit-preview", requires=_COORDINATION, retired=True),
    Feature("managed-commit-dev", requires=_COORDINATION, retired=True),
    Feature("managedCommit", requires=_COORDINATION, retired=True),
    Feature("clustering", requires=("domainMetadata",)),
    Feature(
        "typeWidening", reader=True, needed=_flag(property_values.TYPE_WIDENING),
        formerly=("typeWidening-preview",),
    ),
    Feature("typeWidening-preview", reader=True),
    Feature("allowColumnDefaults", needed=_field_key("CURRENT_DEFAULT"), tolerated=True),
    Feature("variantType", reader=True, needed=_type("variant"), formerly=("variantType-preview",)),
    Feature("variantType-preview", reader=True),
    Feature(
        "variantShredding", reader=True, needed=_flag(property_values.VARIANT_SHREDDING), can_write=False,
        requires=("variantType",), formerly=("variantShredding-preview",),
    ),
    Feature("variantShredding-preview", reader=True, can_write=False),
    Feature(
        "icebergCompatV1", needed=_flag(property_values.ICEBERG_COMPAT_V1), can_write=False,
        requires=("columnMapping",),
    ),
    Feature(
        "icebergCompatV2", needed=_flag(property_values.ICEBERG_COMPAT_V2), can_write=False,
        requires=("columnMapping",),
    ),
    Feature(
        "icebergCompatV3", needed=_flag(property_values.ICEBERG_COMPAT_V3), can_write=False,
        requires=("columnMapping", "rowTracking"),
    ),
    Feature(
        "materializePartitionColumns", needed=_flag(property_values.MATERIALIZED_PARTITION_COLUMNS),
        can_write=False,
    ),
)  # fmt: skip
_BY_NAME = {feature.name: feature for feature in FEATURES}
_BY_LOWER_NAME = {name.lower(): feature for name, feature in _BY_NAME.items()}


def check_readable(protocol: Protocol, metadata: Metadata, *, previews: Collection[str] = ()) -> None:
    """Refuse to read a table that demands what Headgate cannot do, naming it.

    ``previews`` are features that the user accepts although they are previews.
    """
    if protocol.min_reader_version > MAX_READER_VERSION:
        raise _version_refused(protocol, "read")
    _check_well_formed(protocol)
    listed = protocol.reader_features or ()
    implied = ("columnMapping",) if protocol.min_reader_version == _COLUMN_MAPPING_READER else ()
    refused = tuple(name for name in (*listed, *implied) if not _is_supported(name, reading=True))
    if refused:
        raise UnsupportedFeature(
            f"the table needs {', '.join(refused)}, which this version of Headgate cannot read",
            features=refused, operation="read",
        )  # fmt: skip
    unasked = tuple(name for name in listed if _BY_NAME[name].only_on_request and name not in previews)
    if unasked:
        raise UnsupportedFeature(
            f"the table uses {', '.join(unasked)}, a preview that was never meant to last; to read it all "
            f"the same, open it with Settings(read_previews=frozenset({set(unasked)}))",
            features=unasked, operation="read",
        )  # fmt: skip
    if _column_mapping(metadata) and "columnMapping" not in (*listed, *implied):
        raise UnsupportedFeature(
            "the table maps its columns, but its protocol does not tell readers so; by the letter every "
            "column would be null: have its writer add columnMapping to the reader features",
            code="DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", features=("columnMapping",), operation="read",
        )  # fmt: skip
    if undeclared := tuple(_undeclared(protocol, metadata)):
        raise UnsupportedFeature(
            f"the table's properties, columns or other features need {', '.join(undeclared)}, which its "
            "protocol does not name, so clients differ in what its rows are: have the writer that did this "
            "add the feature, or take away what needs it",
            code="DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH", features=undeclared, operation="read",
        )  # fmt: skip


def _undeclared(protocol: Protocol, metadata: Metadata) -> Iterator[str]:
    """What a protocol that names its features should name too; Delta Spark does not read such a table.

    Of a protocol that is only a pair of versions it asks nothing, whatever the properties say.
    """
    if protocol.writer_features is None:
        return
    listed = frozenset(protocol.writer_features)
    wanted = _required_by(listed) | _needed_features(metadata).certain
    for feature in FEATURES:
        if feature.name in wanted and not (feature.tolerated or _is_named(feature, listed)):
            yield feature.name


def _is_named(feature: Feature, names: Collection[str]) -> bool:
    return feature.name in names or any(name in names for name in feature.formerly)


@lru_cache(maxsize=256)
def _required_by(listed: frozenset[str]) -> frozenset[str]:
    """What these features ask a protocol to name beside them."""
    asking = (each for each in FEATURES if each.name in listed and not (each.only_on_request or each.retired))
    return frozenset(name for each in asking for name in each.requires)


class _NeededFeatures(NamedTuple):
    certain: frozenset[str]
    unclear: frozenset[str]
    """Those of which nobody can tell, because columns or properties cannot be read."""


def _needed_features(metadata: Metadata) -> _NeededFeatures:
    """The features that metadata needs, found out once for all tables with these columns and properties.

    Every table is asked about them when it is opened and again when it is written to.
    """
    return _needed_by(metadata.schema_string, tuple(metadata.configuration.items()))


@lru_cache(maxsize=1_024)
def _needed_by(schema_string: str, properties: tuple[tuple[str, str], ...]) -> _NeededFeatures:
    asked = Metadata(
        id="", format=Format(provider="parquet", options={}), schema_string=schema_string,
        partition_columns=(), configuration=dict(properties),
    )  # fmt: skip
    certain, unclear = set[str](), set[str]()
    for feature in FEATURES:
        try:
            if _needs(asked, feature):
                certain.add(feature.name)
        except (CorruptLog, UnsupportedFeature):
            unclear.add(feature.name)
    return _NeededFeatures(frozenset(certain), frozenset(unclear))


def _needs(metadata: Metadata, feature: Feature) -> bool:
    return feature.needed(metadata) and feature.used(metadata)


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
    check_readable(protocol, metadata, previews=protocol.reader_features or ())
    if protocol.min_writer_version > MAX_WRITER_VERSION:
        raise _version_refused(protocol, "write")
    names = tuple(_writer_features(protocol))
    refused = tuple(name for name in names if not _is_supported(name, reading=False))
    if refused:
        raise UnsupportedFeature(
            f"the table needs {', '.join(refused)}, which this version of Headgate cannot write; "
            "reading it works",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            features=refused, operation="write",
        )  # fmt: skip
    needed = _needed_features(metadata)
    unnamed = tuple(
        feature.name
        for feature in FEATURES
        if (feature.name in needed.certain or (feature.name in needed.unclear and _needs(metadata, feature)))
        and not (feature.tolerated or _is_named(feature, names))
    )
    if unnamed:
        raise UnsupportedFeature(
            f"the table's properties or columns use {', '.join(unnamed)}, which its protocol does not name, "
            "so other clients would write without regard to it: have the writer that did this add the "
            "feature, or take away what uses it",
            code="DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
            features=unnamed, operation="write",
        )  # fmt: skip


def check_maintainable(protocol: Protocol, metadata: Metadata) -> None:
    """Refuse to write checkpoints, or to clean up, where a writer must know something that Headgate does not.

    A feature that it knows but cannot write rows for is no obstacle: what the log says of files is kept.
    """
    check_readable(protocol, metadata, previews=protocol.reader_features or ())
    if protocol.min_writer_version > MAX_WRITER_VERSION:
        raise _version_refused(protocol, "write")
    unknown = tuple(name for name in _writer_features(protocol) if name not in _BY_NAME)
    if unknown:
        raise UnsupportedFeature(
            f"the table needs {', '.join(unknown)}, which this version of Headgate does not know, so it must "
            "not touch the log; reading works",
            code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
            features=unknown, operation="maintain",
        )  # fmt: skip


def writer_features(protocol: Protocol) -> frozenset[str]:
    """Every feature of the table, those that an old protocol version implies too."""
    return frozenset(_writer_features(protocol))


def supported_features(protocol: Protocol) -> frozenset[str]:
    """The features that a client must know: those named, and those that the versions imply."""
    listed = {*(protocol.reader_features or ()), *(protocol.writer_features or ())}
    reader = protocol.min_reader_version
    implied = {name for name in writer_features(protocol) if name in listed or reader >= _least_reader(name)}
    return frozenset(listed | implied)


def _least_reader(name: str) -> int:
    return _COLUMN_MAPPING_READER if _BY_NAME[name].reader else 1


def required_features(metadata: Metadata) -> frozenset[str]:
    """The features that the protocol of a table with this metadata must name."""
    return frozenset(feature.name for feature in FEATURES if feature.needed(metadata))


def find_feature(name: str) -> Feature | None:
    """The row of a feature, whose name is looked up ignoring case."""
    return _BY_LOWER_NAME.get(name.lower())


def field_metadata_keys(metadata: Metadata) -> frozenset[str]:
    """The keys of what the columns of the table, nested ones too, say of themselves."""
    return schema_contents.of_schema(metadata.schema_string).keys


_COLUMN_MAPPING_READER = 2


def _writer_features(protocol: Protocol) -> Iterator[str]:
    if protocol.writer_features is not None:
        yield from protocol.writer_features
        return
    for feature in FEATURES:
        if feature.legacy_writer is not None and feature.legacy_writer <= protocol.min_writer_version:
            yield feature.name


def _is_supported(name: str, *, reading: bool) -> bool:
    feature = _BY_NAME.get(name)
    if feature is None:
        return False
    return feature.can_read if reading else feature.can_write


def _version_refused(protocol: Protocol, operation: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"the table's protocol is ({protocol.min_reader_version}, {protocol.min_writer_version}), "
        f"above ({MAX_READER_VERSION}, {MAX_WRITER_VERSION}), the newest that Headgate can {operation}",
        code="DELTA_INVALID_PROTOCOL_VERSION", features=(), operation=operation,
    )  # fmt: skip
