"""Which changes of a table's metadata need not stop a transaction that did not see them.

One row per property that may be added or changed. Whatever is not here stops it, and so does the
removal of anything.
"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from headgate import redaction
from headgate.protocol import property_values
from headgate.protocol.actions import Metadata, Protocol
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Field

_COLUMN_MAPPING = "delta.columnMapping."


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """The metadata before and after, and the protocol after."""

    before: Metadata
    after: Metadata
    protocol: Protocol


Condition = Callable[[MetadataChange, str], bool]


def _switched_on(feature: str) -> Condition:
    return lambda change, key: property_values.flag(change.after, key) and change.protocol.has(feature)


def _rows_are_tracked(change: MetadataChange, _: str) -> bool:
    return property_values.flag(change.after, property_values.ROW_TRACKING)


def _columns_become_named(change: MetadataChange, _: str) -> bool:
    modes = column_mapping.mapping_mode(change.before), column_mapping.mapping_mode(change.after)
    return modes == (ColumnMappingMode.NONE, ColumnMappingMode.NAME) and change.protocol.has("columnMapping")


def _always(_: MetadataChange, __: str) -> bool:
    return True


def _version_2(change: MetadataChange, key: str) -> bool:
    return property_values.text(change.after, key).lower() == "v2" and change.protocol.has("v2Checkpoint")


def _newly_added(change: MetadataChange, key: str) -> bool:
    return key not in change.before.configuration


def _newly_managed(change: MetadataChange, key: str) -> bool:
    return _newly_added(change, key) and change.protocol.is_catalog_managed


@dataclass(frozen=True, slots=True)
class SafeChange:
    """One row: a property, when its change is harmless, and the same in words."""

    key: str
    when: Condition
    means: str


SAFE_CHANGES: tuple[SafeChange, ...] = (
    SafeChange(
        property_values.ROW_TRACKING, _switched_on("rowTracking"),
        "to true; ours then says it keeps no row ids",
    ),
    SafeChange(property_values.ROW_ID_COLUMN, _rows_are_tracked, "with row tracking enabled"),
    SafeChange(property_values.ROW_COMMIT_VERSION_COLUMN, _rows_are_tracked, "with row tracking enabled"),
    SafeChange(property_values.COLUMN_MAPPING_MODE, _columns_become_named, "from none to name"),
    SafeChange(property_values.MAX_COLUMN_ID, _always, "any"),
    SafeChange(property_values.DELETION_VECTORS, _switched_on("deletionVectors"), "to true"),
    SafeChange(property_values.CHECKPOINT_POLICY, _version_2, "to v2"),
    SafeChange(property_values.IN_COMMIT_TIMESTAMPS, _switched_on("inCommitTimestamp"), "to true"),
    SafeChange("delta.inCommitTimestampEnablementVersion", _newly_added, "newly added"),
    SafeChange("delta.inCommitTimestampEnablementTimestamp", _newly_added, "newly added"),
    SafeChange("io.unitycatalog.tableId", _newly_managed, "newly added, on a catalog-managed table"),
    SafeChange("headgate.tableName", _newly_managed, "newly added, on a catalog-managed table"),
)  # fmt: skip
_BY_KEY = {row.key: row for row in SAFE_CHANGES}


def incompatible_change(before: Metadata, after: Metadata, protocol: Protocol) -> str | None:
    """What in this change stops a transaction that did not see it; ``protocol`` is the one after it."""
    change = MetadataChange(before, after, protocol)
    if before.id != after.id:
        return "the table's id"
    for name in ("name", "description", "format", "partition_columns", "created_time"):
        if getattr(before, name) != getattr(after, name):
            return f"the table's {name.replace('_', ' ')}"
    if removed := sorted(before.configuration.keys() - after.configuration.keys()):
        return f"the property {removed[0]}, which was removed"
    for key, value in sorted(after.configuration.items()):
        if before.configuration.get(key) != value and not _is_safe(change, key):
            return f"the property {key}, now {redaction.mask_value(key, value)}"
    if before.schema_string != after.schema_string and not _only_names_columns(change):
        return "the schema"
    return None


def enables_row_tracking(before: Metadata, after: Metadata) -> bool:
    """Whether the change is the one that enables row tracking."""
    was, now = (property_values.flag(metadata, property_values.ROW_TRACKING) for metadata in (before, after))
    return now and not was


def _is_safe(change: MetadataChange, key: str) -> bool:
    row = _BY_KEY.get(key)
    return row is not None and row.when(change, key)


def _only_names_columns(change: MetadataChange) -> bool:
    """Whether the columns are the same but for the names column mapping gives those at the top."""
    before, after = (schema_json.parse(found.schema_string).fields for found in (change.before, change.after))
    if len(before) != len(after) or not _columns_become_named(change, property_values.COLUMN_MAPPING_MODE):
        return False
    return all(_unmapped(was) == _unmapped(now) for was, now in zip(before, after, strict=True))


def _unmapped(column: Field) -> tuple[object, ...]:
    rest = {key: value for key, value in column.metadata.items() if not key.startswith(_COLUMN_MAPPING)}
    return column.name, column.type, column.nullable, msgspec.json.encode(rest, order="sorted")
