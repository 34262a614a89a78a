"""Deletion vectors on their way into a table: united with older ones, written, re-added with their files.

Those of a commit share one file, which nobody knows before the commit, and which is deleted again only if
that is proven to have failed. None is written into the log, however small: the protocol has it, every engine
reads it, but VACUUM of Delta Spark fails on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

import msgspec

from headgate.errors import StorageError
from headgate.protocol.actions import AddFile, DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows, StoredVector
from headgate.protocol.stats import record_counts
from headgate.table.data_files import deleted_rows
from headgate.table.opened_table import OpenedTable

_NONE = DeletedRows.from_rows(())


class DeletionVectorWriter:
    """Writes vectors for one commit, and remembers where."""

    def __init__(self, table: OpenedTable) -> None:
        self._table = table
        self._written: list[str] = []

    def write(self, rows: Sequence[DeletedRows]) -> Sequence[DeletionVector]:
        """The descriptors of vectors that hide these rows, file by file; they can be read at once."""
        if not rows:
            return ()
        content, stored = deletion_vectors.encode_file(rows, UUID(self._table.world.uuid()))
        place = deletion_vectors.vector_location(stored[0])
        if isinstance(place, StoredVector):
            self._written.append(place.path)
            self._table.store.put(place.path, content)
        return stored

    def hidden(self, wanted: Sequence[DeletionVector]) -> list[DeletedRows]:
        """The rows that each of these vectors hides."""
        return deleted_rows.fetch_deleted_rows(self._table.store, self._table.location, wanted)

    def hide(self, rows: DeletedRows) -> DeletionVector:
        """The descriptor of a vector that hides these rows."""
        return self.write([rows])[0]

    def discard(self) -> None:
        """Delete what was written, proven to belong to no commit."""
        with suppress(StorageError):  # leftovers cost space only
            for path in self._written:
                self._table.store.delete(path)


def deleted_rows_by_path(writer: DeletionVectorWriter, files: Sequence[AddFile]) -> Mapping[str, DeletedRows]:
    """By path, the rows that the files' own vectors hide."""
    with_vectors = [file for file in files if file.deletion_vector is not None]
    wanted = [file.deletion_vector for file in with_vectors if file.deletion_vector is not None]
    found = dict.fromkeys((file.path for file in files), _NONE)
    found.update(zip((file.path for file in with_vectors), writer.hidden(wanted), strict=True))
    return found


def adds_with_vectors(
    writer: DeletionVectorWriter, files: Iterable[tuple[AddFile, DeletedRows]], *, data_change: bool = True
) -> list[AddFile]:
    """The files once more, each with a vector that hides all of these rows."""
    pairs = list(files)
    written = writer.write([rows for _, rows in pairs])
    return [
        msgspec.structs.replace(
            file,
            deletion_vector=vector,
            data_change=data_change,
            stats=record_counts.with_wide_bounds(file.stats),
        )
        for (file, _), vector in zip(pairs, written, strict=True)
    ]
