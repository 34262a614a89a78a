"""What there is to do for a table that takes its rows: putting files together, clustering, purging.

Whether it is due is decided here, from the log. Rows are written by who is given for it; where nobody is, the
work is left.
"""

from functools import partial

from headgate.catalog.ports.maintenance import Maintenance
from headgate.errors import InvalidRequest
from headgate.protocol.domains import lifecycle
from headgate.protocol.features import rearrangement
from headgate.protocol.features.rearrangement import ORDERS, PURGE, Layout, Order
from headgate.table.alter import full_file_actions
from headgate.table.maintenance.maintenance_tasks import Chore, Chores
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


def _due(chores: Chores, order: Order) -> str | None:
    if chores.policy.rearrange is None:
        return None
    snapshot = chores.table.snapshot()
    # To count the files of a very large table is Spark's work.
    if snapshot.files.checkpoint_bytes > chores.table.settings.spark_replay_bytes:
        return None
    thresholds = chores.thresholds or chores.policy.rearrange
    return rearrangement.due(order, layout(chores.table, snapshot), thresholds)


def layout(table: OpenedTable, snapshot: Snapshot) -> Layout:
    """How the rows of a snapshot are spread over files."""
    columns = lifecycle.clustering_columns(snapshot.state.domains)
    adds = partial(full_file_actions.named, table, snapshot)
    return rearrangement.layout(snapshot.files.without_stats, snapshot.state.metadata, columns, adds)


def _rearrange(chores: Chores, order: Order) -> str | None:
    if chores.rearranger is None:
        raise InvalidRequest(f"to {order.name} a table takes Spark, and this worker has none")
    work = chores.rearranger.purge if order is PURGE else chores.rearranger.optimize
    done = work(chores.table)
    if not done.removed:
        return None
    return f"version {done.version}, {done.removed} files became {done.added}"


def _chore(order: Order) -> Chore:
    due, do = partial(_due, order=order), partial(_rearrange, order=order)
    return Chore(order.name, Maintenance.DATA_REORGANISATION, due, do, takes_rows=True)


ROW_CHORES: tuple[Chore, ...] = tuple(map(_chore, ORDERS))
