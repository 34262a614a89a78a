"""Where a list of files lies while a Spark Connect server may read it.

The server is another process, often on another machine, and reads the list each time a query
runs. So the list must be in a store that both sides see, and stay as long as a plan names it.
What both see is the store of the table itself. Candidates, in order:

1. the place in ``spark.headgate.scratch``, if the session or the server has one, and no other;
2. for a table in a local folder, this machine's folder for temporary files;
3. ``_headgate/scans`` in the table's own folder, which needs the right to write there. Engines and
   their VACUUM pass over folders whose names start with ``_``.

The server cannot be asked to store it, by ``copyFromLocalToFs``: it would take a setting of the
server, and this side could not delete what that side stores. Whoever puts a list deletes it; what
a killed process leaves beside a table is deleted by a later one, after a week.
"""

import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

from pyspark.sql import SparkSession

from headgate.errors import AccessDenied, StorageError
from headgate.spark.scan.scan_marks import ScanMark
from headgate.spark.session import hadoop_paths
from headgate.storage import nofollow, store_time
from headgate.storage.locate import locate
from headgate.storage.location_spelling import is_local, local_path

SETTING = "spark.headgate.scratch"
_FOLDER = "_headgate/scans"
_ABANDONED_S = 7 * 24 * 3600
_ATTEMPTS = 5

_swept: set[str] = set()
_sweeping = threading.Lock()


@dataclass(frozen=True, slots=True)
class ScratchFolder:
    """Files in a folder of their own below a root."""

    root: str
    folder: str
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        """The folder as Spark names it."""
        return hadoop_paths.folder(self.root, self.folder)

    def remove(self) -> None:
        """Delete the folder; it costs little if that fails, and nobody can help it here."""
        with suppress(OSError, StorageError):
            if is_local(self.root):
                _remove_folder(local_path(self.root), self.folder)
                return
            store = locate(self.root)
            for name in self.names:
                store.delete(f"{self.folder}/{name}")


def roots(spark: SparkSession, location: str) -> Sequence[str]:
    """Where lists for a table at ``location`` may be put, best first."""
    chosen = spark.conf.get(SETTING, None)
    if chosen:
        return (chosen,)
    return (tempfile.gettempdir(), location) if is_local(location) else (location,)


def prefix(mark: ScanMark | None) -> str:
    """What the name of a folder with a list begins with; it tells the mark."""
    return "headgate-scan-" if mark is None else f"headgate-scan-{mark.text}-"


def put(root: str, files: dict[str, bytes], mark: ScanMark | None = None) -> ScratchFolder:
    """Put files into a new folder below ``root``, in their order; a ``StorageError`` if it cannot be."""
    if not is_local(root):
        _sweep(root)
        placed, store = ScratchFolder(root, _folder_name(mark), tuple(files)), locate(root)
        for name, content in files.items():
            store.put(f"{placed.folder}/{name}", content)
        return placed
    try:
        placed = ScratchFolder(root, _new_folder(root, mark), tuple(files))
        # Nothing is synced: after a power cut nobody asks for it.
        for name, content in files.items():
            path = os.path.join(local_path(root), placed.folder, name)
            _make_folder(os.path.dirname(path))
            with open(path, "wb") as file:
                file.write(content)
    except OSError as exc:
        raise AccessDenied(f"{root} cannot be written: {exc.strerror}", path=root, operation="put") from exc
    return placed


def _folder_name(mark: ScanMark | None) -> str:
    return f"{_FOLDER}/{prefix(mark)}{uuid4().hex}"


def _new_folder(root: str, mark: ScanMark | None) -> str:
    if root != tempfile.gettempdir():
        _sweep(root)
        return _folder_name(mark)
    # Others must not read what files a table has; a server that runs as another user then finds no folder
    # in this one, rather than a folder without a list, which would be an empty table.
    private = tempfile.mkdtemp(prefix=prefix(mark))
    return f"{os.path.basename(private)}/files"


def _make_folder(folder: str) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            os.makedirs(folder, exist_ok=True)
        except FileNotFoundError:  # another process has just removed the empty parent
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _remove_folder(root: str, folder: str) -> None:
    if nofollow.is_below_link(root, f"{folder}/"):  # whoever made that would choose what is deleted
        return
    # Renamed first: Spark takes a folder whose list is gone for an empty table.
    path = os.path.join(root, folder)
    os.rename(path, f"{path}.gone")
    shutil.rmtree(f"{path}.gone")
    for _ in range(folder.count("/")):
        path = os.path.dirname(path)
        os.rmdir(path)  # an error, and the end, if there are other lists


def _sweep(root: str) -> None:
    """Delete what others left behind below a root, once per process."""
    with _sweeping:
        if root in _swept:
            return
        _swept.add(root)
    with suppress(OSError, StorageError):
        store = locate(root)
        # By the clock that gave the lists their times: one that is ahead would find a new one abandoned.
        oldest_ms = store_time.now_ms(store, f"{_FOLDER}/{uuid4().hex}") - _ABANDONED_S * 1000
        for item in list(store.list_from(f"{_FOLDER}/")):
            folder, _, name = item.path.removeprefix(f"{_FOLDER}/").partition("/")
            if item.modified_ms < oldest_ms:
                ScratchFolder(root, f"{_FOLDER}/{folder}", (name,)).remove()
