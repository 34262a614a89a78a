"""Making files durable that somebody else wrote.

Spark does not sync what it writes to a local disk, and a commit must not outlive its files.
Object stores acknowledge only what is durable, so there is nothing to do.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from headgate.errors import StorageUnavailable
from headgate.storage.local import sync_folder
from headgate.storage.location_spelling import is_local, local_path

_AT_ONCE = 8
_FINISHED = os.path.join("_temporary", "0")
"""Where the folder of a task is put, whole, when it is finished, until the job is and its files are moved."""
_LOOK_AGAIN_SECONDS = 0.1


@contextmanager
def sync_while_writing(location: str, folder: str) -> Iterator[None]:
    """While Spark writes into a folder, sync what its tasks have finished: little is left to ``settle``.

    Raises StorageUnavailable in the end if that failed, because a second sync would not tell.
    """
    if not is_local(location):
        yield
        return
    early = _EarlySync(os.path.join(local_path(location), folder, _FINISHED))
    thread = threading.Thread(target=early.run, name="headgate-settling", daemon=True)
    thread.start()
    try:
        yield
    finally:
        early.is_over.set()
        thread.join()
    if early.failure is not None:
        raise _not_durable_error(location, early.failure) from early.failure


def sync_files(location: str, paths: Iterable[str]) -> None:
    """Return once the files at these paths below ``location`` survive a power cut."""
    if not is_local(location):
        return
    root = local_path(location)
    full = [os.path.join(root, path) for path in paths]
    folders = {os.path.dirname(file) for file in full}
    try:
        # At once: syncs that wait for the disk together share its work.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(_sync, full))
        for folder in sorted({*folders, *(os.path.dirname(folder) for folder in folders)}):
            sync_folder(folder)
    except OSError as exc:
        raise _not_durable_error(location, exc) from exc


class _EarlySync:
    """Syncs the files of finished tasks until the job is over."""

    def __init__(self, finished: str) -> None:
        self._finished = finished
        self._known: set[str] = set()
        self.is_over = threading.Event()
        self.failure: OSError | None = None

    def run(self) -> None:
        while self.failure is None and not self.is_over.wait(_LOOK_AGAIN_SECONDS):
            try:
                for file in self._files():
                    if self.is_over.is_set():
                        return
                    _sync(file)
            except FileNotFoundError:  # no task is finished yet, or all are and their files are moved
                continue
            except OSError as exc:
                self.failure = exc

    def _files(self) -> Iterator[str]:
        """The files of tasks that have finished since this was last asked."""
        for task in os.listdir(self._finished):
            if task.startswith("task_") and task not in self._known:
                self._known.add(task)
                for folder, _, names in os.walk(os.path.join(self._finished, task)):
                    yield from (os.path.join(folder, name) for name in names if name[0] not in "._")


def _not_durable_error(location: str, exc: OSError) -> StorageUnavailable:
    return StorageUnavailable(
        f"the data files could not be made durable: {exc}", path=location, operation="sync"
    )


def _sync(file: str) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
