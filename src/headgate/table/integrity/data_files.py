"""Are the data files and deletion vectors of the latest version there, as they were committed?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from headgate.errors import CorruptLog, ObjectNotFound
from headgate.progress import reporting
from headgate.protocol.actions import AddFile, DeletionVector
from headgate.protocol.integrity_findings import Finding, new_finding
from headgate.protocol.log import deletion_vectors, file_names
from headgate.storage import parallel_reads
from headgate.storage.store import Store
from headgate.table.integrity import contents
from headgate.table.integrity.contents import Evidence
from headgate.table.integrity.replay import LogReplay
from headgate.table.read import file_paths


@dataclass(frozen=True, slots=True)
class DataFileFindings:
    """What was looked at, and what was found."""

    files: int
    vectors: int
    findings: tuple[Finding, ...]


def check_data_files(walk: LogReplay) -> DataFileFindings:
    """Compare the live files with one listing of the table; only files elsewhere are asked for one by one."""
    evidence = walk.evidence
    sizes = {
        meta.path: meta.size
        for meta in evidence.store.list_from("")
        if not meta.path.startswith(file_names.LOG_FOLDER)
    }  # fmt: skip
    adds = list(walk.live.values())
    with_vectors = [add for add in adds if add.deletion_vector is not None]
    findings = [
        *_data(evidence, adds, sizes),
        *_vectors(evidence, with_vectors),
        *_orphans(walk, sizes),
        *_staged_orphans(evidence),
    ]
    return DataFileFindings(len(adds), len(with_vectors), tuple(findings))


def _data(evidence: Evidence, adds: Iterable[AddFile], sizes: Mapping[str, int]) -> Iterator[Finding]:
    elsewhere: list[tuple[AddFile, Store, str]] = []
    for add in adds:
        store, path = file_paths.locate_object(evidence.store, evidence.location, add.path)
        if store is evidence.store:
            yield from _sized(add, sizes.get(path))
        else:
            elsewhere.append((add, store, path))
    asked = parallel_reads.map_in_order(evidence.store, lambda it: (it[0], _size(it[1], it[2])), elsewhere)
    with reporting.tracked("look for files", asked, len(elsewhere)) as answers:
        for add, size in answers:
            yield from _sized(add, size)


def _sized(add: AddFile, size: int | None) -> Iterator[Finding]:
    if size is None:
        yield new_finding("data-missing", add.path, "the log says that it is part of the latest version")
    elif size != add.size:
        yield new_finding("data-size", add.path, f"it has {size} bytes, the log says {add.size}")


def _size(store: Store, path: str) -> int | None:
    try:
        return store.head(path).size
    except ObjectNotFound:
        return None


def _vectors(evidence: Evidence, adds: Iterable[AddFile]) -> Iterator[Finding]:
    """Each file of vectors is read once."""
    by_place: dict[tuple[str, bool], list[tuple[str, DeletionVector]]] = {}
    for add in adds:
        vector = add.deletion_vector
        if vector is None:
            continue
        try:
            place = deletion_vectors.vector_location(vector)
            if isinstance(place, deletion_vectors.InlineVector):
                deletion_vectors.parse_inline(vector)
            else:
                by_place.setdefault((place.path, place.absolute), []).append((add.path, vector))
        except CorruptLog as exc:
            yield new_finding("vector-damaged", add.path, exc.message)

    def read(place: tuple[str, bool]) -> tuple[tuple[str, bool], bytes | None]:
        store, path = evidence.store, place[0]
        if place[1]:
            store, path = file_paths.locate_object(evidence.store, evidence.location, path)
        try:
            return place, store.read(path)
        except ObjectNotFound:
            return place, None

    for key, content in parallel_reads.map_in_order(evidence.store, read, list(by_place)):
        if content is None:
            problem = f"{len(by_place[key])} data files need it, such as {by_place[key][0][0]}"
            yield new_finding("vector-missing", key[0], problem)
            continue
        for path, vector in by_place[key]:
            try:
                deletion_vectors.parse_stored(vector, content)
            except CorruptLog as exc:
                yield new_finding("vector-damaged", path, exc.message)


def _orphans(walk: LogReplay, sizes: Mapping[str, int]) -> Iterator[Finding]:
    named = {unquote(path) for path in walk.named}
    lost = [path for path in sizes if path not in named and not _is_hidden(path)]
    if lost:
        size = sum(sizes[path] for path in lost)
        problem = f"{len(lost)} files, {size} bytes, such as {lost[0]}: they may be of commits in flight"
        yield new_finding("orphans", walk.evidence.location, problem)


def _is_hidden(path: str) -> bool:
    """Whether it lies where no data file is; the folder of a partition may begin with an underscore."""
    *folders, name = path.split("/")
    return name.startswith(("_", ".")) or any(
        folder.startswith(".") or (folder.startswith("_") and "=" not in folder) for folder in folders
    )


def _staged_orphans(evidence: Evidence) -> Iterator[Finding]:
    known = contents.held_staged_names(evidence)
    for folder in (file_names.STAGED_FOLDER, file_names.LEGACY_STAGED_FOLDER):
        lost = [
            meta
            for meta in evidence.store.list_from(folder)
            if (name := meta.path.removeprefix(folder)) not in known
            and file_names.staged_version(name) is not None
        ]
        # Without books nobody knows which of the published ones were staged.
        if lost and evidence.books is not None:
            problem = f"{len(lost)} files, {sum(meta.size for meta in lost)} bytes, such as {lost[0].path}"
            yield new_finding("staged-orphans", folder, problem)
