"""Is the file of a version there, which the catalog is about to decide? A look that costs next to nothing
(K8).

In a folder of this machine it is one question to the file system at every commit. Elsewhere a look would cost
more than the whole commit, and cannot exclude that the file appears a moment later, so a process looks until
it has found nothing once: one that comes after a backup of the database was restored does not ratify anew
what is published.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from headgate.errors import StorageError
from headgate.protocol.actions import Version
from headgate.protocol.log import file_names
from headgate.storage.local import LocalStore
from headgate.storage.store import Store


@dataclass(frozen=True, slots=True)
class PublishedProbe:
    """Looks for the published files of versions, as often as that is cheap."""

    files: Callable[[str], Store]
    """The store of a table, by its location as the database has it."""
    _folders: dict[str, LocalStore | None] = field(default_factory=dict)
    _looked: set[str] = field(default_factory=set)
    """The places that are no folders, where nothing was found."""

    def sees(self, location: str, version: Version) -> bool:
        """Whether the file of a version is there: always seen in a folder, elsewhere at first."""
        if location not in self._folders:
            files = self.files(location)
            self._folders[location] = files if isinstance(files, LocalStore) else None
        if location in self._looked:
            return False
        folder = self._folders[location]
        if folder is not None:
            return folder.exists(file_names.published_path(version))
        found = self.is_published(location, version)
        if not found:
            self._looked.add(location)
        return found

    def is_published(self, location: str, version: Version) -> bool:
        """Whether the file of a version is there, as far as the store answers; always asked."""
        try:
            self.files(location).head(file_names.published_path(version))
        except StorageError:
            return False
        return True
