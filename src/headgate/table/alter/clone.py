"""Making a table what another one is: a new table, or over one that is there.

A shallow clone names the files of its source where they are; a deep one has copies. Only the log is read
and written, and files are copied as they are, so no row passes through here. The commit is the last step:
until then nobody can see anything, and what a failure leaves behind are files that belong to no version.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar
from uuid import UUID

import pyarrow as pa

from headgate.clock import World
from headgate.errors import ConflictError, InvalidRequest, ObjectNotFound, StorageError, UserError
from headgate.protocol import property_values
from headgate.protocol.actions import Action, AddFile, EpochMillis, Version
from headgate.protocol.metadata import clone_metadata
from headgate.protocol.metadata.clone_metadata import CloneMetadata
from headgate.protocol.transaction.attempt import CLONE, ReadSet
from headgate.storage import copy
from headgate.storage.copy import ObjectCopy
from headgate.storage.locate import locate
from headgate.storage.store import Store
from headgate.table.alter import clone_files, create, full_file_actions, restore
from headgate.table.alter.clone_files import CloneOrigin, ClonePlan, FileCopy
from headgate.table.alter.create import InitialRows, InitialState
from headgate.table.commit import remove_actions
from headgate.table.location import TableLocation
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths
from headgate.table.read.snapshot import Snapshot
from headgate.table.transaction import Change, Operation

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class CloneSource:
    """What is cloned: a table, as it was at a version."""

    name: str
    """How the history of the clone calls it."""
    table: OpenedTable
    snapshot: Snapshot

    @property
    def size_bytes(self) -> int:
        return sum(self.snapshot.files.without_stats["size"].to_pylist())


@dataclass(frozen=True, slots=True)
class CloneOptions:
    """How it is cloned."""

    shallow: bool = False
    properties: Mapping[str, str] = field(default_factory=dict)
    """Those that the clone has in place of the source's."""
    required: Mapping[str, str] | None = field(default_factory=dict)
    """What the catalog of a new clone wants it to say; None if the clone is an ordinary table."""


def create_clone(
    site: TableLocation, source: CloneSource, wish: CloneOptions, register: Callable[[], Made]
) -> Made:
    """Make a new catalog-managed table at ``site``, which is one once ``register`` has answered."""
    content, wanted = first_commit(site, source, wish)
    try:
        create.write_first_commit(site.store, content, managed=True)
        return register()
    except UserError:  # nobody will ever refer to what was copied
        delete_copies(site.store, wanted.copies)
        raise


def create_clone_at_path(site: TableLocation, source: CloneSource, wish: CloneOptions) -> None:
    """Make a new ordinary table at ``site``; ``TableExists`` if there is one."""
    content, wanted = first_commit(site, source, replace(wish, required=None))
    try:
        create.write_first_commit(site.store, content, managed=False)
    except UserError:
        delete_copies(site.store, wanted.copies)
        raise


def first_commit(site: TableLocation, source: CloneSource, wish: CloneOptions) -> tuple[bytes, ClonePlan]:
    """The first commit of a new clone, whose files are copied; and these."""
    now = EpochMillis(site.world.now_ms())
    planned = clone_metadata.new_clone(
        source.snapshot.state, wish.properties, required=wish.required, uuid=site.world.uuid, now=now
    )
    wanted = _plan_files(site, source, wish, ())
    operation = _operation(source, wish, wanted, ())
    _copy_files(site.store, source, wanted.copies)
    opening = InitialState(planned.protocol, planned.metadata, planned.domains)
    return create.first_commit_content(opening, InitialRows(operation, wanted.adds), world=site.world), wanted


def replace_with_clone(target: OpenedTable, source: CloneSource, wish: CloneOptions) -> Version:
    """Make an existing table the clone, in one commit; the version from which it is.

    Whoever commits meanwhile wins: ``ConcurrentWrite``, and nothing happened.
    """
    base = target.snapshot()
    _check_replaceable(target, base, source)
    planned = clone_metadata.replace_with_clone(
        base.state, source.snapshot.state, wish.properties, uuid=target.world.uuid
    )
    present = tuple(full_file_actions.all_live_adds(target, base))
    wanted = _plan_files(target, source, wish, present)
    files = clone_files.file_difference(wanted.adds, present, tracks_rows=planned.tracks_rows)
    live = base.files.without_stats
    gone = live.filter(pa.array([key in files.removed_keys for key in restore.file_keys(live)], pa.bool_()))
    removes = remove_actions.removals(gone, EpochMillis(target.world.now_ms()))
    operation = _operation(source, wish, wanted, gone["size"].to_pylist())
    _copy_files(target.store, source, wanted.copies)
    actions = (*_state_actions(base, planned), *removes, *files.adds)
    change = Change(operation, actions, reads=ReadSet(whole_table=True), once=True)
    try:
        return target.commit(change, base=base)
    except (ConflictError, UserError):
        # Proven not to be committed; after any other error the files may belong to a version (I7).
        delete_copies(target.store, wanted.copies)
        raise


def source_locations(source: CloneSource) -> frozenset[str]:
    """Where the files of a table are: its own place, and others if it is a shallow clone itself."""
    named = source.snapshot.files.without_stats["path"].to_pylist()
    return frozenset(
        {
            source.table.location,
            *clone_files.absolute_folders(path for path in named if file_paths.is_absolute(path)),
        }
    )


def delete_copies(store: Store, copies: Sequence[FileCopy]) -> None:
    """Delete copies that are proven to belong to no commit."""
    # Leftovers cost space only, and the failure that led here must be the one that is told.
    with suppress(StorageError):
        for each in copies:
            store.delete(each.to)


def _check_replaceable(target: OpenedTable, base: Snapshot, source: CloneSource) -> None:
    if file_paths.is_same_location(target.location, source.table.location):
        raise InvalidRequest(
            "a table cannot be replaced by a clone of itself: table.restore(version=…) makes it what it was",
            code="DELTA_UNSUPPORTED_CLONE_REPLACE_SAME_TABLE",
        )
    if property_values.flag(base.state.metadata, property_values.APPEND_ONLY):
        raise InvalidRequest(
            "the table is append-only (its property delta.appendOnly is true), so it cannot be replaced: "
            "clone to another table",
            code="DELTA_CANNOT_MODIFY_APPEND_ONLY",
        )


def _state_actions(base: Snapshot, planned: CloneMetadata) -> Iterator[Action]:
    """What changes besides files."""
    if planned.protocol != base.state.protocol:
        yield planned.protocol
    if planned.metadata != base.state.metadata:
        yield planned.metadata
    yield from planned.domains


def _plan_files(
    site: TableLocation, source: CloneSource, wish: CloneOptions, present: Sequence[AddFile]
) -> ClonePlan:
    table, snapshot = source.table, source.snapshot
    table.scanned(snapshot, None, tuple)
    adds = full_file_actions.all_live_adds(table, snapshot)
    if wish.shallow:
        _check_files_exist(source)
        return clone_files.plan_shallow(adds, table.location, site.location)
    origin = CloneOrigin(snapshot.state.metadata.id, table.location)
    return clone_files.plan_deep(adds, origin, present, _ids(site.world))


def _ids(world: World) -> Iterator[UUID]:
    while True:
        yield UUID(world.uuid())


def _check_files_exist(source: CloneSource) -> None:
    """That files which only an older version has were not deleted since."""
    newest = source.table.snapshot()
    if newest.version == source.snapshot.version:
        return
    now, then = (restore.object_paths(found.files.without_stats) for found in (newest, source.snapshot))
    if missing := list(restore.missing_objects(source.table, sorted(then - now))):
        raise _missing_file_error(source, missing[0])


def _copy_files(store: Store, source: CloneSource, wanted: Sequence[FileCopy]) -> None:
    located = cache(locate)  # many files may be elsewhere, in few places
    try:
        copy.copy_objects(store, [_locate_copy(source, each, located) for each in wanted])
    except ObjectNotFound as exc:
        delete_copies(store, wanted)
        raise _missing_file_error(source, exc.fields.get("path", "one of them")) from exc
    except Exception:
        delete_copies(store, wanted)  # nothing was proposed
        raise


def _locate_copy(source: CloneSource, wanted: FileCopy, located: Callable[[str], Store]) -> ObjectCopy:
    table = source.table
    store, path = file_paths.locate_object(table.store, table.location, wanted.path, located)
    return ObjectCopy(store, path, wanted.to, store.head(path).size if wanted.size is None else wanted.size)


def _missing_file_error(source: CloneSource, path: object) -> InvalidRequest:
    return InvalidRequest(
        f"version {source.snapshot.version} of {source.name} cannot be cloned, because files of it are gone, "
        f"{path} among them: they were removed from the table long enough ago to be cleaned up; clone a "
        "later version",
        code="DELTA_FILE_NOT_FOUND_DETAILED",
    )


def _operation(
    source: CloneSource, wish: CloneOptions, wanted: ClonePlan, removed_sizes: Sequence[int]
) -> Operation:
    copied = [each.size for each in wanted.copies if each.size is not None]
    parameters = {
        "source": source.name,
        "sourceVersion": str(source.snapshot.version),
        "isShallow": str(wish.shallow).lower(),
    }
    metrics = {
        "sourceTableSize": source.size_bytes,
        "sourceNumOfFiles": source.snapshot.files.without_stats.num_rows,
        "numRemovedFiles": len(removed_sizes),
        "numCopiedFiles": len(copied),
        "removedFilesSize": sum(removed_sizes),
        "copiedFilesSize": sum(copied),
    }
    return Operation(CLONE, parameters, {name: str(value) for name, value in metrics.items()})
