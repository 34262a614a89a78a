"""The worker: does what is due for the tables of a lake, and tells what it did.

Several may run at once, each table is tended by one at a time. Whatever fails is told and tried again by
the next round; whatever is interrupted is finished by it.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from functools import partial

import msgspec

from headgate.calls.boundary import PLAIN
from headgate.catalog.ports.catalog import LakeCatalog
from headgate.catalog.ports.directory import TableEntry, parse_name
from headgate.clock import World
from headgate.errors import ConflictError, HeadgateError, InvalidRequest, TableNotFound
from headgate.progress import reporting
from headgate.storage.locate import locate
from headgate.table.maintenance import purge
from headgate.table.maintenance.lease_handle import Lease
from headgate.table.maintenance.maintenance_tasks import (
    MAINTENANCE_TASKS,
    MaintenanceTask,
    TaskContext,
    WorkerPolicy,
)
from headgate.table.maintenance.rearranger import Rearranger
from headgate.table.maintenance.row_tasks import ROW_TASKS
from headgate.table.maintenance.worker_permissions import WorkerGuard
from headgate.table.opened_table import OpenedTable
from headgate.table.upkeep.permissions import CatalogGuard

LAKE = "the lake"
_LEASE_MS = 60_000
_ABANDONED = "delete an abandoned place"
_LOG = logging.getLogger(__name__)


class TaskOutcome(Enum):
    """What became of a task."""

    DONE = "done"
    DUE = "due"
    """There is something to do, and this was a dry run."""
    LEFT = "left"
    """Another worker is tending the table, somebody was quicker, or it takes Spark and there is none."""
    FAILED = "failed"
    """Tried again in the next round."""


class TaskResult(msgspec.Struct, frozen=True, rename={"task": "chore"}):  # JSON keys are never renamed
    """One task of one table, or of the lake."""

    subject: str
    task: str
    outcome: TaskOutcome
    detail: str


@PLAIN.user_calls
@dataclass(frozen=True, slots=True)
class Worker:
    """Tends the tables of one lake; safe to share between threads."""

    catalog: LakeCatalog
    open: Callable[[TableEntry], OpenedTable]
    world: World
    holder: str
    policy: WorkerPolicy = field(default_factory=WorkerPolicy)
    rearranger: Rearranger | None = None
    """Writes rows into other files; None leaves that to a worker that has such a one."""

    def run_once(
        self, *, tables: Iterable[str] | None = None, dry_run: bool = False
    ) -> tuple[TaskResult, ...]:
        """Do what is due now, for all tables or some, by their names; with ``dry_run`` only say what is."""
        wanted = None if tables is None else frozenset(tables)
        return tuple(self._results(wanted, dry_run=dry_run, title="tend tables"))

    def run(
        self,
        *,
        every: float,
        stop: threading.Event,
        tell: Callable[[TaskResult], None] = lambda _result: None,
    ) -> None:
        """Do what is due, again and again, until somebody sets ``stop``."""
        left: set[TaskResult] = set()
        while not stop.is_set():
            known, left = left, set()
            for result in self._results(None, dry_run=False):
                if result.outcome is TaskOutcome.LEFT:
                    left.add(result)
                if result not in known:  # what is left is told once, and not in every round
                    tell(result)
                if stop.is_set():
                    return
            stop.wait(every)

    def _results(
        self, wanted: frozenset[str] | None, *, dry_run: bool, title: str | None = None
    ) -> Iterator[TaskResult]:
        """What is done; with a title its progress is shown, which would disturb results told meanwhile."""
        try:
            chosen = self.catalog.tables() if wanted is None else self._named(wanted)
        except HeadgateError as exc:
            yield TaskResult(LAKE, "list the tables", TaskOutcome.FAILED, exc.message)
            return
        with reporting.tracked(title, chosen) if title else nullcontext(chosen) as tables:
            for entry in tables:
                yield from self._tend(entry, dry_run=dry_run)
        if wanted is None:
            yield from self._tend_lake(dry_run=dry_run)

    def _named(self, names: Iterable[str]) -> list[TableEntry]:
        """The tables of these names that there are; a lake of very many is not listed for a few."""
        found = []
        for name in sorted(names):
            with suppress(TableNotFound, InvalidRequest):
                found.append(self.catalog.resolve(parse_name(name)))
        return found

    def _tend(self, entry: TableEntry, *, dry_run: bool) -> Iterator[TaskResult]:
        name = str(entry.name)
        if dry_run:
            yield from self._run_tasks(entry, None)
            return
        try:
            leases = self.catalog.leases
            held = leases.on_work(f"worker/{entry.table_id}", holder=self.holder, ttl_ms=_LEASE_MS)
        except HeadgateError as exc:
            yield TaskResult(name, "tend", TaskOutcome.FAILED, exc.message)
            return
        if held is None:
            yield TaskResult(name, "tend", TaskOutcome.LEFT, "another worker is tending it")
            return
        with Lease(leases, held, ttl_ms=_LEASE_MS) as lease:
            yield from self._run_tasks(entry, lease)

    def _run_tasks(self, entry: TableEntry, lease: Lease | None) -> Iterator[TaskResult]:
        name = str(entry.name)
        try:
            permissions = self.catalog.permissions.for_background_work()
            permitted = permissions.permitted_kinds(entry.table_id)
            table = self.open(entry)
            guard = CatalogGuard(permissions, self.catalog.leases, entry.table_id)
            table.guard = guard if lease is None else WorkerGuard(guard, lease)
            context = TaskContext(
                entry.table_id,
                table,
                partial(self.catalog.tail, entry.table_id),
                self.catalog.publications,
                partial(self.catalog.leases.vacuumed, entry.table_id),
                partial(self.catalog.note_log, entry.table_id),
                self.policy,
                permissions.thresholds(entry.table_id),
                self.rearranger,
            )
        except HeadgateError as exc:
            yield TaskResult(name, "tend", TaskOutcome.FAILED, exc.message)
            return
        for task in (*MAINTENANCE_TASKS, *ROW_TASKS):
            if task.kind is not None and task.kind not in permitted:
                continue
            try:
                result = _run_task(name, task, context, lease)
            except TableNotFound:  # dropped in the middle of it
                return
            if result is not None:
                yield result

    def _tend_lake(self, *, dry_run: bool) -> Iterator[TaskResult]:
        if self.policy.sweep:
            yield from self._dispose(dry_run=dry_run)
        if dry_run:
            return
        for task, do in (
            ("forget events", self._forget_events),
            ("sweep leases", self.catalog.leases.sweep),
        ):
            try:
                count = do()
            except HeadgateError as exc:
                yield TaskResult(LAKE, task, TaskOutcome.FAILED, exc.message)
            else:
                if count:
                    yield TaskResult(LAKE, task, TaskOutcome.DONE, str(count))

    def _forget_events(self) -> int:
        self.catalog.events.list_pending()
        return self.catalog.events.forget(self.policy.events_kept // timedelta(milliseconds=1))

    def _dispose(self, *, dry_run: bool) -> Iterator[TaskResult]:
        """Delete the files of tables that were never made, or are purged and not gone yet."""
        try:
            places = self.catalog.disposal.abandoned()
        except HeadgateError as exc:
            yield TaskResult(LAKE, _ABANDONED, TaskOutcome.FAILED, exc.message)
            return
        for place in places:
            if dry_run:
                yield TaskResult(LAKE, _ABANDONED, TaskOutcome.DUE, place.location)
                continue
            try:
                self.catalog.disposal.condemn(place.table_id)
                purge.delete_table_files(locate(place.location))
                self.catalog.disposal.forget(place.table_id)
            except HeadgateError as exc:
                yield TaskResult(LAKE, _ABANDONED, TaskOutcome.FAILED, exc.message)
            else:
                yield TaskResult(LAKE, _ABANDONED, TaskOutcome.DONE, place.location)


def _run_task(
    name: str, task: MaintenanceTask, context: TaskContext, lease: Lease | None
) -> TaskResult | None:
    """The task, done under the lease, or without one only looked at; None if there is nothing to do."""
    try:
        due = task.due(context)
        if due is None:
            return None
        if lease is None:
            return TaskResult(name, task.name, TaskOutcome.DUE, due)
        if task.takes_rows and context.rearranger is None:
            return TaskResult(name, task.name, TaskOutcome.LEFT, f"{due}; a worker with --spark does it")
        lease.check()
        did = task.do(context)
        return None if did is None else TaskResult(name, task.name, TaskOutcome.DONE, did)
    except TableNotFound:
        raise
    except ConflictError as exc:  # the next round sees what is left to do
        return TaskResult(name, task.name, TaskOutcome.LEFT, f"somebody was quicker: {exc.message}")
    except HeadgateError as exc:
        return TaskResult(name, task.name, TaskOutcome.FAILED, exc.message)
    except Exception as exc:  # one table's trouble must not keep the worker from the others
        _LOG.exception("%s of %s failed", task.name, name)
        return TaskResult(name, task.name, TaskOutcome.FAILED, repr(exc))
