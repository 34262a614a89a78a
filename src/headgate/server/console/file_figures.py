"""How are the files of a version, which never change? Made once, and kept for as long as the snapshot is.

A million files are a second's work for a page, and nothing of it is done again for the next one: who comes
back, or turns to the next page of the list, gets it from here. No file becomes an object but those on a page.
"""

import threading
from dataclasses import replace
from weakref import WeakKeyDictionary

from headgate.server.console.views import files_view
from headgate.server.console.views.files_view import FilesView
from headgate.table.read.live_files import LiveFiles
from headgate.table.read.snapshot import Snapshot


class FileFigures:
    """What was made of the snapshots that somebody still has open; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: WeakKeyDictionary[LiveFiles, FilesView] = WeakKeyDictionary()

    def known(self, snapshot: Snapshot) -> FilesView | None:
        """The files of a snapshot, if somebody has looked at them."""
        with self._lock:
            return self._made.get(snapshot.files)

    def of(self, snapshot: Snapshot) -> FilesView:
        """The files of a snapshot."""
        found = self.known(snapshot)
        if found is None:
            found = _make_view(snapshot)
            with self._lock:
                self._made[snapshot.files] = found
        return found


def _make_view(snapshot: Snapshot) -> FilesView:
    state, files = snapshot.state, snapshot.files
    found = files_view.files_view(files.without_stats, state.metadata)
    if found.files > files_view.MOST_WITH_STATISTICS:
        return found
    clustering = files_view.clustering(snapshot.bounds, state.metadata, state.domains)
    shares = None
    if found.deleted_rows:
        shares = files_view.deleted_plot(found.listed.deleted, files.record_counts())
    return replace(found, clustering=clustering, shares=shares)
