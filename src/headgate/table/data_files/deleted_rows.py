"""Which rows of data files are deleted? What their deletion vectors say, fetched from where they are."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from headgate.protocol.actions import DeletionVector
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows, InlineVector, StoredVector
from headgate.storage.store import Store
from headgate.table.read import file_paths

_READERS = 16


def fetch_deleted_rows(
    store: Store, location: str, wanted: Sequence[DeletionVector | None]
) -> list[DeletedRows]:
    """The rows each vector deletes, none if there is no vector; a file that holds several is read once."""
    found = [None if vector is None else deletion_vectors.vector_location(vector) for vector in wanted]
    files = {(place.path, place.absolute) for place in found if isinstance(place, StoredVector)}

    def content(file: tuple[str, bool]) -> bytes:
        path, absolute = file
        held_by, path = file_paths.locate_object(store, location, path) if absolute else (store, path)
        return held_by.read(path)

    with ThreadPoolExecutor(_READERS) as pool:
        contents = dict(zip(files, pool.map(content, files), strict=True))

    def rows(vector: DeletionVector | None, place: InlineVector | StoredVector | None) -> DeletedRows:
        if vector is None or place is None:
            return DeletedRows.from_rows(())
        if isinstance(place, InlineVector):
            return deletion_vectors.parse_inline(vector)
        return deletion_vectors.parse_stored(vector, contents[place.path, place.absolute])

    return [rows(vector, place) for vector, place in zip(wanted, found, strict=True)]
