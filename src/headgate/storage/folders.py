"""Folders that are to be there before anything is in them.

Object stores have none, so there is nothing to do; on a disk other clients may expect them.
"""

import os

from headgate.errors import StorageUnavailable
from headgate.storage.local import make_folders
from headgate.storage.locate import is_local, local_path


def make(location: str, folder: str) -> None:
    """Return once the folder below ``location`` is there, if folders exist where that is."""
    if not is_local(location):
        return
    try:
        make_folders(os.path.join(local_path(location), folder))
    except OSError as exc:
        raise StorageUnavailable(
            f"the folder {folder!r} could not be made: {exc}", path=location, operation="mkdir"
        ) from exc
