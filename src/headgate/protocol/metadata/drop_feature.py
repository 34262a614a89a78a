"""Which features a table can lose, and what must be gone from it first.

One row per feature that can be dropped. What only writers knew leaves no trace once it is off. What readers
had to know may be in the older versions for as long as these can be read, so there the table gets the
feature ``checkpointProtection``, which keeps others from rebuilding history they do not understand.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Action, Metadata, Protocol
from headgate.protocol.domains import lifecycle, rules
from headgate.protocol.features.row_tracking import FEATURE as ROW_TRACKING
from headgate.protocol.log import log_retention
from headgate.protocol.log.replay import State
from headgate.protocol.metadata.table_properties import TIMESTAMP_PROPERTIES

DELETION_VECTORS = "deletionVectors"
_ROW_TRACKING = frozenset(
    {
        property_values.ROW_TRACKING,
        property_values.ROW_TRACKING_SUSPENDED,
        property_values.ROW_ID_COLUMN,
        property_values.ROW_COMMIT_VERSION_COLUMN,
    }
)
Trace = Callable[[Metadata], str | None]


def no_trace(_: Metadata) -> str | None:
    """Nothing in the metadata stands against it."""
    return None


def _while_needed(name: str, advice: str) -> Trace:
    """Refuses while the metadata needs the feature, with what to do about it."""
    return lambda metadata: advice if name in table_features.required_features(metadata) else None


def _column_defaults(metadata: Metadata) -> str | None:
    return _with_key(metadata, "CURRENT_DEFAULT", "columns have defaults: drop those first")


def _widened(metadata: Metadata) -> str | None:
    advice = "the types of columns were widened, and files with the old types would have to be rewritten"
    return _with_key(metadata, "delta.typeChanges", advice)


def _mapped(metadata: Metadata) -> str | None:
    key = "delta.columnMapping.physicalName"
    return _with_key(metadata, key, "its columns are mapped, and all its files would have to be rewritten")


def _with_key(metadata: Metadata, key: str, advice: str) -> str | None:
    return advice if key in table_features.field_metadata_keys(metadata) else None


def _protecting(metadata: Metadata) -> str | None:
    before = property_values.text(metadata, property_values.PROTECTED_BEFORE)
    if before == "0":
        return None
    return f"versions before {before} need it: when these are old enough, say truncate_history=True"


@dataclass(frozen=True, slots=True)
class DroppableFeature:
    """One row."""

    feature: str
    clears: frozenset[str] = frozenset()
    """The properties that go with it."""
    trace: Trace = no_trace
    """What in the metadata stands against it."""
    in_history: bool = False
    """Whether readers of older versions must still know it."""


DROPPABLE: tuple[DroppableFeature, ...] = (
    DroppableFeature(
        "appendOnly", trace=_while_needed("appendOnly", "delta.appendOnly is true: set it to false")
    ),
    DroppableFeature(
        "invariants", trace=_while_needed("invariants", "columns are NOT NULL or have invariants")
    ),
    DroppableFeature(
        "checkConstraints", trace=_while_needed("checkConstraints", "the table has constraints")
    ),
    DroppableFeature("changeDataFeed", frozenset({property_values.CHANGE_DATA_FEED})),
    DroppableFeature("allowColumnDefaults", trace=_column_defaults),
    DroppableFeature("domainMetadata"),
    DroppableFeature(ROW_TRACKING, _ROW_TRACKING),
    DroppableFeature(table_features.IN_COMMIT_TIMESTAMP, TIMESTAMP_PROPERTIES),
    DroppableFeature(table_features.VACUUM_PROTOCOL_CHECK),
    DroppableFeature(
        log_retention.CHECKPOINT_PROTECTION, frozenset({property_values.PROTECTED_BEFORE}), _protecting
    ),
    DroppableFeature("v2Checkpoint", frozenset({property_values.CHECKPOINT_POLICY}), in_history=True),
    DroppableFeature(DELETION_VECTORS, frozenset({property_values.DELETION_VECTORS}), in_history=True),
    DroppableFeature("typeWidening", frozenset({property_values.TYPE_WIDENING}), _widened, in_history=True),
    DroppableFeature(
        "typeWidening-preview", frozenset({property_values.TYPE_WIDENING}), _widened, in_history=True
    ),
    DroppableFeature("columnMapping", trace=_mapped, in_history=True),
)
_BY_NAME = {row.feature: row for row in DROPPABLE}


def find_droppable(protocol: Protocol, name: str) -> DroppableFeature:
    """The row of a feature of the table that is to be dropped; refused if it cannot be."""
    known = table_features.find_feature(name)
    if known is None:
        raise InvalidRequest(
            f"there is no feature {name!r} that this version of Headgate knows, so it cannot drop it",
            code="DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
        )
    present = table_features.writer_features(protocol)
    if known.name not in present:
        raise InvalidRequest(
            f"the table does not have the feature {known.name}: there is nothing to drop",
            code="DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
        )
    if known.name not in _BY_NAME:
        reason = "what it did to the table cannot be undone"
        if known.name == table_features.CATALOG_MANAGED:
            reason = "it is for the catalog to give a table back, lake.release(name)"
        raise InvalidRequest(
            f"the feature {known.name} cannot be dropped: {reason}",
            code="DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE",
        )
    rows = (table_features.find_feature(other) for other in sorted(present))
    if needing := [row.name for row in rows if row is not None and known.name in row.requires]:
        raise InvalidRequest(
            f"the feature {known.name} cannot be dropped while the table has {', '.join(needing)}, which "
            "depends on it: drop that first, if it can be",
            code="DELTA_FEATURE_DROP_DEPENDENT_FEATURE",
        )
    return _BY_NAME[known.name]


def check_unused(row: DroppableFeature, metadata: Metadata) -> None:
    """Refuse while the table uses the feature."""
    if found := row.trace(metadata):
        raise drop_refused_error(row.feature, found)


def drop_refused_error(name: str, reason: str) -> InvalidRequest:
    """The error that says what stands against dropping a feature."""
    code = "HEADGATE_FEATURE_IN_USE"
    if name == log_retention.CHECKPOINT_PROTECTION:
        code = "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"
    return InvalidRequest(f"the feature {name} cannot be dropped yet: {reason}", code=code)


def clear_properties(row: DroppableFeature, metadata: Metadata) -> Metadata:
    """The metadata without the properties that go with the feature; the same if it has none of them."""
    if row.clears.isdisjoint(metadata.configuration):
        return metadata
    left = {key: value for key, value in metadata.configuration.items() if key not in row.clears}
    return msgspec.structs.replace(metadata, configuration=left)


def preparation_actions(row: DroppableFeature, state: State) -> tuple[Action, ...]:
    """What must be committed before the commit that drops the feature; often nothing.

    The domains can only be removed while the table has the feature for it, and a checkpoint without the
    feature only be made once the table does not ask for another.
    """
    if row.feature == rules.DOMAIN_METADATA:
        return lifecycle.removals_before_feature_drop(state.protocol, state.domains)
    metadata = clear_properties(row, state.metadata)
    return (metadata,) if row.in_history and metadata is not state.metadata else ()


def drop_actions(row: DroppableFeature, state: State) -> tuple[Action, ...]:
    """The commit after ``state`` that drops the feature."""
    protocol = protocol_upgrade.without_feature(state.protocol, row.feature)
    metadata = clear_properties(row, state.metadata)
    if row.in_history:
        protocol = protocol_upgrade.with_features(protocol, (log_retention.CHECKPOINT_PROTECTION,))
        before = {property_values.PROTECTED_BEFORE: str(state.version + 1)}
        metadata = msgspec.structs.replace(metadata, configuration={**metadata.configuration, **before})
    changed = () if metadata is state.metadata else (metadata,)
    marks = [state.domains[name] for name in (rules.ROW_TRACKING_DOMAIN,) if name in state.domains]
    gone = map(rules.domain_tombstone, marks) if row.feature == ROW_TRACKING else ()
    return (protocol, *changed, *gone)
