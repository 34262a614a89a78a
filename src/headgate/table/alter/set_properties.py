"""Changing what a table is without touching its rows: properties, comment, features."""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import msgspec

from headgate.errors import HeadgateError, InvalidRequest, ProtocolChanged, UnsupportedFeature
from headgate.protocol import property_values, protocol_upgrade, table_features
from headgate.protocol.actions import Action, Metadata, Protocol, Version
from headgate.protocol.features import coordinated_commits, coordinator_properties, row_tracking
from headgate.protocol.features.coordinator_properties import PropertyCommand
from headgate.protocol.metadata import alter_properties, table_properties
from headgate.protocol.metadata import drop_feature as metadata_drop_feature
from headgate.protocol.metadata.alter_properties import COMMENT, PropertyChanges
from headgate.protocol.metadata.drop_feature import DroppableFeature
from headgate.protocol.schema import column_ids as column_mapping
from headgate.protocol.transaction import metadata_diff
from headgate.table.alter import coordination, full_file_actions, row_id_backfill
from headgate.table.alter import truncate_history as alter_truncate_history
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_LOG = logging.getLogger(__name__)
_SET, _UNSET, _UPGRADE, _DROP = "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "UPGRADE PROTOCOL", "DROP FEATURE"
_TRIES = 10


def set_properties(table: OpenedTable, properties: Mapping[str, str]) -> Version:
    """Give properties these values; the version that has them, which is a new one only if one changed.

    A property that needs a feature adds it. Tracking rows gives the rows of all files ids first, in
    commits of their own.
    """
    base = table.snapshot()
    coordinator_properties.check_set_properties(
        base.state.metadata.configuration, properties, PropertyCommand.ALTER
    )
    asked = alter_properties.parse(properties)
    if base.state.protocol.is_catalog_managed:
        alter_properties.check_managed_change(base.state.metadata, properties.keys(), asked)
    metadata = _changed_metadata(table, base.state.metadata, asked)
    protocol = _upgraded_protocol(base, metadata, asked.features, asked.writer)
    if metadata_diff.enables_row_tracking(base.state.metadata, metadata):
        row_tracking.check_not_suspended(metadata)
        base = _with_row_ids(table, base)
        metadata = _changed_metadata(table, base.state.metadata, asked)
        protocol = _upgraded_protocol(base, metadata, asked.features, asked.writer)
    return _commit(table, base, Operation(_SET, {"properties": _json(properties)}), metadata, protocol)


def unset_properties(table: OpenedTable, names: Collection[str], *, if_exists: bool = False) -> Version:
    """Take properties away; the version without them. Each must be there, unless ``if_exists``."""
    base = table.snapshot()
    if base.state.protocol.is_catalog_managed:
        alter_properties.check_managed_change(base.state.metadata, names)
    coordinator_properties.check_unset_properties(base.state.metadata.configuration, frozenset(names))
    metadata = alter_properties.unset_properties(base.state.metadata, names, if_exists=if_exists)
    operation = Operation(_UNSET, {"properties": _json(list(names)), "ifExists": _json(if_exists)})
    return _commit(table, base, operation, metadata, base.state.protocol)


def set_comment(table: OpenedTable, comment: str | None) -> Version:
    """Set the table's comment, or remove it with None; the version that says so."""
    if comment is None:
        return unset_properties(table, [COMMENT])
    return set_properties(table, {COMMENT: comment})


def add_feature(table: OpenedTable, name: str) -> Version:
    """Have the table's protocol name a feature, and those it requires; the version from which it does."""
    wanted = alter_properties.feature_name(name)
    base = table.snapshot()
    protocol = _upgraded_protocol(base, base.state.metadata, {wanted})
    return _upgrade(table, base, protocol)


def upgrade_protocol(table: OpenedTable, reader: int, writer: int) -> Version:
    """Have the table ask of its clients what these protocol versions do; the version from which it does.

    It never asks for less than before: a protocol that does already stays as it is.
    """
    asked = alter_properties.parse(
        {table_properties.MIN_READER: str(reader), table_properties.MIN_WRITER: str(writer)}
    )
    base = table.snapshot()
    return _upgrade(table, base, _upgraded_protocol(base, base.state.metadata, (), asked.writer))


def drop_feature(table: OpenedTable, name: str, *, truncate_history: bool = False) -> Version:
    """Have the table's protocol no longer name a feature; the version from which it does not.

    What switches the feature on is switched off first. If readers of older versions must know it, these
    versions are protected from clients that do not: the table gets ``checkpointProtection``. Or, with
    ``truncate_history``, they are deleted, for which the last of them must be old enough. The feature of
    a coordinator goes by taking the table back from it.
    """
    if name in coordinated_commits.FEATURES:
        return coordination.uncoordinate(table)
    base = table.snapshot()
    row = metadata_drop_feature.find_droppable(base.state.protocol, name)
    if truncate_history:
        row = alter_truncate_history.check_truncatable(table, row, base)
    metadata_drop_feature.check_unused(row, base.state.metadata)
    if row.feature == row_tracking.FEATURE:
        _without_row_ids(table, base)
    elif prepared := metadata_drop_feature.preparation_actions(row, base.state):
        _check_files(table, row, base)
        table.commit(Change(_drop_operation(row), prepared), base=base)
    if row.in_history:
        table.checkpoint()  # so that nobody needs what is before it, whatever happens from here on
    version = _drop_with_retries(table, row, truncate=truncate_history)
    if row.in_history:
        _checkpoint(table, version)
    return version


def _drop_with_retries(
    table: OpenedTable, row: DroppableFeature, *, truncate: bool, tries: int = _TRIES
) -> Version:
    """Drop the feature, looking again at the table as long as others write to it."""
    if truncate:
        alter_truncate_history.truncate_log(table, row)
    try:
        return _drop(table, replace(row, in_history=row.in_history and not truncate))
    except ProtocolChanged as exc:
        if exc.code != "DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL" or tries == 1:
            raise
    return _drop_with_retries(table, row, truncate=truncate, tries=tries - 1)


def _drop(table: OpenedTable, row: DroppableFeature) -> Version:
    base = table.snapshot()
    metadata_drop_feature.find_droppable(base.state.protocol, row.feature)
    metadata_drop_feature.check_unused(row, base.state.metadata)
    if metadata_drop_feature.preparation_actions(row, base.state):
        raise metadata_drop_feature.drop_refused_error(
            row.feature, "somebody uses it again: ask them to stop, and drop it again"
        )
    _check_files(table, row, base)
    return table.commit(
        Change(_drop_operation(row), metadata_drop_feature.drop_actions(row, base.state)), base=base
    )


def _checkpoint(table: OpenedTable, version: Version) -> None:
    """From here on nobody needs a version that had the feature; but it is gone without this, too."""
    try:
        table.checkpoint(version=version)
    except HeadgateError as exc:
        _LOG.warning(
            "version %s dropped the feature, but its checkpoint could not be written; one of a later version "
            "does as well: %s", version, exc,
        )  # fmt: skip


def _drop_operation(row: DroppableFeature) -> Operation:
    return Operation(_DROP, {"featureName": row.feature, "truncateHistory": "false"}, changes_data=False)


def _check_files(table: OpenedTable, row: DroppableFeature, base: Snapshot) -> None:
    """Refuse while files of the table, live or kept for readers of older versions, use the feature."""
    if row.feature == metadata_drop_feature.DELETION_VECTORS and full_file_actions.has_deletion_vectors(
        table, base
    ):
        raise metadata_drop_feature.drop_refused_error(
            row.feature,
            "files have deletion vectors, or had them when they were removed less than "
            "delta.deletedFileRetentionDuration ago: rewrite them, or wait, and drop it again",
        )
    if row.feature == row_tracking.FEATURE and row_id_backfill.has_live_files(base):
        raise metadata_drop_feature.drop_refused_error(
            row.feature, "files got row ids meanwhile: drop it again"
        )


def _with_row_ids(table: OpenedTable, base: Snapshot) -> Snapshot:
    """The table once it has the feature and all its files have row ids."""
    protocol = _upgraded_protocol(base, base.state.metadata, {row_tracking.FEATURE})
    _upgrade(table, base, protocol)
    return row_id_backfill.backfill_row_ids(table)


def _without_row_ids(table: OpenedTable, base: Snapshot) -> None:
    """Stop giving row ids, and take those that were given."""
    off = {property_values.ROW_TRACKING: "false", property_values.ROW_TRACKING_SUSPENDED: "true"}
    configuration = {**base.state.metadata.configuration, **off}
    metadata = msgspec.structs.replace(base.state.metadata, configuration=configuration)
    _commit(table, base, Operation(_SET, {"properties": _json(off)}), metadata, base.state.protocol)
    row_id_backfill.remove_row_ids(table)


def _changed_metadata(table: OpenedTable, before: Metadata, asked: PropertyChanges) -> Metadata:
    after = column_mapping.assign_on_mode_change(before, alter_properties.set_properties(before, asked))
    return alter_properties.with_materialized_row_columns(after, table.world.uuid)


def _upgraded_protocol(base: Snapshot, metadata: Metadata, asked: Iterable[str], writer: int = 0) -> Protocol:
    """The protocol for this metadata, after checking that Headgate can still write the table."""
    before, wanted = base.state.protocol, frozenset(asked)
    if table_features.CATALOG_MANAGED in wanted and not before.is_catalog_managed:
        raise InvalidRequest(
            "a table cannot be put under a catalog by a feature, because the catalog would not know of it: "
            "create it in the catalog, or adopt it, headgate.connect(…).adopt(path, 'schema.table')",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    coordinated_commits.check_added_features(wanted, before)
    protocol = protocol_upgrade.protocol_for_changed_table(before, metadata, asked=wanted, writer=writer)
    try:
        table_features.check_writable(protocol, metadata)
    except UnsupportedFeature as exc:
        raise UnsupportedFeature(
            f"nothing was changed, because afterwards {exc.message}", code=exc.code, **exc.fields
        ) from exc
    return protocol


def change_metadata(table: OpenedTable, base: Snapshot, operation: Operation, metadata: Metadata) -> Version:
    """Commit other metadata, with the features it needs; the version that has it, new only if it differs."""
    return _commit(table, base, operation, metadata, _upgraded_protocol(base, metadata, ()))


def _upgrade(table: OpenedTable, base: Snapshot, protocol: Protocol) -> Version:
    operation = Operation(_UPGRADE, {"newProtocol": _json(protocol)})
    return _commit(table, base, operation, base.state.metadata, protocol)


def _commit(
    table: OpenedTable, base: Snapshot, operation: Operation, metadata: Metadata, protocol: Protocol
) -> Version:
    pairs: tuple[tuple[Action, Action], ...] = (
        (protocol, base.state.protocol),
        (metadata, base.state.metadata),
    )
    actions = tuple(new for new, old in pairs if new != old)
    return table.commit(Change(operation, actions), base=base) if actions else base.version


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
