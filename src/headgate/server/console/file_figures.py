"""How are the files of a version, which never change? Made once, beside the requests that ask for it.

A million files take about a second, and a page does not wait for that: whoever asks gets what is ready after
a moment, or is told to come again. The figures of a table are kept until somebody asks for those of another
version, so the next page of the list, or a second visit, has them at once. No file becomes an object but
those on a page.

    cache.figures(table_id, snapshot)      FileFigures(version=41, files=None)
    cache.figures(table_id, snapshot)      FileFigures(version=41, files=FilesView(…))
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import Version
from headgate.server.console.views import files_view
from headgate.server.console.views.files_view import FilesView
from headgate.table.read.snapshot import Snapshot

_PATIENCE_SECONDS = 0.15
_MOST_TABLES = 16


@dataclass(frozen=True, slots=True)
class FileFigures:
    """The files of a version; None while their figures are being made."""

    version: Version
    files: FilesView | None


@dataclass(frozen=True, slots=True)
class _Asked:
    version: Version
    made: Future[FilesView]


class FileFiguresCache:
    """The figures of the tables that were looked at last; safe to share between threads."""

    def __init__(
        self, make: Callable[[Snapshot], FilesView] | None = None, patience: float = _PATIENCE_SECONDS
    ) -> None:
        self._make = make or make_view
        self._patience = patience
        self._lock = threading.Lock()
        self._asked: OrderedDict[TableId, _Asked] = OrderedDict()
        self._pool = ThreadPoolExecutor(1, "headgate-console-files")

    def is_ready(self, table_id: TableId, version: Version) -> bool:
        """Whether the figures of this version are there already."""
        with self._lock:
            known = self._asked.get(table_id)
        return known is not None and known.version == version and known.made.done()

    def figures(self, table_id: TableId, snapshot: Snapshot, wanted: int | None = None) -> FileFigures:
        """The figures of this version, or of an earlier one.

        That is the one ``wanted`` by whoever was told to come again, or one that is being made: a table may
        have its next version before the figures of the last one are there.
        """
        asked = self._ask(table_id, snapshot, wanted)
        wait((asked.made,), self._patience)
        if asked.made.cancelled() or not asked.made.done():
            return FileFigures(asked.version, None)
        if asked.made.exception() is not None:
            self._forget(table_id, asked)
        return FileFigures(asked.version, asked.made.result())

    def _ask(self, table_id: TableId, snapshot: Snapshot, wanted: int | None) -> _Asked:
        with self._lock:
            known = self._asked.pop(table_id, None)
            if known is None or (known.made.done() and known.version not in (snapshot.version, wanted)):
                known = _Asked(snapshot.version, self._pool.submit(self._make, snapshot))
            self._asked[table_id] = known
            while len(self._asked) > _MOST_TABLES:
                self._asked.popitem(last=False)[1].made.cancel()
            return known

    def _forget(self, table_id: TableId, asked: _Asked) -> None:
        with self._lock:
            if self._asked.get(table_id) is asked:
                del self._asked[table_id]


def make_view(snapshot: Snapshot) -> FilesView:
    """The figures of the files of a version, with those from statistics where these are not too many."""
    state, files = snapshot.state, snapshot.files
    found = files_view.files_view(files.without_stats, state.metadata)
    if found.files > files_view.MOST_WITH_STATISTICS:
        return found
    clustering = files_view.clustering(snapshot.bounds, state.metadata, state.domains)
    rows = files.record_counts()
    shares = files_view.deleted_plot(found.listed.deleted, rows) if found.deleted_rows else None
    return replace(found, clustering=clustering, shares=shares, listed=replace(found.listed, rows=rows))
