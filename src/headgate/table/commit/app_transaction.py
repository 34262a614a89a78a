"""Is a batch of an application in the table already? It says so in the commit that has the rows."""

from headgate.clock import World
from headgate.protocol.actions import AppTransaction, EpochMillis
from headgate.table.read.snapshot import Snapshot

AppBatch = tuple[str, int]
"""The application, and the number of its batch; later batches have greater numbers."""


def is_committed(base: Snapshot, batch: AppBatch | None) -> bool:
    """Whether this batch, or a later one, is in the table."""
    if batch is None:
        return False
    app_id, number = batch
    found = base.state.txns.get(app_id)
    return found is not None and found.version >= number


def actions(world: World, batch: AppBatch | None) -> tuple[AppTransaction, ...]:
    """What a commit says of the batch it has; nothing if it is of none."""
    if batch is None:
        return ()
    app_id, number = batch
    return (AppTransaction(app_id=app_id, version=number, last_updated=EpochMillis(world.now_ms())),)
