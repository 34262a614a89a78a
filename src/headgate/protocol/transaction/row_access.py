"""Which rows of which files a change touches, so that a lost race can be judged row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.protocol.actions import AddFile, DeletionVector
from headgate.protocol.log.deletion_vectors import DeletedRows


class RowAccess(Protocol):
    """What judging row by row must look at and write: the shell around this pure core provides it."""

    def hidden(self, vectors: Sequence[DeletionVector]) -> Sequence[DeletedRows]:
        """The rows that each of these vectors hides."""
        ...

    def hide(self, rows: DeletedRows) -> DeletionVector:
        """A descriptor of a vector that hides these rows, readable by all once it is returned."""
        ...

    def selects(self, adds: Sequence[AddFile]) -> bool:
        """Whether some row of these files, which a winner added, would have been read for this change.

        True if that cannot be told: then the race is lost, as it would be without asking.
        """
        ...

    def counted(self, file: AddFile) -> int | None:
        """How many rows the data file itself has, deleted ones too; None if that cannot be told."""
        ...


@dataclass(frozen=True, slots=True)
class TouchedRows:
    """The rows a change decided on, all found in the version it read."""

    access: RowAccess
    changed: Mapping[str, DeletedRows]
    """By path, the rows that a new deletion vector of the file hides."""
    seen: Mapping[str, DeletedRows]
    """By path, rows that stay but whose being there decided something else."""
    settled: frozenset[str] = frozenset()
    """Files in which the last winner hid rows, none of which are ours: they concern us no more."""
