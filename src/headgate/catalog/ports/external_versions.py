"""What becomes of versions that others publish without the catalog, and of files that only look like some?"""

from collections.abc import Iterable
from typing import Protocol

from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.protocol.actions import Version


class ExternalVersions(Protocol):
    """Lets others write a log, and decides about what they wrote without being asked."""

    def share_log(self, name: TableName) -> TableEntry:
        """Let others publish versions of the table themselves; for good.

        All its versions must be published: from here on each is created in the log, after the one before.
        """
        ...

    def accept_version(self, name: TableName, version: Version) -> Version:
        """Take in what others published up to this version on one's own behalf; the latest version then."""
        ...

    def set_aside_version(self, name: TableName, version: Version) -> str:
        """Move a file away that is in the place of a version, and is none; its path from then on."""
        ...

    def ahead(self) -> tuple[str, ...]:
        """The tables, of those that were committed to last, whose log goes on after the latest version.

        Told to the owner of the lake alone.
        """
        ...


class StagedFiles(Protocol):
    """Tells ratified staged files from those of proposals that lost."""

    def ratified_names(self, table_id: TableId, file_names: Iterable[str]) -> frozenset[str]:
        """Those of the staged files that are ratified commits, published or not."""
        ...
