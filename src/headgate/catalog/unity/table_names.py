"""Under which name does a server know a table? It is asked by names, and tables are known by ids here."""

import threading
from collections.abc import Callable, Iterable

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry
from headgate.errors import TableNotFound


class TableNames:
    """The tables that were seen, by id; safe to share between threads."""

    def __init__(self, everything: Callable[[], Iterable[TableEntry]]) -> None:
        self._everything = everything
        self._lock = threading.Lock()
        self._seen: dict[TableId, TableEntry] = {}

    def note(self, entry: TableEntry) -> TableEntry:
        """Remember a table as it was just seen."""
        with self._lock:
            self._seen[entry.table_id] = entry
        return entry

    def forget(self, table_id: TableId) -> None:
        """A table that was not found under its name any more."""
        with self._lock:
            self._seen.pop(table_id, None)

    def entry(self, table_id: TableId) -> TableEntry:
        """The table of that id; every schema is listed if it was never seen, or has another name by now."""
        with self._lock:
            known = self._seen.get(table_id)
        if known is not None:
            return known
        found = next((each for each in self._everything() if each.table_id == table_id), None)
        if found is None:
            raise TableNotFound(
                f"no table has the id {table_id}: it was dropped, or is one that you may not see",
                name=table_id,
            )
        return self.note(found)
