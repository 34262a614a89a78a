"""Is a table worth laying out anew? Decided from what the log says of its live files; no file is opened.

Each order is a row: what it measures, and from where on that is reason enough. What OPTIMIZE would leave
alone is not counted, so an order that is due finds something to do, and once that is done it is not due.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from headgate.errors import InvalidRequest
from headgate.protocol.actions import AddFile, Metadata
from headgate.protocol.domains.lifecycle import Column
from headgate.protocol.features import bin_packing, zcubes
from headgate.protocol.features.bin_packing import PackableFile
from headgate.protocol.features.zcubes import ZCubeFile
from headgate.protocol.stats import record_counts

AddsByPath = Callable[[frozenset[str]], Mapping[str, AddFile]]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on a table is rearranged; None: never for this reason."""

    small_files: int | None = 50
    """How many files could be put together into fewer, larger ones."""
    unclustered_share: float | None = 0.2
    """Which share of the bytes of a clustered table is not laid out by its columns yet."""
    deleted_share: float | None = 0.1
    """Which share of the bytes of a table belongs to rows that deletion vectors hide."""


DEFAULTS = Thresholds()


def check_thresholds(thresholds: Thresholds) -> None:
    """Refuse thresholds that are always met, or never."""
    files = thresholds.small_files
    if files is not None and files < 2:
        raise InvalidRequest(f"small_files={files} makes no sense: give 2 or more, or None for never")
    for name in ("unclustered_share", "deleted_share"):
        share = getattr(thresholds, name)
        if share is not None and not 0 < share <= 1:
            raise InvalidRequest(
                f"{name}={share} is no share: give more than 0 and at most 1, or None for never"
            )


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How the rows of a table are spread over files."""

    target: int
    """How large files shall be."""
    files: tuple[PackableFile, ...]
    clustered: tuple[ZCubeFile, ...] | None = None
    """The same files and their cubes, if the table is clustered."""

    @property
    def size_bytes(self) -> int:
        return sum(file.size for file in self.files)


def measure_layout(
    live: pa.Table, metadata: Metadata, clustered_by: tuple[Column, ...], adds: AddsByPath
) -> TableLayout:
    """The layout of live files, one a row; ``adds`` tells of some, by path, what only the log has."""
    marked = pc.is_valid(live["deletion_vector"])
    wanted = live if clustered_by else live.filter(marked)
    known = adds(frozenset(wanted["path"].to_pylist())) if wanted.num_rows else {}
    files = tuple(_packable_files(live, known))
    members = tuple(_zcube_files(live, known, clustered_by)) if clustered_by else None
    return TableLayout(bin_packing.target_file_size(metadata), files, members)


def _packable_files(live: pa.Table, known: Mapping[str, AddFile]) -> Iterator[PackableFile]:
    partitions = bin_packing.partition_keys([dict(values) for values in live["partition_values"].to_pylist()])
    rows = zip(live["path"].to_pylist(), live["size"].to_pylist(), partitions, strict=True)
    for position, (path, size, partition) in enumerate(rows):
        yield PackableFile(position, size, partition, deleted_share(known[path]) if path in known else 0.0)


def _zcube_files(
    live: pa.Table, known: Mapping[str, AddFile], columns: tuple[Column, ...]
) -> Iterator[ZCubeFile]:
    rows = zip(live["path"].to_pylist(), live["size"].to_pylist(), strict=True)
    for position, (path, size) in enumerate(rows):
        yield ZCubeFile(position, size, zcubes.zcube_id(known[path], columns) if path in known else None)


def deleted_share(add: AddFile) -> float:
    """Which share of a file's rows is deleted; all of it if there are some and nobody knows of how many."""
    if add.deletion_vector is None:
        return 0.0
    records = record_counts.counts_of_file(add).num_records
    return 1.0 if records is None else min(1.0, add.deletion_vector.cardinality / max(1, records))


def _count_small_files(found: TableLayout) -> float:
    if found.clustered is not None:
        return 0
    return sum(len(some) for some in bin_packing.pack_files(found.files, found.target) if len(some) > 1)


def _unclustered_share(found: TableLayout) -> float:
    members = found.clustered or ()
    if len(zcubes.files_to_recluster(members, found.target)) < 2:
        return 0
    return sum(member.size for member in members if member.cube is None) / max(1, found.size_bytes)


def _deleted_share(found: TableLayout) -> float:
    return sum(file.size * file.hidden for file in found.files) / max(1, found.size_bytes)


@dataclass(frozen=True, slots=True)
class LayoutTask:
    """One maintenance task: the measured value, its threshold, and a description of both."""

    name: str
    threshold: str
    """The field of ``Thresholds``."""
    measure: Callable[[TableLayout], float]
    says: str
    does: str


OPTIMIZE = LayoutTask(
    "optimize", "small_files", _count_small_files, "{:,.0f} small files",
    "files smaller than `delta.targetFileSize` are put together, each partition by itself",
)  # fmt: skip
CLUSTER = LayoutTask(
    "cluster", "unclustered_share", _unclustered_share, "{:.0%} of the table is not clustered",
    "files of a clustered table that are not laid out by its columns are, with those of small cubes",
)  # fmt: skip
PURGE = LayoutTask(
    "purge", "deleted_share", _deleted_share, "{:.0%} of the table is deleted rows",
    "files with deletion vectors are written anew without the deleted rows (REORG)",
)  # fmt: skip
LAYOUT_TASKS: Sequence[LayoutTask] = (OPTIMIZE, CLUSTER, PURGE)


def due_reason(order: LayoutTask, found: TableLayout, thresholds: Thresholds) -> str | None:
    """Why the work is due, in words; None if it is not."""
    threshold = getattr(thresholds, order.threshold)
    if threshold is None:
        return None
    measured = order.measure(found)
    return order.says.format(measured) if measured >= threshold else None
