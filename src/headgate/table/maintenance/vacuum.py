"""Deleting data files that no version within the retention period needs.

A file goes only if it is neither live, nor was until recently, nor is young itself: a young file may
belong to a commit that is still being prepared. Older versions can then no longer be read.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain

import pyarrow.compute as pc
from typing_extensions import override

from headgate.calls import summary
from headgate.calls.summary import Grid, Summary
from headgate.catalog.ports.maintenance import Maintenance, Permission
from headgate.errors import InvalidRequest, ObjectNotFound
from headgate.progress import reporting
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import DeletionVector, EpochMillis, RemoveFile, Version
from headgate.protocol.log import checkpoint_schema, codec, deletion_vectors, file_names, log_retention
from headgate.protocol.log.deletion_vectors import StoredVector
from headgate.protocol.log.file_names import LogFileKind
from headgate.storage import locations, parallel_reads
from headgate.storage.local import LocalStore
from headgate.storage.location_spelling import is_local
from headgate.storage.store import ObjectMeta
from headgate.table.committer import Frontier
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths, log_reader
from headgate.table.read.snapshot import Snapshot
from headgate.table.upkeep import checkpoint_rows
from headgate.table.upkeep.checkpoint_rows import CheckpointInput

_CHANGES = "_change_data"
# What a job that was killed leaves in the folder that was made for it, and that nobody else writes to.
_LEFT_BY_A_JOB = re.compile(
    rf"(?:{_CHANGES}/)?(?:[0-9a-f]{{32}}-)?[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}/"
    r"(?:_temporary/.+|_SUCCESS|\._SUCCESS\.crc)"
)


@dataclass(frozen=True, slots=True)
class VacuumResult:
    """The files that were deleted, or would be, by their paths in the table, and how large they are."""

    paths: tuple[str, ...]
    bytes: int
    deleted: bool
    permission: Permission = Permission.ALWAYS
    """By whose word: the catalog's, or that of the owner who called for it."""

    @override
    def __repr__(self) -> str:
        what = "deleted" if self.deleted else "would be deleted"
        return f"VacuumResult({len(self.paths):,} files, {summary.size_text(self.bytes)}, {what})"

    def _repr_html_(self) -> str:
        paths = tuple((path,) for path in self.paths)
        return summary.to_html(Summary(repr(self), grids=(Grid("files", ("path",), paths),)))


@dataclass(frozen=True, slots=True)
class VacuumOptions:
    """What is asked for."""

    retention: timedelta | None = None
    """How long a removed file is kept; by default what ``delta.deletedFileRetentionDuration`` says."""
    dry_run: bool = False
    """Whether to only say what would be deleted."""
    lite: bool = False
    """Whether to look only at files that the log says were removed, which takes no listing of the table."""
    enforce_retention: bool = True
    """Whether less than the table's own retention is refused, as it can break readers and writers."""


def vacuum(table: OpenedTable, wish: VacuumOptions) -> VacuumResult:
    """Delete what nobody needs: no version that is kept, and nobody with a lease.

    ``NotAllowed`` for a table whose catalog has not permitted it, unless its owner calls for it.
    """
    permitted = table.check_permitted(Maintenance.DATA_CLEANUP, "VACUUM")
    base = permitted.snapshot
    table_features.check_writable(base.state.protocol, base.state.metadata)
    cutoff = _cutoff(table, base, wish)
    kept = _protected_files(table, base, cutoff) | _removed_since_leased(table, base.version)
    if _outlasts_checkpoints(base, wish):
        kept |= _removed_since(table, cutoff)
    found = _expired_files(table, cutoff) if wish.lite else table.store.list_from("")
    old = [meta for meta in found if _is_data(meta.path) and meta.modified_ms < cutoff]
    # Meanwhile somebody may have restored an old version, or have given the table to a coordinator.
    newer = table.check_permitted(Maintenance.DATA_CLEANUP, "VACUUM").snapshot
    if newer.version != base.version:
        kept |= _protected_files(table, newer, cutoff)
    going = [meta for meta in old if meta.path not in kept]
    if not wish.dry_run:
        deleting = parallel_reads.map_in_order(table.store, lambda meta: _delete(table, meta), going)
        with reporting.tracked("delete files", deleting, len(going)) as deleted:
            for _ in deleted:
                pass
    return VacuumResult(
        tuple(meta.path for meta in going),
        sum(meta.size for meta in going),
        not wish.dry_run,
        permitted.permission,
    )


def _cutoff(table: OpenedTable, base: Snapshot, wish: VacuumOptions) -> EpochMillis:
    """Before which moment files must have been written, and if they were live, removed, to be deleted."""
    moment = EpochMillis(table.guard.now_ms() - _retention_ms(base, wish))
    allowed = table.guard.horizon() if wish.dry_run else table.guard.give_up(moment=moment)
    return moment if allowed.timestamp is None else min(moment, allowed.timestamp)


def _outlasts_checkpoints(base: Snapshot, wish: VacuumOptions) -> bool:
    """Whether checkpoints may have forgotten removals within the retention that is asked for.

    They keep them for the table's own, or for what that was when they were written.
    """
    least = log_retention.log_settings(base.state.protocol, base.state.metadata).tombstone_retention_ms
    return (
        _retention_ms(base, wish) > least
        or property_values.DELETED_FILE_RETENTION in base.state.metadata.configuration
    )


def _retention_ms(base: Snapshot, wish: VacuumOptions) -> int:
    least = log_retention.log_settings(base.state.protocol, base.state.metadata).tombstone_retention_ms
    asked = least if wish.retention is None else wish.retention // timedelta(milliseconds=1)
    if asked < 0:
        raise InvalidRequest(
            f"files cannot be kept for {wish.retention}: give a time from zero on",
            code="DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE",
        )
    if asked < least and wish.enforce_retention:
        raise InvalidRequest(
            f"files removed less than {timedelta(milliseconds=least)} ago are kept (the table's property "
            f"delta.deletedFileRetentionDuration), and {wish.retention} is less: readers of older versions, "
            "and writers that take long, would lose files. If there are none, say enforce_retention=False",
            code="DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
        )
    return asked


def _protected_files(table: OpenedTable, base: Snapshot, cutoff: int) -> frozenset[str]:
    """The files that are live, or were after the cutoff, and those of their deletion vectors."""
    segment, frontier = table.segment(base.version)
    asked = log_retention.log_settings(base.state.protocol, base.state.metadata)
    columns = replace(checkpoint_schema.file_columns(base.state.metadata, asked), json=False, typed=False)
    source = CheckpointInput(table.store, segment, frontier)
    kept: set[str] = set()
    for batch in checkpoint_rows.file_rows(source, columns, expired_before=cutoff):
        kept.update(_place(table, path) for path in pc.struct_field(batch.rows, "path").to_pylist())
        with_vectors = batch.rows.filter(pc.is_valid(pc.struct_field(batch.rows, "deletionVector")))
        for row in with_vectors.to_pylist():
            kept.update(_vector_file(table, _vector(row["deletionVector"])))
    return frozenset(kept)


def _removed_since_leased(table: OpenedTable, latest: Version) -> frozenset[str]:
    """The files that went after the oldest version with a lease: not every commit says when."""
    leased = table.guard.horizon().version
    if leased is None:
        return frozenset()
    _, frontier = table.segment(latest)
    later = map(Version, range(leased + 1, latest + 1))
    return frozenset(
        path for remove in _removals(table, frontier, later) for path in _files_of(table, remove)
    )


def _removals(table: OpenedTable, frontier: Frontier, versions: Iterable[Version]) -> Iterator[RemoveFile]:
    for version in versions:
        content = log_reader.commit_content(table.store, version, frontier.unpublished.get(version))
        for action in codec.decode_actions(version, content):
            if isinstance(action, RemoveFile):
                yield action


def _vector(row: dict[str, object]) -> DeletionVector:
    return DeletionVector(
        storage_type=str(row["storageType"]),
        path_or_inline_dv=str(row["pathOrInlineDv"]),
        size_in_bytes=0,
        cardinality=0,
    )


def _vector_file(table: OpenedTable, vector: DeletionVector) -> Iterator[str]:
    if vector.storage_type == "i":
        return
    place = deletion_vectors.vector_location(vector)
    if isinstance(place, StoredVector):
        yield _place(table, place.path) if place.absolute else place.path


def _place(table: OpenedTable, path: str) -> str:
    """Where a file is within the table, also if the log names it by another way to it; else nothing."""
    store, at = file_paths.locate_object(table.store, table.location, path)
    if store is table.store:
        return at
    if not is_local(table.location) or not is_local(path):
        return ""
    root, file = map(locations.canonical, (table.location, file_paths.decode_absolute(path)))
    return file.removeprefix(f"{root}/") if file.startswith(f"{root}/") else ""


def _expired_files(table: OpenedTable, cutoff: int) -> Iterator[ObjectMeta]:
    """The files that commits still in the log removed before the cutoff, if they are there."""
    seen: set[str] = set()
    for remove in _logged_removals(table):
        if (remove.deletion_timestamp or 0) < cutoff:
            seen.update(_files_of(table, remove))
    for path in sorted(seen - {""}):
        if isinstance(table.store, LocalStore) and table.store.is_below_link(path):
            continue  # as in a listing, what is behind a link is not the table's
        with suppress(ObjectNotFound):
            yield table.store.head(path)


def _removed_since(table: OpenedTable, cutoff: int) -> frozenset[str]:
    """The files that commits still in the log removed after the cutoff."""
    late = (remove for remove in _logged_removals(table) if (remove.deletion_timestamp or 0) >= cutoff)
    return frozenset(path for remove in late for path in _files_of(table, remove))


def _logged_removals(table: OpenedTable) -> Iterator[RemoveFile]:
    """What the commits still in the log removed."""
    _, frontier = table.segment(table.snapshot().version)
    versions = {
        file.version for file in log_reader.list_log(table.store) if file.kind is LogFileKind.PUBLISHED
    }
    return _removals(table, frontier, sorted({*versions, *frontier.unpublished}))


def _files_of(table: OpenedTable, file: RemoveFile) -> Iterator[str]:
    vector = file.deletion_vector
    return chain([_place(table, file.path)], _vector_file(table, vector) if vector is not None else ())


def _is_data(path: str) -> bool:
    """Whether a file is the table's to delete: not of the log, nor hidden, nor below something hidden.

    Spark hides what its tasks have not finished: where only our jobs write, that is the table's too.
    """
    first, *_ = folders = path.split("/")
    if path.startswith(file_names.LOG_FOLDER):
        return False
    hidden = [part for part in folders if part.startswith((".", "_")) and "=" not in part]
    if not hidden or (first == _CHANGES and hidden == [_CHANGES]):
        return True
    return _LEFT_BY_A_JOB.fullmatch(path) is not None


def _delete(table: OpenedTable, meta: ObjectMeta) -> None:
    table.store.delete(meta.path)
    folder, slash, name = meta.path.rpartition("/")
    table.store.delete(f"{folder}{slash}.{name}.crc")  # what Hadoop leaves beside a file on a disk
