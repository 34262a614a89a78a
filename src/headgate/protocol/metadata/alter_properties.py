"""What becomes of a table's metadata when a user sets or unsets properties.

``delta.feature.…`` and the minimal versions are wishes about the protocol, so they are never stored.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from headgate import redaction
from headgate.errors import InvalidRequest
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import Metadata
from headgate.protocol.metadata import reserved_properties, table_properties
from headgate.protocol.metadata.table_properties import (
    FEATURE_PREFIX,
    MIN_READER,
    MIN_WRITER,
    PREFIX,
    TIMESTAMP_PROPERTIES,
    Setter,
)
from headgate.protocol.schema import json as schema_json
from headgate.spelling import did_you_mean

COMMENT = "comment"
TABLE_ID = "io.unitycatalog.tableId"
TABLE_NAME = "headgate.tableName"
"""What a table was called when it came to its catalog; a later name is in the catalog alone."""
CATALOG_PROPERTIES = frozenset({TABLE_ID, TABLE_NAME, "ucTableId"})
"""What a catalog writes into the tables it manages to know them again."""

_SUPPORTED, _ENABLED = "supported", "enabled"
_CHANGE_COLUMNS = frozenset({"_change_type", "_commit_version", "_commit_timestamp"})
_MOST = {
    MIN_READER.lower(): table_features.MAX_READER_VERSION,
    MIN_WRITER.lower(): table_features.MAX_WRITER_VERSION,
}


@dataclass(frozen=True, slots=True)
class PropertyChanges:
    """What a user asks for, checked: what is stored, and what is wanted of the protocol."""

    configuration: Mapping[str, str] = field(default_factory=dict)
    features: frozenset[str] = frozenset()
    writer: int = 0
    """The least writer version; 0 if any will do."""
    comment: str | None = None


def parse(asked: Mapping[str, str]) -> PropertyChanges:
    """What these properties ask for; refused if one of them cannot be set, or not to this."""
    reserved_properties.check_not_reserved(asked)
    stored: dict[str, str] = {}
    wanted: set[str] = set()
    writer = 0
    for name, value in asked.items():
        lower = name.lower()
        if not isinstance(value, str):
            raise InvalidRequest(f"the property {name!r} must be text, not {value!r}: write it in quotes")
        if found := redaction.first_credential({name: value}):
            raise InvalidRequest(
                f"the property {name!r} must not be in a table's log, which every reader of the table "
                f"reads: {found[1]}; keep credentials in the session, or with the store",
                code="HEADGATE_SECRET_IN_LOG", property=name,
            )  # fmt: skip
        if lower.startswith(FEATURE_PREFIX):
            wanted.add(feature_name(name[len(FEATURE_PREFIX) :], status=value))
        elif lower in _MOST:
            version = _parse_version(name, value)
            writer = version if lower == MIN_WRITER.lower() else writer
        elif lower.startswith(PREFIX):
            row = table_properties.check_property(name, value)
            if row.name in stored:
                raise InvalidRequest(
                    f"the property {row.name} is set twice (names are looked up ignoring case): set it once"
                )
            stored[row.name] = value
        elif name != COMMENT:
            stored[name] = value
    return PropertyChanges(stored, frozenset(wanted), writer, asked.get(COMMENT))


def feature_name(name: str, *, status: str = _SUPPORTED) -> str:
    """The name of a feature that a user asks for, as it is spelled."""
    row = table_features.find_feature(name)
    if row is None:
        near = did_you_mean(name, (known.name for known in table_features.FEATURES))
        raise InvalidRequest(
            f"there is no feature {name!r} in this version of Headgate:{near} correct the name",
            code="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG",
        )
    allowed = (_SUPPORTED,) if row.name == table_features.CATALOG_MANAGED else (_SUPPORTED, _ENABLED)
    if status.lower() not in allowed:
        raise InvalidRequest(
            f"the property {FEATURE_PREFIX}{row.name} cannot be {status!r}: it must be "
            f"{' or '.join(allowed)}",
            code="DELTA_UNSUPPORTED_FEATURE_STATUS",
        )
    return row.name


def set_properties(before: Metadata, asked: PropertyChanges) -> Metadata:
    """The metadata with what is asked for."""
    after = msgspec.structs.replace(
        before,
        configuration={**before.configuration, **asked.configuration},
        description=before.description if asked.comment is None else asked.comment,
    )
    check_against_columns(after)
    return after


def unset_properties(before: Metadata, names: Iterable[str], *, if_exists: bool) -> Metadata:
    """The metadata without these properties, each of which must be there unless ``if_exists``."""
    left, description = dict(before.configuration), before.description
    for name in names:
        if name == COMMENT:
            description = None
            continue
        spelled = table_properties.stored_name(name, before.configuration)
        row = table_properties.find_property(spelled)
        if row is not None and row.setter is not Setter.USER and spelled in left:
            raise InvalidRequest(
                f"the property {spelled} cannot be unset, because the table's files depend on it",
                code="DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
            )
        if left.pop(spelled, None) is None and not if_exists:
            raise InvalidRequest(
                f"the table has no property {name!r}: correct the name, or say if_exists=True"
                + (", or drop_feature" if name.lower().startswith(FEATURE_PREFIX) else ""),
                code="DELTA_UNSET_NON_EXISTENT_PROPERTY",
            )
    return msgspec.structs.replace(before, configuration=left, description=description)


def check_against_columns(metadata: Metadata) -> None:
    """Refuse properties that contradict the table's columns."""
    if not property_values.flag(metadata, property_values.CHANGE_DATA_FEED):
        return
    columns = schema_json.parse(metadata.schema_string).fields
    if taken := sorted({column.name.lower() for column in columns} & _CHANGE_COLUMNS):
        raise InvalidRequest(
            f"changes cannot be recorded in a table with the columns {', '.join(taken)}, which the change "
            "data feed has itself: rename them first",
            code="DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        )


def check_managed_change(
    before: Metadata, names: Collection[str], asked: PropertyChanges | None = None
) -> None:
    """Refuse, of a catalog-managed table, a change of what its catalog depends on (E6, E8)."""
    touched = {table_properties.stored_name(name, before.configuration) for name in names}
    if stamps := sorted(touched & TIMESTAMP_PROPERTIES):
        raise InvalidRequest(
            f"{', '.join(stamps)} cannot be set or unset on a catalog-managed table, which depends on its "
            "in-commit timestamps, not even to the same value: leave it out",
            code="DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES",
        )
    stated = asked.configuration if asked is not None else {}
    check_catalog_properties(
        before.configuration, {name: stated.get(name) for name in touched & CATALOG_PROPERTIES}
    )


def check_catalog_properties(kept: Mapping[str, str], stated: Mapping[str, str | None]) -> None:
    """Refuse another value, or none, for what the catalog keeps; the same one is no change (E8)."""
    for name, value in stated.items():
        if kept.get(name) != value:
            raise InvalidRequest(
                f"the property {name} is how the catalog knows the table, and cannot become {value!r}: leave "
                "it out",
                code="DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
            )


def catalog_identity(table_id: str, name: str) -> dict[str, str]:
    """What a table says of its catalog, so that a catalog that is lost can be rebuilt from its tables."""
    return {TABLE_ID: table_id, TABLE_NAME: name.lower()}


def properties_of_new_managed_table(asked: Mapping[str, str], required: Mapping[str, str]) -> dict[str, str]:
    """The properties of a new catalog-managed table: with timestamps, and what its catalog requires."""
    if property_values.is_switched_off(asked, property_values.IN_COMMIT_TIMESTAMPS):
        raise InvalidRequest(
            "a catalog-managed table must have in-commit timestamps, so "
            f"{property_values.IN_COMMIT_TIMESTAMPS} cannot be "
            f"{asked[property_values.IN_COMMIT_TIMESTAMPS]!r}: leave it out",
            code="DELTA_CANNOT_MODIFY_CATALOG_MANAGED_DEPENDENCIES",
        )
    stated = {name: value for name, value in asked.items() if name in required or name in CATALOG_PROPERTIES}
    check_catalog_properties(required, stated)
    return {**asked, **required, property_values.IN_COMMIT_TIMESTAMPS: "true"}


def with_materialized_row_columns(metadata: Metadata, uuid: Callable[[], str]) -> Metadata:
    """The metadata, if it tracks rows, with names for the columns where rewritten rows keep their ids."""
    configuration = metadata.configuration
    if not property_values.flag(metadata, property_values.ROW_TRACKING):
        return metadata
    if configuration.keys() >= {property_values.ROW_ID_COLUMN, property_values.ROW_COMMIT_VERSION_COLUMN}:
        return metadata
    names = {
        property_values.ROW_ID_COLUMN: f"_row-id-col-{uuid()}",
        property_values.ROW_COMMIT_VERSION_COLUMN: f"_row-commit-version-col-{uuid()}",
    }
    return msgspec.structs.replace(metadata, configuration={**names, **configuration})


def _parse_version(name: str, value: str) -> int:
    most = _MOST[name.lower()]
    if not value.isdecimal() or not 1 <= int(value) <= most:
        raise InvalidRequest(
            f"the property {name} cannot be {value!r}: it must be a whole number from 1 to {most}",
            code="DELTA_INVALID_PROTOCOL_VERSION",
        )
    return int(value)
