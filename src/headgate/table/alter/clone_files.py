"""Which files does a clone have? Those of its source where they are, or copies of them that are its own.

Pure: nothing is copied here. A copy keeps the name of its file, in a folder that is new each time, and
its add says of which file it is a copy. So a clone that is made again copies only what is new, and two
that are made at once never share a file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote
from uuid import UUID

import msgspec

from headgate.protocol import file_key
from headgate.protocol.actions import AddFile, DeletionVector
from headgate.protocol.file_key import FileKey
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import StoredVector
from headgate.protocol.stats import record_counts
from headgate.storage import location_spelling
from headgate.table.read import file_paths

COPY_OF = "headgate.copyOf"
"""The tag of an add that says of which file it is a copy."""


class CopyTag(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Of which file one is a copy, and which of its deletion vectors is a copy of which."""

    table: str
    path: str
    modified: int
    vector: str | None = None
    own_vector: str | None = None


@dataclass(frozen=True, slots=True)
class CloneOrigin:
    """The table that files come from."""

    table_id: str
    location: str


@dataclass(frozen=True, slots=True)
class FileCopy:
    """An object of the source, by its path in the log, and where in the clone it goes."""

    path: str
    to: str
    size: int | None
    """In bytes, where the log tells."""


@dataclass(frozen=True, slots=True)
class ClonePlan:
    """The files that a clone shall have, and what must be copied for that."""

    adds: tuple[AddFile, ...]
    copies: tuple[FileCopy, ...] = ()


@dataclass(frozen=True, slots=True)
class FileDifference:
    """What a commit says so that the files of a table become others."""

    adds: tuple[AddFile, ...]
    removed_keys: frozenset[FileKey]


def plan_shallow(adds: Iterable[AddFile], source: str, target: str) -> ClonePlan:
    """The files of the table at ``source`` as one at ``target`` names them where they are."""
    return ClonePlan(tuple(_shallow_add(add, source, target) for add in adds))


def _shallow_add(add: AddFile, source: str, target: str) -> AddFile:
    tags = {name: value for name, value in (add.tags or {}).items() if name != COPY_OF}
    return _clone_add(
        add,
        path=file_paths.log_path(target, file_paths.object_uri(source, add.path)),
        vector=_shallow_vector(add.deletion_vector, source),
        tags=tags,
    )


def _shallow_vector(vector: DeletionVector | None, source: str) -> DeletionVector | None:
    place = None if vector is None else deletion_vectors.vector_location(vector)
    if vector is None or not isinstance(place, StoredVector):
        return vector
    path = place.path if place.absolute else quote(place.path)
    return deletion_vectors.with_absolute_path(vector, file_paths.object_uri(source, path))


def plan_deep(
    adds: Iterable[AddFile], origin: CloneOrigin, present: Iterable[AddFile], ids: Iterator[UUID]
) -> ClonePlan:
    """Copies of the files of ``origin``; those that are ``present`` in the clone from before stay.

    ``ids`` name what is new: the folder of files, and the files of deletion vectors.
    """
    folder = str(next(ids))
    earlier_copies = _copies(present)
    taken: set[str] = set()
    vector_files: dict[tuple[str, bool], UUID] = {}
    copies: list[FileCopy] = []
    clone_adds: list[AddFile] = []
    for add in adds:
        before = earlier_copies.get((origin.table_id, add.path, add.modification_time))
        if before is not None and not _is_true_copy(before[0], add):
            before = None
        path = (
            before[0].path
            if before
            else location_spelling.relative_log_path(_free_path(folder, unquote(add.path), taken))
        )
        if before is None:
            copies.append(FileCopy(add.path, unquote(path), add.size))
        vector = _kept_vector(before, add) or _copied_vector(add.deletion_vector, vector_files, ids)
        mark = CopyTag(
            origin.table_id,
            add.path,
            add.modification_time,
            file_key.deletion_vector_id(add.deletion_vector),
            file_key.deletion_vector_id(vector),
        )
        tags = {**(add.tags or {}), COPY_OF: msgspec.json.encode(mark).decode()}
        clone_adds.append(_clone_add(add, path=path, vector=vector, tags=tags))
    copies += [
        FileCopy(path if absolute else quote(path), f"deletion_vector_{file_id}.bin", None)
        for (path, absolute), file_id in vector_files.items()
    ]
    return ClonePlan(tuple(clone_adds), tuple(copies))


def _clone_add(
    add: AddFile, *, path: str, vector: DeletionVector | None, tags: Mapping[str, str | None]
) -> AddFile:
    """The add of a clone: its rows are new to it, and have no ids yet."""
    return msgspec.structs.replace(
        add,
        path=path,
        deletion_vector=vector,
        tags=tags or None,
        data_change=True,
        base_row_id=None,
        default_row_commit_version=None,
        stats=add.stats if vector is None else record_counts.with_wide_bounds(add.stats),
    )


def _copies(present: Iterable[AddFile]) -> dict[tuple[str, str, int], tuple[AddFile, CopyTag]]:
    """The files that are copies of others, by which ones."""
    found: dict[tuple[str, str, int], tuple[AddFile, CopyTag]] = {}
    for add in present:
        mark = copy_tag(add)
        if mark is not None and not file_paths.is_absolute(add.path):
            found[mark.table, mark.path, mark.modified] = add, mark
    return found


def copy_tag(add: AddFile) -> CopyTag | None:
    """Of which file one is a copy, if it says so."""
    text = (add.tags or {}).get(COPY_OF)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=CopyTag)
    except msgspec.DecodeError:
        return None


def _is_true_copy(copy: AddFile, add: AddFile) -> bool:
    """Whether it is what its tag says, which a writer may have taken along to another file."""
    return _name(copy.path) == _name(add.path) and copy.size == add.size


def _name(path: str) -> str:
    return unquote(path).rpartition("/")[2]


def _free_path(folder: str, path: str, taken: set[str]) -> str:
    """Where a file goes: in the folders of its partition, by its own name, if no other file has that."""
    *folders, name = path.split("/")
    partition: list[str] = []
    while folders and "=" in folders[-1]:
        partition.insert(0, folders.pop())
    inside = "/".join((*partition, name))
    found, number = f"{folder}/{inside}", 1
    while found in taken:
        number += 1
        found = f"{folder}/{number}/{inside}"
    taken.add(found)
    return found


def _kept_vector(before: tuple[AddFile, CopyTag] | None, add: AddFile) -> DeletionVector | None:
    """The vector of a copy that stays, if it is that of the source and nobody changed either."""
    if before is None or add.deletion_vector is None:
        return None
    copy, mark = before
    same = mark.vector == file_key.deletion_vector_id(add.deletion_vector)
    return (
        copy.deletion_vector
        if same and mark.own_vector == file_key.deletion_vector_id(copy.deletion_vector)
        else None
    )


def _copied_vector(
    vector: DeletionVector | None, files: dict[tuple[str, bool], UUID], ids: Iterator[UUID]
) -> DeletionVector | None:
    place = None if vector is None else deletion_vectors.vector_location(vector)
    if vector is None or not isinstance(place, StoredVector):
        return vector
    key = place.path, place.absolute
    if key not in files:
        files[key] = next(ids)
    return deletion_vectors.with_file_id(vector, files[key])


def absolute_folders(paths: Iterable[str]) -> Iterator[str]:
    """The folders of files that are named by absolute paths, without those of partitions."""
    for path in paths:
        above = file_paths.decode_absolute(path).rpartition("/")[0]
        while "=" in above.rpartition("/")[2]:
            above = above.rpartition("/")[0]
        yield above


def file_difference(
    wanted: Sequence[AddFile], present: Iterable[AddFile], *, tracks_rows: bool
) -> FileDifference:
    """How the files that are ``present`` become those that are wanted.

    A file that stays keeps the ids of its rows; if it must have some and has none, it is added again.
    """
    live = {file_key.file_key(add): add for add in present}
    by_path = {path: add for (path, _), add in live.items()}
    adds = tuple(
        _with_ids_of(by_path.get(file_key.file_key(add)[0]), add)
        for add in wanted
        if not _is_live_already(live.get(file_key.file_key(add)), add, tracks_rows=tracks_rows)
    )
    return FileDifference(adds, frozenset(live) - {file_key.file_key(add) for add in wanted})


def _is_live_already(live: AddFile | None, add: AddFile, *, tracks_rows: bool) -> bool:
    return (
        live is not None
        and (live.partition_values, live.size) == (add.partition_values, add.size)
        and (live.base_row_id is not None or not tracks_rows)
    )


def _with_ids_of(before: AddFile | None, add: AddFile) -> AddFile:
    if before is None:
        return add
    ids = before.base_row_id, before.default_row_commit_version
    return msgspec.structs.replace(add, base_row_id=ids[0], default_row_commit_version=ids[1])
