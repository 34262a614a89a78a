"""Dropping a feature with its history: not before the versions that used it are gone from the log."""

from dataclasses import replace

from headgate.errors import InvalidRequest
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import Commit, Metadata, Version
from headgate.protocol.log import codec, file_names, log_retention, log_segment
from headgate.protocol.metadata import drop_feature
from headgate.protocol.metadata.drop_feature import DroppableFeature
from headgate.table.alter import full_file_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read import log_reader
from headgate.table.read.snapshot import Snapshot


def check_truncatable(table: OpenedTable, row: DroppableFeature, base: Snapshot) -> DroppableFeature:
    """The row, if there is a reason and a right to truncate; what only history needs no longer counts."""
    protects = row.feature == log_retention.CHECKPOINT_PROTECTION
    if not row.in_history and not protects:
        raise InvalidRequest(
            f"no older version keeps others from reading the table because of {row.feature}, so there is no "
            "history to truncate: leave truncate_history out",
            code="DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED",
        )
    if base.state.protocol.is_catalog_managed:
        raise InvalidRequest(
            f"the history of {table.location!r} belongs to its catalog: drop {row.feature} without "
            "truncate_history, which protects the older versions instead",
            code="DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION",
        )
    return replace(row, trace=drop_feature.no_trace) if protects else row


def truncate_log(table: OpenedTable, row: DroppableFeature) -> None:
    """Delete the versions that are old enough, and refuse while one that is left uses the feature."""
    base = table.snapshot()
    retention = property_values.text(base.state.metadata, property_values.TRUNCATED_HISTORY_RETENTION)
    table.cleanup_log(retention_ms=log_retention.interval_ms(retention))
    user = _last_version_using(table, row, base)
    if user is not None:
        raise InvalidRequest(
            f"the table itself does not need {row.feature}, but its version {user}, which can still be read, "
            f"does: drop it again when that is older than "
            f"{property_values.TRUNCATED_HISTORY_RETENTION} ({retention}, and the rest of that day, UTC), or "
            "without truncate_history",
            code="DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", version=user,
        )  # fmt: skip


def _last_version_using(table: OpenedTable, row: DroppableFeature, base: Snapshot) -> Version | None:
    """The last version in the log that uses the feature."""
    listing = log_reader.list_log(table.store)
    first = log_segment.earliest_version(listing) or Version(0)
    if row.feature == log_retention.CHECKPOINT_PROTECTION:
        protected = log_retention.log_settings(base.state.protocol, base.state.metadata).protected_before
        return Version(protected - 1) if first < protected else None
    if row.feature == log_retention.V2_CHECKPOINT:
        found = [file.version for file in listing if file_names.is_v2_checkpoint(file.path)]
        if found or any(table.store.list_from(file_names.SIDECAR_FOLDER)):
            return max(found, default=base.version)
    for version in map(Version, range(base.version, first, -1)):
        commit = codec.decode(version, table.store.read(file_names.published_path(version)))
        if (commit.metadata is not None and _uses(row, commit.metadata)) or (
            row.feature == drop_feature.DELETION_VECTORS and _has_vectors(commit)
        ):
            return version
    earliest = table.snapshot(version=first)
    used = _uses(row, earliest.state.metadata) or (
        row.feature == drop_feature.DELETION_VECTORS
        and full_file_actions.has_deletion_vectors(table, earliest)
    )
    return first if used else None


def _has_vectors(commit: Commit) -> bool:
    added = any(add.deletion_vector is not None for add in commit.adds)
    return added or any(remove.deletion_vector is not None for remove in commit.removes)


def _uses(row: DroppableFeature, metadata: Metadata) -> bool:
    name = row.feature.removesuffix("-preview")
    return row.trace(metadata) is not None or name in table_features.required_features(metadata)
