"""Making an older version the latest again, as a commit of its own: the versions between stay readable.

Only the log changes. Files of that version that others have removed since come back, so they must
still be there; files that came since are removed. What ties the table to its catalog, to a commit
owner or to ids already given is kept as it is now.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import msgspec
import pyarrow as pa

from headgate.calls import summary
from headgate.errors import InvalidRequest, ObjectNotFound, VersionNotFound
from headgate.protocol import file_key, property_values, protocol_upgrade, table_features
from headgate.protocol.actions import (
    Action,
    AddFile,
    DeletionVector,
    EpochMillis,
    Metadata,
    Protocol,
    Version,
)
from headgate.protocol.domains import lifecycle
from headgate.protocol.domains.rules import NO_DOMAINS, DomainSettings
from headgate.protocol.features import coordinated_commits, identity_columns, row_tracking
from headgate.protocol.file_key import FileKey
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import StoredVector
from headgate.protocol.log.replay import State
from headgate.protocol.metadata import alter_properties
from headgate.protocol.metadata.alter_properties import CATALOG_PROPERTIES
from headgate.protocol.transaction.attempt import RESTORE, ReadSet
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.alter import full_file_actions, row_id_backfill
from headgate.table.commit import remove_actions
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

_LISTING_THRESHOLD = 1_000
"""From how many files on one listing of the table is cheaper than asking for each."""
_KEPT_PROPERTIES = frozenset(
    (
        property_values.PROTECTED_BEFORE,
        property_values.ROW_ID_COLUMN,
        property_values.ROW_COMMIT_VERSION_COLUMN,
        *CATALOG_PROPERTIES,
        *coordinated_commits.PROPERTIES,
    )
)
_TIMESTAMP_CODES = {
    "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION": "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER",
    "DELTA_TIMESTAMP_GREATER_THAN_COMMIT": "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER",
}
"""What Delta calls a moment without a version, where one was to be restored."""
_COORDINATION_FEATURES = frozenset(naming.feature for naming in coordinated_commits.FEATURE_NAMINGS)


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The version that is what an older one was, and what that took, in Delta's names."""

    version: Version
    metrics: Mapping[str, int]

    def _repr_html_(self) -> str:
        return summary.to_html(summary.metrics_summary("RestoreResult", self.version, self.metrics))


def restore(
    table: OpenedTable,
    *,
    version: int | None = None,
    timestamp: EpochMillis | None = None,
    domains: DomainSettings = NO_DOMAINS,
) -> RestoreResult:
    """Make the table what it was at a version or a moment; the commit sets these domains too.

    Whoever commits meanwhile wins: ``ConcurrentWrite``, and nothing happened.
    """
    if (version is None) == (timestamp is None):
        raise InvalidRequest("say which version to restore, or as of which moment: one of the two")
    base = table.snapshot()
    if version is not None and not 0 <= version <= base.version:
        raise VersionNotFound(
            f"version {version} cannot be restored, because the table has versions 0 to {base.version}: "
            "choose one of them",
            code="DELTA_CANNOT_RESTORE_TABLE_VERSION", version=version, latest=base.version,
        )  # fmt: skip
    target = _target(table, version, timestamp)
    gone, back = _difference(base.files.without_stats, target.files.without_stats)
    if gone.num_rows and property_values.flag(base.state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so the rows that came since "
            "cannot be removed: unset the property first",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )
    protocol, metadata = _plan_protocol_and_metadata(base.state, target.state, table.world.uuid)
    adds = _restored_adds(table, target, back, keep_ids=_have_compatible_row_ids(base.state, target.state))
    metrics = {
        "tableSizeAfterRestore": _size(target.files.without_stats),
        "numOfFilesAfterRestore": target.files.without_stats.num_rows,
        "numRemovedFiles": gone.num_rows,
        "numRestoredFiles": back.num_rows,
        "removedFilesSize": _size(gone),
        "restoredFilesSize": _size(back),
    }
    removes = remove_actions.removals(gone, EpochMillis(table.world.now_ms()))
    if row_tracking.is_supported(protocol) and not row_tracking.is_suspended(metadata):
        adds += _adds_without_row_ids(table, base, gone)
    meta = domains.beside(base.state.protocol, _state_actions(base.state, target.state, protocol, metadata))
    actions = (*meta, *removes, *adds)
    asked = {"version": str(version)} if version is not None else {"timestamp": str(timestamp)}
    operation = Operation(RESTORE, asked, {name: str(value) for name, value in metrics.items()})
    change = Change(operation, actions, reads=ReadSet(whole_table=True), once=True)
    return RestoreResult(table.commit(change, base=base) if actions else base.version, metrics)


def _target(table: OpenedTable, version: int | None, timestamp: EpochMillis | None) -> Snapshot:
    try:
        return table.snapshot(version=version, timestamp=timestamp)
    except VersionNotFound as exc:
        code = _TIMESTAMP_CODES.get(exc.code)
        if code is None:
            raise
        raise VersionNotFound(exc.message, code=code, **exc.fields) from exc


def _difference(now: pa.Table, then: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The files that are there only now, and those that were there only then."""
    found = [file_keys(now), file_keys(then)]
    only = [
        pa.array([key not in other for key in mine], pa.bool_())
        for mine, other in zip(found, map(frozenset, reversed(found)), strict=True)
    ]
    return now.filter(only[0]), then.filter(only[1])


def file_keys(files: pa.Table) -> list[FileKey]:
    """By what each of some live files is known."""
    found = zip(files["path"].to_pylist(), files["deletion_vector"].to_pylist(), strict=True)
    return [
        (
            file_key.canonical_path(path),
            file_key.deletion_vector_id(DeletionVector(**vector) if vector else None),
        )
        for path, vector in found
    ]


def _have_compatible_row_ids(now: State, then: State) -> bool:
    """Whether ids of rows then are none that other rows have now.

    Each time rows begin to be tracked the columns for their ids get names of their own, and the ids of
    a table of which that was given up begin from zero again.
    """
    of_now, of_then = (
        state.metadata.configuration.get(property_values.ROW_ID_COLUMN) for state in (now, then)
    )
    return of_now == of_then


def _adds_without_row_ids(table: OpenedTable, base: Snapshot, gone: pa.Table) -> list[AddFile]:
    """The files that stay and whose rows have no ids, to be added once more so that they get some."""
    if not row_id_backfill.has_live_files(base, having=False):
        return []
    leaving = frozenset(file_keys(gone))
    found = full_file_actions.adds_by_row_ids(table, base, with_ids=False)
    return [add for add in found if file_key.file_key(add) not in leaving]


def _restored_adds(table: OpenedTable, target: Snapshot, back: pa.Table, *, keep_ids: bool) -> list[AddFile]:
    wanted = frozenset(back["path"].to_pylist())
    adds = full_file_actions.adds_by_path(table, target, wanted).values() if wanted else ()
    gone = list(missing_objects(table, sorted(object_paths(back))))
    if gone:
        raise InvalidRequest(
            f"version {target.version} cannot be restored, because {len(gone)} of its files are gone, "
            f"{gone[0]} among them: they were removed from the table long enough ago to be cleaned up; "
            "restore a later version",
            code="DELTA_CANNOT_RESTORE_TABLE_VERSION", missing=tuple(gone),
        )  # fmt: skip
    none = {} if keep_ids else {"base_row_id": None, "default_row_commit_version": None}
    return [msgspec.structs.replace(add, data_change=True, **none) for add in adds]


def object_paths(files: pa.Table) -> frozenset[str]:
    """What must be there for some live files to be read, as a log names it: they, and their vectors."""
    rows = (row for row in files["deletion_vector"].to_pylist() if row)
    stored = (deletion_vectors.vector_location(DeletionVector(**row)) for row in rows)
    return frozenset(files["path"].to_pylist()) | {
        place.path if place.absolute else quote(place.path)
        for place in stored
        if isinstance(place, StoredVector)
    }


def missing_objects(table: OpenedTable, paths: Sequence[str]) -> Iterator[str]:
    """Those of these files of a table that are not where the log says."""
    found = [(path, *file_paths.locate_object(table.store, table.location, path)) for path in paths]
    if len(paths) >= _LISTING_THRESHOLD:
        present = {meta.path for meta in table.store.list_from("")}
        yield from (path for path, store, at in found if store is table.store and at not in present)
        found = [one for one in found if one[1] is not table.store]
    asked = parallel_reads.map_in_order(table.store, lambda one: (one[0], _is_there(one[1], one[2])), found)
    yield from (path for path, there in asked if not there)


def _is_there(store: Store, path: str) -> bool:
    try:
        store.head(path)
    except ObjectNotFound:
        return False
    return True


def _plan_protocol_and_metadata(
    now: State, then: State, uuid: Callable[[], str]
) -> tuple[Protocol, Metadata]:
    """What the table is to be: features are never lost."""
    metadata = alter_properties.with_materialized_row_columns(_restored_metadata(now, then), uuid)
    asked = table_features.writer_features(then.protocol) - {
        table_features.CATALOG_MANAGED,
        *_COORDINATION_FEATURES,
    }
    if (
        then.protocol.is_catalog_managed or coordinated_commits.coordinator_of(then.metadata) is not None
    ):  # which it needed, and readers need not know
        asked -= {table_features.VACUUM_PROTOCOL_CHECK}
    protocol = protocol_upgrade.protocol_for_changed_table(now.protocol, metadata, asked=asked)
    table_features.check_writable(protocol, metadata)
    return protocol, metadata


def _state_actions(now: State, then: State, protocol: Protocol, metadata: Metadata) -> Iterator[Action]:
    """What changes besides files: of the domains only clustering comes back."""
    if protocol != now.protocol:
        yield protocol
    if metadata != now.metadata:
        yield metadata
    yield from lifecycle.domains_after_restore(now.domains, then.domains)


def _restored_metadata(now: State, then: State) -> Metadata:
    """That of then, but for what is true of the table whatever its rows are."""
    kept = {key: value for key, value in now.metadata.configuration.items() if _is_kept(key, now)}
    others = {key: value for key, value in then.metadata.configuration.items() if not _is_kept(key, now)}
    marks = [state.metadata.configuration.get(property_values.MAX_COLUMN_ID) for state in (now, then)]
    if given := [mark for mark in marks if mark is not None]:
        kept[property_values.MAX_COLUMN_ID] = max(given, key=int)
    metadata = msgspec.structs.replace(then.metadata, configuration={**others, **kept}, id=now.metadata.id)
    return identity_columns.restore_high_water_marks(metadata, now.metadata)


def _is_kept(key: str, now: State) -> bool:
    owned = now.protocol.is_catalog_managed or coordinated_commits.coordinator_of(now.metadata) is not None
    return key in _KEPT_PROPERTIES or (owned and key == property_values.IN_COMMIT_TIMESTAMPS)


def _size(files: pa.Table) -> int:
    return sum(files["size"].to_pylist())
