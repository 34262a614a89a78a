"""What there is to do for the upkeep of one catalog-managed table: each task a row, with when it is due.

Any of them can be interrupted anywhere, and be done by several at once: it is then done by the next who
comes, or twice, which is as good.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pyarrow.compute as pc

from headgate.catalog.ports.commits import TableId, Tail
from headgate.catalog.ports.external_versions import StagedFiles
from headgate.catalog.ports.maintenance import Maintenance
from headgate.catalog.ports.serving import LogHints
from headgate.errors import ObjectNotFound
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.features.rearrangement import DEFAULTS, Thresholds
from headgate.protocol.log import file_names, log_retention
from headgate.protocol.log.version_checksum import FileTotals
from headgate.table.commit import catalog_hints
from headgate.table.maintenance import staged_cleanup, vacuum
from headgate.table.maintenance.rearranger import Rearranger
from headgate.table.maintenance.vacuum import VacuumOptions
from headgate.table.opened_table import OpenedTable
from headgate.table.read import checksum_files, log_reader
from headgate.table.read.snapshot import Snapshot
from headgate.table.upkeep import log_cleanup


@dataclass(frozen=True, slots=True)
class WorkerPolicy:
    """What is to be done of what is due."""

    publish: bool = True
    checkpoint: bool = True
    compact: int = 0
    """Write a log compaction file for every that many versions after the last checkpoint; 0 writes none."""
    checksum: bool = True
    cleanup: bool = True
    """Delete old versions from the logs of tables that permit it."""
    vacuum_every: timedelta | None = timedelta(days=1)
    """Delete data files that no readable version needs, of tables that permit it, so often; None: never."""
    rearrange: Thresholds | None = DEFAULTS
    """From where on files are put together, clustered or purged of deleted rows, in tables that permit it and
    have no thresholds of their own; None: never. It takes a worker with Spark."""
    sweep: bool = True
    """Delete staged files of proposals that lost, and the places of tables that were never made."""
    staged_grace: timedelta = timedelta(days=1)
    """How old a loser's staged file must be."""
    events_kept: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class TaskContext:
    """One table, and what the catalog knows of it."""

    table_id: TableId
    table: OpenedTable
    tail: Callable[[], Tail]
    publications: StagedFiles
    vacuumed: Callable[[], EpochMillis]
    note_log: Callable[[LogHints], None]
    policy: WorkerPolicy
    thresholds: Thresholds | None = None
    """What was said of this table in place of what the policy says of all."""
    rearranger: Rearranger | None = None


@dataclass(frozen=True, slots=True)
class MaintenanceTask:
    """A kind of work: what there is to do, if anything, and doing it; both say in words what it is."""

    name: str
    kind: Maintenance | None
    due: Callable[[TaskContext], str | None]
    do: Callable[[TaskContext], str | None]
    takes_rows: bool = False
    """Whether it takes somebody who writes rows, as Spark does."""


def _unpublished(context: TaskContext) -> str | None:
    if not context.policy.publish:
        return None
    tail = context.tail()
    return _versions(tail.published + 1, tail.latest) if tail.latest > tail.published else None


def _publish(context: TaskContext) -> str:
    before = context.tail().published
    return _versions(before + 1, context.table.publish())


def _uncheckpointed(context: TaskContext) -> str | None:
    if not context.policy.checkpoint:
        return None
    state = context.table.snapshot().state
    behind = state.version - _checkpointed(context, state.version)
    protected = log_retention.log_settings(state.protocol, state.metadata).protected_before
    if behind < log_retention.checkpoint_interval(state.metadata) or state.version < protected:
        return None
    return f"version {state.version}, {'1 version' if behind == 1 else f'{behind} versions'} without one"


def _checkpointed(context: TaskContext, version: Version) -> Version:
    """The version of the last checkpoint, whether or not the pointer to it is there; 0 if there is none."""
    segment, _ = context.table.segment(version)
    return segment.checkpoint[0].version if segment.checkpoint else Version(0)


def _checkpoint(context: TaskContext) -> str:
    return f"version {context.table.checkpoint()}"


def _blocks(context: TaskContext) -> Iterator[tuple[Version, Version]]:
    """The published blocks after the last checkpoint that have no compaction."""
    size = context.policy.compact
    state = context.table.snapshot().state
    if size < 2 or size >= log_retention.checkpoint_interval(state.metadata):
        return
    after = _checkpointed(context, state.version)
    files = log_reader.list_log(context.table.store, since=after)
    there = {file.path for file in files if file.kind is file_names.LogFileKind.COMPACTED}
    published = {file.version for file in files if file.kind is file_names.LogFileKind.PUBLISHED}
    last = context.tail().published
    for start in range((after // size + 1) * size, last + 2 - size, size):
        end = start + size - 1
        versions = set(range(start, end + 1))
        if versions <= published and file_names.compaction_path(Version(start), Version(end)) not in there:
            yield Version(start), Version(end)


def _uncompacted(context: TaskContext) -> str | None:
    found = list(_blocks(context))
    return _versions(found[0][0], found[-1][1]) if found else None


def _compact(context: TaskContext) -> str | None:
    found = list(_blocks(context))
    for start, end in found:
        context.table.compact_log(start, end)
    return _versions(found[0][0], found[-1][1]) if found else None


def _missing_checksum(context: TaskContext) -> str | None:
    found = context.table.snapshot()
    # Counting the files of a very large table is Spark's work, and its next checkpoint brings the sum.
    if not context.policy.checksum or _is_large(context, found):
        return None
    try:
        context.table.store.head(file_names.checksum_path(found.version))
    except ObjectNotFound:
        return f"version {found.version}"
    return None


def _is_large(context: TaskContext, found: Snapshot) -> bool:
    return found.files.checkpoint_bytes > context.table.settings.spark_replay_bytes


def _checksum(context: TaskContext) -> str:
    found = context.table.check_permitted(Maintenance.CHECKSUM, "a checksum").snapshot
    sizes = found.files.without_stats["size"]
    totals = FileTotals(len(sizes), pc.sum(sizes).as_py() or 0)
    checksum_files.write_checksum(context.table.store, found.state, totals)
    catalog_hints.note_checksum(context, found.state, totals)
    return f"version {found.version}"


def _expired(context: TaskContext) -> str | None:
    if not context.policy.cleanup:
        return None
    state, now_ms = context.table.snapshot().state, context.table.guard.now_ms()
    due = log_cleanup.is_due(context.table.store, state, now_ms=now_ms)
    return "versions that are older than the log is kept" if due else None


def _cleanup(context: TaskContext) -> str | None:
    deleted = context.table.cleanup_log()
    return _files(len(deleted)) if deleted else None


def _unvacuumed(context: TaskContext) -> str | None:
    """Due if files may go that were removed a while after those that went last."""
    every, table = context.policy.vacuum_every, context.table
    if every is None:
        return None
    state = table.snapshot().state
    moment = (
        table.guard.now_ms()
        - log_retention.log_settings(state.protocol, state.metadata).tombstone_retention_ms
    )
    needed = table.guard.horizon().timestamp
    moment = moment if needed is None else min(moment, needed)
    due = moment - context.vacuumed() >= every // timedelta(milliseconds=1)
    return "files that no readable version needs" if due else None


def _vacuum(context: TaskContext) -> str | None:
    deleted = vacuum.vacuum(context.table, VacuumOptions()).paths
    return _files(len(deleted)) if deleted else None


def _lost_staged_files(context: TaskContext) -> tuple[str, ...]:
    table, grace = context.table, context.policy.staged_grace // timedelta(milliseconds=1)
    before = table.guard.now_ms() - grace
    needed = table.guard.horizon().timestamp
    moment = EpochMillis(before if needed is None else min(before, needed))
    # In this order: a version that is published cannot be won by a file that is written later.
    published = context.tail().published
    found = staged_cleanup.old_staged_files(table.store, published=published, before=moment)
    ratified = (
        context.publications.ratified_names(context.table_id, staged_cleanup.staged_names(found))
        if found
        else ()
    )
    return staged_cleanup.unratified_paths(found, ratified)


def _unswept(context: TaskContext) -> str | None:
    found = _lost_staged_files(context) if context.policy.sweep else ()
    return _files(len(found)) if found else None


def _sweep(context: TaskContext) -> str:
    found = _lost_staged_files(context)
    for path in found:
        context.table.store.delete(path)
    return _files(len(found))


MAINTENANCE_TASKS: tuple[MaintenanceTask, ...] = (
    MaintenanceTask("publish", None, _unpublished, _publish),
    MaintenanceTask("checkpoint", Maintenance.CHECKPOINT, _uncheckpointed, _checkpoint),
    MaintenanceTask("compact the log", Maintenance.LOG_COMPACTION, _uncompacted, _compact),
    MaintenanceTask("checksum", Maintenance.CHECKSUM, _missing_checksum, _checksum),
    MaintenanceTask("clean up the log", Maintenance.METADATA_CLEANUP, _expired, _cleanup),
    MaintenanceTask("vacuum", Maintenance.DATA_CLEANUP, _unvacuumed, _vacuum),
    MaintenanceTask("sweep staged files", None, _unswept, _sweep),
)


def _versions(first: int, last: int) -> str:
    return f"version {first}" if first == last else f"versions {first} to {last}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"
