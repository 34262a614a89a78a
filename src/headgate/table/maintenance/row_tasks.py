"""What there is to do for a table that takes its rows: putting files together, clustering, purging.

Whether it is due is decided here, from the log. Rows are written by whoever is given for it; where nobody is,
the work is left.
"""

from functools import partial

from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import InvalidRequest
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import rearrangement
from headgate.protocol.features.rearrangement import LAYOUT_TASKS, PURGE, LayoutTask, TableLayout
from headgate.table.alter import full_file_actions
from headgate.table.maintenance.maintenance_tasks import MaintenanceTask, TaskContext
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


def _due(context: TaskContext, order: LayoutTask) -> str | None:
    if context.policy.rearrange is None:
        return None
    snapshot = context.table.snapshot()
    # To count the files of a very large table is Spark's work.
    if snapshot.files.checkpoint_bytes > context.table.settings.spark_replay_bytes:
        return None
    thresholds = context.thresholds or context.policy.rearrange
    return rearrangement.due_reason(order, file_layout(context.table, snapshot), thresholds)


def file_layout(table: OpenedTable, snapshot: Snapshot) -> TableLayout:
    """How the rows of a snapshot are spread over files."""
    columns = lifecycle.clustering_columns(snapshot.state.domains)
    adds = partial(full_file_actions.adds_by_path, table, snapshot)
    return rearrangement.measure_layout(snapshot.files.without_stats, snapshot.state.metadata, columns, adds)


def _rearrange(context: TaskContext, order: LayoutTask) -> str | None:
    if context.rearranger is None:
        raise InvalidRequest(f"to {order.name} a table takes Spark, and this worker has none")
    work = context.rearranger.purge if order is PURGE else context.rearranger.optimize
    done = work(context.table)
    if not done.removed:
        return None
    return f"version {done.version}, {done.removed} files became {done.added}"


def _row_task(order: LayoutTask) -> MaintenanceTask:
    due, do = partial(_due, order=order), partial(_rearrange, order=order)
    return MaintenanceTask(order.name, Maintenance.DATA_REORGANISATION, due, do, takes_rows=True)


ROW_TASKS: tuple[MaintenanceTask, ...] = tuple(map(_row_task, LAYOUT_TASKS))
