"""Folders: those that are to be there before anything is in them, and those that a store has.

Object stores have none, so there is nothing to make; on a disk other clients may expect them. But a store
can tell, without listing all its objects, which first parts their paths have.
"""

import os
from typing import Protocol, runtime_checkable

from headgate.errors import StorageUnavailable
from headgate.storage.local import make_folders
from headgate.storage.location_spelling import is_local, local_path
from headgate.storage.store import Store


def make_folder(location: str, folder: str) -> None:
    """Return once the folder below ``location`` is there, if folders exist where that is."""
    if not is_local(location):
        return
    try:
        make_folders(os.path.join(local_path(location), folder))
    except OSError as exc:
        raise StorageUnavailable(
            f"the folder {folder!r} could not be made: {exc}", path=location, operation="mkdir"
        ) from exc


@runtime_checkable
class DeletesFolders(Protocol):
    """A store on a disk, where folders stay when what was in them is deleted."""

    def delete_empty_folders(self) -> None:
        """Delete the root with all folders below it, as far as nothing is in them."""
        ...


def delete_empty_folders(store: Store) -> None:
    """Leave no empty folders of a store whose objects were all deleted."""
    if isinstance(store, DeletesFolders):
        store.delete_empty_folders()


@runtime_checkable
class ListsFolders(Protocol):
    """A store that knows its folders without listing what is in them."""

    def folders(self) -> list[str]:
        """The names of the folders right below the root that have something in them, sorted.

        On a disk also of empty ones. None if the root does not exist.
        """
        ...


def folder_names(store: Store) -> list[str]:
    """The names of the folders right below the root of a store, sorted."""
    if isinstance(store, ListsFolders):
        return store.folders()
    paths = (found.path.partition("/") for found in store.list_from(""))
    return sorted({name for name, slash, _ in paths if slash})
