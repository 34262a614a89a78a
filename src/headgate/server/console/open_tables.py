"""How is a table opened for a page, and not anew for the next one? As its visitors see it, for reading only.

The visitor is asked about at every page: the catalog loads the table on behalf of the caller first, and what
is kept from an earlier page spares reading the log again, nothing else. A snapshot holds nothing of whoever
asked for it, so whoever is let in begins with the newest one that anybody has.
"""

import threading
from collections import OrderedDict
from dataclasses import dataclass

from headgate.catalog.ports.access import ScopedPrincipal, TokenScope
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry
from headgate.catalog.ports.serving import LoadedTable
from headgate.server.lakes import ServedLake
from headgate.table.committer import Committer
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot

_MOST_OPEN = 32
_Key = tuple[str, str, TokenScope | None, TableId]


@dataclass(frozen=True, slots=True)
class VisitedTable:
    """A table as the catalog loaded it for this page, opened for reading."""

    loaded: LoadedTable
    committer: Committer
    opened: OpenedTable

    @property
    def entry(self) -> TableEntry:
        return self.loaded.entry

    @property
    def name(self) -> str:
        return str(self.loaded.entry.name)


class OpenTables:
    """The tables that were looked at last; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[_Key, tuple[Committer, OpenedTable]] = OrderedDict()

    def visit(self, lake: ServedLake, principal: str, loaded: LoadedTable) -> VisitedTable:
        """The table that was just loaded on behalf of this principal."""
        scope = principal.scope if isinstance(principal, ScopedPrincipal) else None
        key = (lake.name, str(principal), scope, loaded.entry.table_id)
        with self._lock:
            known = self._open.pop(key, None)
        if known is None or known[1].location != loaded.entry.location:
            known = lake.tables_for(principal).open(loaded.entry, loaded)
            for snapshot in self._snapshots(lake, known[1].location, loaded.entry.table_id):
                known[1].seed_snapshot(snapshot)
        with self._lock:
            self._open[key] = known
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return VisitedTable(loaded, *known)

    def _snapshots(self, lake: ServedLake, location: str, table_id: TableId) -> list[Snapshot]:
        """What others have open of the same table."""
        with self._lock:
            same = [
                opened
                for (name, _, _, theirs), (_, opened) in self._open.items()
                if (name, theirs, opened.location) == (lake.name, table_id, location)
            ]
        return [opened.loaded_snapshot for opened in same if opened.loaded_snapshot is not None]
