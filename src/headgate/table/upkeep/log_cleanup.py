"""Deleting the part of a log that nobody may ask for any more."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress

from headgate.errors import ObjectExists, ObjectNotFound, UnsupportedFeature
from headgate.protocol import property_values, table_features
from headgate.protocol.actions import Protocol, Version
from headgate.protocol.log import codec, file_names, log_cleanup, log_retention, log_segment
from headgate.protocol.log.file_names import LogFile
from headgate.protocol.log.log_cleanup import CheckpointProtection, CleanupPlan
from headgate.protocol.log.replay import State
from headgate.storage.store import Store
from headgate.table.committer import Frontier
from headgate.table.read import checkpoint_reader, history, log_reader
from headgate.table.upkeep.permissions import MaintenanceGuard

_LOG = logging.getLogger(__name__)
_STAGED = (file_names.LEGACY_STAGED_FOLDER, file_names.STAGED_FOLDER)


def clean_up_log(
    store: Store,
    frontier: Frontier,
    state: State,
    guard: MaintenanceGuard,
    *,
    now_ms: int,
    retention_ms: int | None = None,
) -> tuple[str, ...]:
    """Delete what the table's properties and the guard allow; the paths of what was deleted, in order.

    ``retention_ms`` counts in place of ``delta.logRetentionDuration``.
    A crash in the middle leaves a log that is cleaned up less far.
    """
    asked = log_retention.log_settings(state.protocol, state.metadata)
    stamps = history.version_timestamps(store, frontier, state)
    retention = asked.log_retention_ms if retention_ms is None else retention_ms
    commit = _give_up_versions(
        guard, log_cleanup.cutoff_commit(stamps, log_cleanup.cutoff_time(now_ms, retention))
    )
    listing = log_reader.list_log(store)
    staged = [meta.path for folder in _STAGED for meta in store.list_from(folder)]
    found = log_cleanup.plan_cleanup(
        listing, commit, staged=staged, held=frontier.unpublished, latest=frontier.bound
    )
    if commit is None or not found.deletions or not _is_allowed(store, state, found, commit, listing):
        return ()
    _check_whole(store, found)
    if guard.give_up(before=found.version).version != found.version:
        return ()  # somebody has just begun to need one of these versions
    _name_for_old_clients(store, listing)
    for path in found.deletions:
        store.delete(path)
    stale = _stale_sidecars(store, now_ms)
    for path in stale:
        store.delete(path)
    return (*found.deletions, *stale)


def _name_for_old_clients(store: Store, listing: Sequence[LogFile]) -> None:
    """Give the newest checkpoint, if only v2 clients know its name, the name that all know, too.

    Once the first commits are gone, a client that knows no v2 checkpoints finds there which protocol it
    lacks, and says so; else it would find a log with a gap. Done before anything goes.
    """
    found = [file for file in listing if file.kind is file_names.LogFileKind.CHECKPOINT and file.size > 0]
    latest = max((file.version for file in found), default=None)
    newest = [file.path for file in found if file.version == latest]
    if latest is None or not all(file_names.is_v2_checkpoint(path) for path in newest):
        return
    for path in newest:
        if path.endswith(".parquet"):
            with suppress(ObjectExists):
                store.put_if_absent(file_names.classic_checkpoint_path(latest), store.read(path))
            return


def is_due(store: Store, state: State, *, now_ms: int) -> bool:
    """Whether there may be something to delete, by the times of files alone: one listing tells.

    A checkpoint is never older than its version, so this is late rather than early.
    """
    if not property_values.flag(state.metadata, property_values.EXPIRED_LOG_CLEANUP):
        return False
    moment = log_cleanup.cutoff_time(
        now_ms, log_retention.log_settings(state.protocol, state.metadata).log_retention_ms
    )
    first: Version | None = None
    for meta in store.list_from(file_names.LOG_FOLDER):
        file = file_names.parse(meta.path, size=meta.size)
        if file is None:
            continue
        first = file.version if first is None else min(first, file.version)
        if (
            file.kind is file_names.LogFileKind.CHECKPOINT
            and file.version > first
            and meta.modified_ms <= moment
        ):
            return True
    return False


def _give_up_versions(guard: MaintenanceGuard, commit: Version | None) -> Version | None:
    needed = guard.horizon().version
    return commit if commit is None or needed is None else min(commit, needed)


def _is_allowed(
    store: Store, state: State, found: CleanupPlan, commit: Version, listing: Sequence[LogFile]
) -> bool:
    before = log_retention.log_settings(state.protocol, state.metadata).protected_before
    if not before:
        return True

    def knows(protocol: Protocol) -> bool:
        try:
            table_features.check_maintainable(protocol, state.metadata)
        except UnsupportedFeature:
            return False
        return True

    end = Version(min(before, found.version or 0))
    protection = CheckpointProtection(before, commit, tuple(_protocols(store, listing, end)))
    allowed = log_cleanup.is_cleanup_allowed(found, protection, knows=knows)
    if not allowed:
        _LOG.info("nothing is cleaned up yet: the checkpoints before version %s are protected", before)
    return allowed


def _protocols(store: Store, listing: Sequence[LogFile], end: Version) -> Iterator[Protocol]:
    """Those of the versions up to ``end`` that are still there."""
    first = log_segment.earliest_version(listing)
    if first is None or first > end:
        return
    if checkpoint := log_segment.build(listing, target=first).checkpoint:
        yield checkpoint_reader.read_checkpoint(store, checkpoint)[0].protocol
    for version in map(Version, range(first, end + 1)):
        try:
            found = codec.decode_without_files(
                version, store.read(file_names.published_path(version))
            ).protocol
        except ObjectNotFound:
            continue
        if found is not None:
            yield found


def _check_whole(store: Store, found: CleanupPlan) -> None:
    """Make sure that the checkpoint can stand for what goes: it can be read, and has its sidecars."""
    checkpoint_reader.read_checkpoint(store, found.checkpoint)
    for path in checkpoint_reader.checkpoint_sources(store, found.checkpoint).parquet:
        store.head(path)
    store.head(file_names.published_path(found.checkpoint[0].version))


def _stale_sidecars(store: Store, now_ms: int) -> tuple[str, ...]:
    """Sidecars that no checkpoint names; all are asked, and one that cannot be read stops this."""
    named: set[str] = set()
    for file in log_reader.list_log(store):
        if file.kind is file_names.LogFileKind.CHECKPOINT and file.size > 0:
            named.update(checkpoint_reader.checkpoint_sources(store, [file]).parquet)
    listing = ((meta.path, meta.modified_ms) for meta in store.list_from(file_names.SIDECAR_FOLDER))
    return log_cleanup.expired_sidecars(listing, named, now_ms)
