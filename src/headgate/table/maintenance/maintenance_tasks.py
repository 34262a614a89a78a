"""What there is to do for the upkeep of one catalog-managed table: each chore a row, with when it is due.

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


def _unpublished(chores: TaskContext) -> str | None:
    if not chores.policy.publish:
        return None
    tail = chores.tail()
    return _versions(tail.published + 1, tail.latest) if tail.latest > tail.published else None


def _publish(chores: TaskContext) -> str:
    before = chores.tail().published
    return _versions(before + 1, chores.table.publish())


def _uncheckpointed(chores: TaskContext) -> str | None:
    if not chores.policy.checkpoint:
        return None
    state = chores.table.snapshot().state
    behind = state.version - _checkpointed(chores, state.version)
    protected = log_retention.log_settings(state.protocol, state.metadata).protected_before
    if behind < log_retention.checkpoint_interval(state.metadata) or state.version < protected:
        return None
    return f"version {state.version}, {'1 version' if behind == 1 else f'{behind} versions'} without one"


def _checkpointed(chores: TaskContext, version: Version) -> Version:
    """The version of the last checkpoint, whether or not the pointer to it is there; 0 if there is none."""
    segment, _ = chores.table.segment(version)
    return segment.checkpoint[0].version if segment.checkpoint else Version(0)


def _checkpoint(chores: TaskContext) -> str:
    return f"version {chores.table.checkpoint()}"


def _blocks(chores: TaskContext) -> Iterator[tuple[Version, Version]]:
    """The published blocks after the last checkpoint that have no compaction."""
    size = chores.policy.compact
    state = chores.table.snapshot().state
    if size < 2 or size >= log_retention.checkpoint_interval(state.metadata):
        return
    after = _checkpointed(chores, state.version)
    files = log_reader.list_log(chores.table.store, since=after)
    there = {file.path for file in files if file.kind is file_names.LogFileKind.COMPACTED}
    published = {file.version for file in files if file.kind is file_names.LogFileKind.PUBLISHED}
    last = chores.tail().published
    for start in range((after // size + 1) * size, last + 2 - size, size):
        end = start + size - 1
        versions = set(range(start, end + 1))
        if versions <= published and file_names.compaction_path(Version(start), Version(end)) not in there:
            yield Version(start), Version(end)


def _uncompacted(chores: TaskContext) -> str | None:
    found = list(_blocks(chores))
    return _versions(found[0][0], found[-1][1]) if found else None


def _compact(chores: TaskContext) -> str | None:
    found = list(_blocks(chores))
    for start, end in found:
        chores.table.compact_log(start, end)
    return _versions(found[0][0], found[-1][1]) if found else None


def _missing_checksum(chores: TaskContext) -> str | None:
    found = chores.table.snapshot()
    # Counting the files of a very large table is Spark's work, and its next checkpoint brings the sum.
    if not chores.policy.checksum or _is_large(chores, found):
        return None
    try:
        chores.table.store.head(file_names.checksum_path(found.version))
    except ObjectNotFound:
        return f"version {found.version}"
    return None


def _is_large(chores: TaskContext, found: Snapshot) -> bool:
    return found.files.checkpoint_bytes > chores.table.settings.spark_replay_bytes


def _checksum(chores: TaskContext) -> str:
    found = chores.table.check_permitted(Maintenance.CHECKSUM, "a checksum").snapshot
    sizes = found.files.without_stats["size"]
    totals = FileTotals(len(sizes), pc.sum(sizes).as_py() or 0)
    checksum_files.write_checksum(chores.table.store, found.state, totals)
    catalog_hints.note_checksum(chores, found.state, totals)
    return f"version {found.version}"


def _expired(chores: TaskContext) -> str | None:
    if not chores.policy.cleanup:
        return None
    state, now_ms = chores.table.snapshot().state, chores.table.guard.now_ms()
    due = log_cleanup.is_due(chores.table.store, state, now_ms=now_ms)
    return "versions that are older than the log is kept" if due else None


def _cleanup(chores: TaskContext) -> str | None:
    deleted = chores.table.cleanup_log()
    return _files(len(deleted)) if deleted else None


def _unvacuumed(chores: TaskContext) -> str | None:
    """Due if files may go that were removed a while after those that went last."""
    every, table = chores.policy.vacuum_every, chores.table
    if every is None:
        return None
    state = table.snapshot().state
    moment = (
        table.guard.now_ms()
        - log_retention.log_settings(state.protocol, state.metadata).tombstone_retention_ms
    )
    needed = table.guard.horizon().timestamp
    moment = moment if needed is None else min(moment, needed)
    due = moment - chores.vacuumed() >= every // timedelta(milliseconds=1)
    return "files that no readable version needs" if due else None


def _vacuum(chores: TaskContext) -> str | None:
    deleted = vacuum.vacuum(chores.table, VacuumOptions()).paths
    return _files(len(deleted)) if deleted else None


def _lost_staged_files(chores: TaskContext) -> tuple[str, ...]:
    table, grace = chores.table, chores.policy.staged_grace // timedelta(milliseconds=1)
    before = table.guard.now_ms() - grace
    needed = table.guard.horizon().timestamp
    moment = EpochMillis(before if needed is None else min(before, needed))
    # In this order: a version that is published cannot be won by a file that is written later.
    published = chores.tail().published
    found = staged_cleanup.old_staged_files(table.store, published=published, before=moment)
    ratified = chores.publications.named(chores.table_id, staged_cleanup.staged_names(found)) if found else ()
    return staged_cleanup.unratified_paths(found, ratified)


def _unswept(chores: TaskContext) -> str | None:
    found = _lost_staged_files(chores) if chores.policy.sweep else ()
    return _files(len(found)) if found else None


def _sweep(chores: TaskContext) -> str:
    found = _lost_staged_files(chores)
    for path in found:
        chores.table.store.delete(path)
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
