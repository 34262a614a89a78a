"""Making files durable that somebody else wrote.

Spark does not sync what it writes to a local disk, and a commit must not outlive its files.
Object stores acknowledge only what is durable, so there is nothing to do.
"""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from headgate.errors import StorageUnavailable
from headgate.storage.local import sync_folder
from headgate.storage.locate import is_local, local_path

_AT_ONCE = 8


def settle(location: str, paths: Iterable[str]) -> None:
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
        raise StorageUnavailable(
            f"the data files could not be made durable: {exc}", path=location, operation="sync"
        ) from exc


def _sync(file: str) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
