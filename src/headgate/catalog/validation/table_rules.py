"""What must hold of a commit, given the table it follows: the rules, as rows.

They are asked inside the transaction that ratifies, so that nobody changes the table in between. What
commits of a table with the columns ``id`` and ``writer`` break, as the refusals name it:

    {"metaData": without writer}      schema-evolution: the column 'writer', which files have …, goes away …
    {"metaData": of another id}       same-table: … it was made for another table
    {"add": with a deletionVector}    features-used: … and the protocol does not name deletionVectors

One more column breaks none of them.
"""

from collections.abc import Callable, Iterator

from headgate.catalog.validation import path_containment
from headgate.catalog.validation.content_rules import (
    ContentRule,
    ProposedCommit,
    always,
    writes_domains,
    writes_metadata,
)
from headgate.errors import HeadgateError
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import (
    Action,
    AddCdcFile,
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
)
from headgate.protocol.conflicts import preconditions
from headgate.protocol.domains import rules
from headgate.protocol.features import identity_columns, row_tracking
from headgate.protocol.log import strict_codec
from headgate.protocol.log.strict_codec import Breach
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES
from headgate.protocol.metadata.table_properties import TIMESTAMP_PROPERTIES
from headgate.protocol.schema import column_mapping, evolution
from headgate.protocol.schema import json as schema_json

PROTECTED_PROPERTIES = TIMESTAMP_PROPERTIES | CATALOG_PROPERTIES
"""The properties that a catalog depends on, which no commit changes."""


def _changes_known_metadata(proposed: ProposedCommit) -> bool:
    return writes_metadata(proposed) and proposed.before is not None


def _changes_table(proposed: ProposedCommit) -> bool:
    known = proposed.protocol is not None and proposed.metadata is not None
    return known and (proposed.commit.metadata is not None or proposed.commit.protocol is not None)


def _knows_protocol(proposed: ProposedCommit) -> bool:
    return proposed.protocol is not None


def _knows_table(proposed: ProposedCommit) -> bool:
    return proposed.before is not None


def _metadata_before_and_after(proposed: ProposedCommit) -> tuple[Metadata, Metadata]:
    """The metadata before and after a commit that changes it."""
    after = proposed.commit.metadata
    before = proposed.before.metadata if proposed.before is not None else after
    if before is None or after is None:
        raise LookupError("the rule applies to commits with a metaData action")
    return before, after


def _changed_table_id(proposed: ProposedCommit) -> Breach | None:
    before, after = _metadata_before_and_after(proposed)
    if before.id == after.id:
        return None
    why = f"its id is {after.id}, and this table's is {before.id}: it was made for another table"
    return proposed.breach(after, why)


def _changed_protected_property(proposed: ProposedCommit) -> Breach | None:
    before, after = _metadata_before_and_after(proposed)
    for key in sorted(PROTECTED_PROPERTIES):
        values = before.configuration.get(key), after.configuration.get(key)
        if values[0] != values[1]:
            why = f"{key} changes from {values[0]!r} to {values[1]!r}, and the catalog depends on it"
            return proposed.breach(after, why)
    return None


def _illegal_evolution(proposed: ProposedCommit) -> Breach | None:
    before, after = _metadata_before_and_after(proposed)
    protocol = proposed.protocol
    if protocol is None or proposed.replaces_table:
        return None
    why = (
        None if _layout(before) == _layout(after) else evolution.schema_change_breach(before, after, protocol)
    )
    if why is None:
        return None
    return proposed.breach(after, f"{why}; only a commit that replaces the whole table may do that")


def _new_empty_struct(proposed: ProposedCommit) -> Breach | None:
    after = proposed.commit.metadata
    if after is None:
        return None
    # A table that was adopted with one is still changed in other ways.
    known = frozenset(() if proposed.before is None else _empty_structs(proposed.before.metadata))
    new = next((path for path in _empty_structs(after) if path not in known), None)
    if new is None:
        return None
    return proposed.breach(after, f"the column {new!r} is a struct without fields, which no file can store")


def _empty_structs(metadata: Metadata) -> tuple[str, ...]:
    return evolution.empty_structs(schema_json.parse(metadata.schema_string))


def _brings_columns(proposed: ProposedCommit) -> bool:
    return writes_metadata(proposed) and (proposed.before is not None or proposed.commit.version == 0)


def _layout(metadata: Metadata) -> tuple[object, ...]:
    highest = metadata.configuration.get(property_values.MAX_COLUMN_ID)
    return metadata.schema_string, metadata.partition_columns, column_mapping.mapping_mode(metadata), highest


def _protocol_contradicts_metadata(proposed: ProposedCommit) -> Breach | None:
    protocol, metadata = proposed.protocol, proposed.metadata
    written: Action | None = proposed.commit.protocol or proposed.commit.metadata
    if protocol is None or metadata is None or written is None:
        return None
    try:
        table_features.check_maintainable(protocol, metadata)
    except HeadgateError as exc:
        return proposed.breach(written, exc.message, exc.code)
    named = table_features.writer_features(protocol)
    if why := _misplaced_feature(protocol):
        return proposed.breach(written, why)
    for feature in table_features.FEATURES:
        listed = not named.isdisjoint({feature.name, *feature.formerly})
        if feature.needed(metadata) and feature.used(metadata) and not listed:
            return proposed.breach(
                written, f"the protocol does not name {feature.name}, which the table uses"
            )
        for required in feature.requires if feature.name in named else ():
            if required not in named:
                why = f"the protocol names {feature.name} without {required}, which that needs"
                return proposed.breach(written, why)
    return None


def _misplaced_feature(protocol: Protocol) -> str | None:
    """A feature that the protocol names to others than those who must know it."""
    readers, writers = protocol.reader_features or (), protocol.writer_features or ()
    for feature in table_features.FEATURES:
        if feature.reader and feature.name in writers and feature.name not in readers:
            return f"the protocol names {feature.name} to writers alone, and readers must know it too"
        if not feature.reader and feature.name in readers:
            return f"the protocol names {feature.name} to readers, and it is for writers alone"
    return None


def _feature_uses(proposed: ProposedCommit) -> Iterator[tuple[Action, str, tuple[str, ...]]]:
    """What actions use of the protocol: what it is called, and by which features it is allowed."""
    for action in proposed.actions:
        match action:
            case AddFile(deletion_vector=vector) | RemoveFile(deletion_vector=vector) if vector is not None:
                yield action, "a deletion vector", ("deletionVectors",)
            case AddFile(base_row_id=row_id) if row_id is not None:
                yield action, "row ids", ("rowTracking",)
            case AddCdcFile():
                yield action, "changed rows", ("changeDataFeed",)
            case DomainMetadata():
                yield action, "a metadata domain", (rules.DOMAIN_METADATA,)
            case _:
                continue


def _missing_feature(proposed: ProposedCommit) -> Breach | None:
    protocol = proposed.protocol or Protocol(min_reader_version=3, min_writer_version=7)
    named = table_features.writer_features(protocol)
    for action, what, allowing in _feature_uses(proposed):
        if named.isdisjoint(allowing):
            return proposed.breach(action, f"it has {what}, and the protocol does not name {allowing[0]}")
    return None


def _invalid_domains(proposed: ProposedCommit) -> Breach | None:
    try:
        if proposed.protocol is not None:
            rules.check_domain_actions(proposed.protocol, proposed.commit.domains)
    except HeadgateError as exc:
        return proposed.breach(proposed.commit.domains[-1], exc.message, exc.code)
    return None


def _assigns_row_ids(proposed: ProposedCommit) -> bool:
    known = proposed.before is not None and proposed.before.domains is not None
    if any(each.domain == rules.ROW_TRACKING_DOMAIN for each in proposed.commit.domains):
        return known
    tracks = proposed.protocol is not None and row_tracking.is_supported(proposed.protocol)
    return known and tracks and any(add.base_row_id is not None for add in proposed.commit.adds)


def _wrong_row_id_high_water_mark(proposed: ProposedCommit) -> Breach | None:
    said = next((each for each in proposed.commit.domains if each.domain == rules.ROW_TRACKING_DOMAIN), None)
    if said is not None and said.removed:
        return _removed_high_water_mark(proposed, said)
    known = (proposed.before.domains if proposed.before is not None else None) or {}
    last = known.get(rules.ROW_TRACKING_DOMAIN)
    before = row_tracking.NO_HIGH_WATER_MARK if last is None else row_tracking.parse_high_water_mark(last)
    mark = before if said is None else row_tracking.parse_high_water_mark(said)
    highest = max(before, row_tracking.highest_row_id(proposed.commit.adds))
    if mark == highest:
        return None
    why = f"the high-water mark of row ids goes from {before} to {mark}, and the highest given is {highest}"
    return Breach(0, "", why) if said is None else proposed.breach(said, why)


def _tracks_rows(proposed: ProposedCommit) -> bool:
    protocol, metadata = proposed.protocol, proposed.metadata
    if protocol is None or metadata is None:
        return False
    return row_tracking.is_supported(protocol) and not row_tracking.is_suspended(metadata)


def _missing_row_ids(proposed: ProposedCommit) -> Breach | None:
    for add in proposed.commit.adds:
        if add.base_row_id is None or add.default_row_commit_version is None:
            why = "it has no baseRowId or no defaultRowCommitVersion, and the table's rows are tracked"
            return proposed.breach(add, why)
    return None


def _removed_high_water_mark(proposed: ProposedCommit, said: DomainMetadata) -> Breach | None:
    """What of a removed mark: without it the same ids would be given again, unless none are any more."""
    protocol, metadata = proposed.protocol, proposed.metadata
    if protocol is None or not row_tracking.is_supported(protocol):
        return None
    if metadata is not None and row_tracking.is_suspended(metadata):
        return None
    return proposed.breach(said, "the high-water mark of row ids goes away, and row ids are still given")


def _more_than_identity_marks(proposed: ProposedCommit) -> Breach | None:
    info = proposed.commit.info
    if not identity_columns.is_tagged(info):
        return None
    before, after = _metadata_before_and_after(proposed)
    if before == after or identity_columns.changes_high_water_mark_only(before, after):
        return None
    why = (
        f"the tag {identity_columns.TAG} says that it only moves marks of identity columns, and it does more"
    )
    return proposed.breach(after, f"{why}: writers that trust the tag would not look at it")


def _secret_in_metadata(proposed: ProposedCommit) -> Breach | None:
    metadata = proposed.commit.metadata
    if metadata is None:
        return None
    known = proposed.before.metadata.configuration if proposed.before is not None else {}
    for key, why in proposed.credentials.items():
        if known.get(key) != metadata.configuration[key]:
            return proposed.breach(metadata, f"the property {key!r} must not be in a log: {why}")
    return None


def _file_outside_table(proposed: ProposedCommit) -> Breach | None:
    for line, action in enumerate(proposed.actions, 1):
        for path in path_containment.file_paths((action,)):
            if path_containment.is_outside(path) and not path_containment.is_below_source(
                path, proposed.sources
            ):
                why = f"{path!r} is outside the table, which was not granted files from there"
                return Breach(line, strict_codec.ACTION_NAMES[type(action)], why)
    return None


_CHECKED_BY_CONTENT_RULES = (
    "one-protocol-one-metadata",
    "files-once",
    "applications-once",
    "stored-expressions",
)


def _as_writers_check(check: preconditions.Precondition) -> Callable[[ProposedCommit], Breach | None]:
    def breach(proposed: ProposedCommit) -> Breach | None:
        why = check.breach(proposed.attempt)
        return None if why is None else Breach(0, "", why, check.code)

    return breach


RULES: tuple[ContentRule, ...] = (
    ContentRule(
        "files-inside", always, _file_outside_table, "every file is in the table, or where a grant allows",
    ),
    ContentRule("same-table", _changes_known_metadata, _changed_table_id, "metaData has the id of the table"),
    ContentRule(
        "catalog-properties", _changes_known_metadata, _changed_protected_property,
        f"these properties stay as they are: {', '.join(f'`{key}`' for key in sorted(PROTECTED_PROPERTIES))}",
        "DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
    ),
    ContentRule(
        "schema-evolution", _changes_known_metadata, _illegal_evolution,
        "types are widened at most, columns dropped only if they are mapped, ids and physical names kept and "
        "never given again, and nothing becomes NOT NULL",
        "DELTA_METADATA_MISMATCH",
    ),
    ContentRule(
        "columns-storable", _brings_columns, _new_empty_struct,
        "no column becomes a struct without fields", "DELTA_EMPTY_DATA",
    ),
    ContentRule(
        "identity-tag", _changes_known_metadata, _more_than_identity_marks,
        f"what the tag `{identity_columns.TAG}` says moves marks of identity columns does nothing else",
    ),
    ContentRule(
        "protocol-fits", _changes_table, _protocol_contradicts_metadata,
        "the protocol is well-formed and known, and names what the table uses and what that needs",
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
    ),
    ContentRule(
        "features-used", _knows_protocol, _missing_feature,
        "deletion vectors, row ids, changed rows and domains are there only with their feature",
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
    ),
    ContentRule("domains-once", writes_domains, _invalid_domains, "a metadata domain is written once"),
    ContentRule(
        "row-ids", _assigns_row_ids, _wrong_row_id_high_water_mark,
        "the high-water mark of row ids never goes back, and is that of the row ids which are given",
    ),
    ContentRule(
        "rows-tracked", _tracks_rows, _missing_row_ids, "where rows are tracked, every file has row ids",
    ),
    ContentRule(
        "no-secrets", writes_metadata, _secret_in_metadata,
        "no new property looks like a credential", "HEADGATE_SECRET_IN_LOG",
    ),
    *(
        ContentRule(
            row.name, _knows_table, _as_writers_check(row),
            "as its writer checks it ([conflicts](conflicts.md))", row.code,
        )
        for row in preconditions.PRECONDITIONS
        if row.name not in _CHECKED_BY_CONTENT_RULES
    ),
)  # fmt: skip
