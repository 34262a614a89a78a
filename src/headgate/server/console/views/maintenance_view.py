"""What is due, what is allowed, and who needs what? Tasks, permissions and leases of a table or a lake."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headgate.catalog.ports.leases import HeldLease
from headgate.catalog.ports.maintenance import RULES, Maintenance
from headgate.table.maintenance.maintenance_tasks import MAINTENANCE_TASKS
from headgate.table.maintenance.row_tasks import ROW_TASKS
from headgate.table.maintenance.worker import TaskOutcome, TaskResult

NEEDS_SPARK = frozenset(task.name for task in (*MAINTENANCE_TASKS, *ROW_TASKS) if task.takes_rows)
"""Tasks that a worker without Spark leaves to one that has it."""


@dataclass(frozen=True, slots=True)
class PermissionLine:
    """A kind of maintenance, and whether it may be done with a table."""

    kind: str
    operations: str
    is_permitted: bool
    is_always: bool


@dataclass(frozen=True, slots=True)
class TaskLine:
    """Something that is due, or was done."""

    task: str
    outcome: str
    detail: str
    needs_spark: bool


@dataclass(frozen=True, slots=True)
class LeaseLine:
    """A lease that has not ended."""

    subject: str
    holder: str
    version: int | None
    ends_in_ms: int
    is_work: bool


def permission_lines(permitted: frozenset[Maintenance]) -> tuple[PermissionLine, ...]:
    """Every kind of maintenance, in the order of the rules."""
    return tuple(
        PermissionLine(rule.kind.value, rule.operations, rule.kind in permitted, rule.always)
        for rule in RULES
    )


def task_lines(results: Iterable[TaskResult]) -> tuple[TaskLine, ...]:
    """What a worker found, or did; what failed comes first."""
    order = list(TaskOutcome)
    ranked = sorted(results, key=lambda each: -order.index(each.outcome))
    return tuple(
        TaskLine(each.task, each.outcome.value, each.detail, each.task in NEEDS_SPARK) for each in ranked
    )


def lease_lines(leases: Iterable[HeldLease], names: Mapping[str, str], now_ms: int) -> tuple[LeaseLine, ...]:
    """Leases by what they are on: the name of a table where it is known."""
    return tuple(
        LeaseLine(
            names.get(held.subject.rpartition("/")[2], held.subject),
            held.holder,
            held.version,
            held.expires_ms - now_ms,
            "/" in held.subject,
        )
        for held in leases
    )
