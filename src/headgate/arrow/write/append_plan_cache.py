"""Which plans of appends are kept, and how long? The last ones of each table, by what they depend on.

Checking the columns, parsing rules and expressions, and finding out how files are to be takes far longer than
a row: so whoever holds a table keeps the last plans. What makes one is loaded by the first append.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from headgate.clock import World
from headgate.deferred import deferred
from headgate.protocol.actions import Metadata, Protocol
from headgate.table.read.snapshot import Snapshot

if TYPE_CHECKING:
    from headgate.arrow.write import append_plan
    from headgate.arrow.write.append_plan import AppendPlan, PlanRequest
else:
    append_plan = deferred("headgate.arrow.write", "append_plan")

_MOST = 16


class AppendPlans:
    """The last plans of a table; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[object, tuple[Metadata, Protocol, AppendPlan]] = OrderedDict()

    def find(
        self, world: World, base: Snapshot, asked: "PlanRequest", zone: Callable[[], str]
    ) -> "AppendPlan":
        """The plan for rows of these columns, from this version on."""
        state = base.state
        clustered = append_plan.clustering_of(base) if state.domains else ()
        key = (asked.incoming, asked.merges, asked.partition_by, asked.cluster_by, asked.casts, clustered)
        known = self._kept.get(key)
        if known is not None and known[0] is state.metadata and known[1] is state.protocol:
            return known[2].at(base)
        made = append_plan.make_plan(world, base, asked, zone)
        if made.keeps_metadata:
            with self._lock:
                self._kept[key] = (state.metadata, state.protocol, made)
                if len(self._kept) > _MOST:
                    self._kept.popitem(last=False)
        return made
