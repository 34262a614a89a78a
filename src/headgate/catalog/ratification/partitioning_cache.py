"""Which appends are known to fit their table, so that it need not be asked for what it is?

Most commits only add files, and a table seldom changes. So it is remembered how a table is
partitioned, together with the last version that changed it. What does not fit is compared with
the table itself, so nothing is refused for what is remembered.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from headgate.catalog.ports.commits import TableId, TableState
from headgate.protocol.actions import AddFile, Version
from headgate.protocol.schema import partitioning
from headgate.protocol.schema.partitioning import Partitioning

_MOST_TABLES = 10_000


@dataclass(frozen=True, slots=True)
class PartitioningCache:
    """What one catalog's tables were, each since the last version that changed it."""

    _known: dict[TableId, tuple[Version, Partitioning | None]] = field(default_factory=dict)

    def fit(self, table_id: TableId, changed: Version, adds: Iterable[AddFile]) -> bool:
        """Whether plain files surely fit the table that was last changed by this version."""
        known = self._known.get(table_id)
        if known is None or known[0] != changed:
            return False
        found = known[1]
        return found is None or all(found.fits(add.partition_values) for add in adds)

    def learn(self, table_id: TableId, changed: Version, told: TableState | None) -> None:
        """Remember a table that allowed plain files; one of which nothing is told allows all."""
        if len(self._known) >= _MOST_TABLES:
            self._known.clear()
        self._known[table_id] = changed, None if told is None else partitioning.partitioning_of(told.metadata)
