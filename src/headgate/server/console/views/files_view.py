"""How are the files of a table? How large, in which partitions, how well clustered, how much of them deleted.

A value of a column that a table is clustered by should be looked for in few files. How many that is, at the
lowest value of each file, is its depth: files with ids 1–5, 4–9 and 10–12 have depths of 1, 2 and 1.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.actions import DomainMetadata, Metadata
from headgate.protocol.domains import lifecycle
from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import DataType, Struct
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.server.console.views import formats
from headgate.server.console.views.paging import ListPage, list_page
from headgate.server.console.views.plots import Plot, make_plot

MOST_PARTITIONS = 20
FILES_ON_A_PAGE = 50
MOST_WITH_STATISTICS = 2_000_000
"""Of more files the statistics are not read for a page."""
_SHARES = (("none", 0.0), ("up to 5 %", 0.05), ("up to 25 %", 0.25), ("up to 50 %", 0.5), ("more", np.inf))

_Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class FileLine:
    """One of the files."""

    path: str
    size_bytes: int
    deleted_rows: int
    partition: tuple[tuple[str, str | None], ...] = ()
    """The partition columns with its values."""
    rows: int | None = None
    """How many rows it has, deleted ones too, if its statistics say so."""


@dataclass(frozen=True, slots=True)
class FileList:
    """All files, the largest first; only those that are on a page become lines."""

    paths: pa.ChunkedArray
    sizes: _Numbers
    deleted: _Numbers
    order: _Numbers
    partitions: pa.ChunkedArray
    partition_names: Mapping[str, str]
    """The partition columns by what they are called in the log."""
    rows: pa.Array | None = None

    def page(self, number: int = 1) -> ListPage[FileLine]:
        """Some of them; beyond the end the last ones."""
        found = list_page(range(len(self.order)), number, FILES_ON_A_PAGE)
        lines = tuple(self._line(int(self.order[at])) for at in found.items)
        return ListPage(lines, found.number, found.pages, found.total)

    def _line(self, row: int) -> FileLine:
        return FileLine(
            self.paths[row].as_py(),
            int(self.sizes[row]),
            int(self.deleted[row]),
            tuple(self._partition(dict(self.partitions[row].as_py() or ()))),
            None if self.rows is None else self.rows[row].as_py(),
        )

    def _partition(self, values: Mapping[str, str | None]) -> Iterator[tuple[str, str | None]]:
        for stored, name in self.partition_names.items():
            yield name, values.get(stored)


@dataclass(frozen=True, slots=True)
class Clustering:
    """In how many files a value of the first clustering column may be."""

    depths: Plot
    average: float


@dataclass(frozen=True, slots=True)
class FilesView:
    """The live files of a version, as numbers."""

    files: int
    size_bytes: int
    with_deletions: int
    deleted_rows: int
    sizes: Plot
    partitions: Plot | None
    partition_count: int
    listed: FileList
    clustering: Clustering | None = None
    shares: Plot | None = None
    """Files by their share of deleted rows, if there are any."""


def files_view(files: pa.Table, metadata: Metadata) -> FilesView:
    """The live files, whose columns are those of a snapshot without statistics."""
    sizes, deleted = files["size"].to_numpy(), deleted_rows(files)
    partitions, number = partition_plot(files, metadata)
    return FilesView(
        files.num_rows,
        int(sizes.sum()),
        files.num_rows - files["deletion_vector"].null_count,
        int(deleted.sum()),
        size_plot(sizes),
        partitions,
        number,
        FileList(
            files["path"],
            sizes,
            deleted,
            np.argsort(-sizes, kind="stable"),
            files["partition_values"],
            {_stored_name(metadata, column): column for column in metadata.partition_columns},
        ),
    )


def deleted_rows(files: pa.Table) -> _Numbers:
    """How many rows of each file are deleted."""
    vectors = files["deletion_vector"]
    if vectors.null_count == len(vectors):
        return np.zeros(len(vectors), np.int64)
    found: _Numbers = pc.fill_null(pc.struct_field(vectors, "cardinality"), 0).to_numpy()
    return found


def size_plot(sizes: _Numbers) -> Plot:
    """How many files have which size, in classes that double."""
    if not len(sizes):
        return make_plot("Files by size", ())
    classes = np.floor(np.log2(np.maximum(sizes, 1))).astype(int)
    counts = np.bincount(classes)
    first = int(classes.min())
    bars = ((f"≥ {formats.size(2**at)}", int(counts[at])) for at in range(first, len(counts)))
    return make_plot("Files by size", bars)


def partition_plot(files: pa.Table, metadata: Metadata) -> tuple[Plot | None, int]:
    """The partitions with the most bytes, and how many there are, by the first partition column."""
    if not metadata.partition_columns or not files.num_rows:
        return None, 0
    column = metadata.partition_columns[0]
    values = partition_texts(files["partition_values"], _stored_name(metadata, column))
    grouped = pa.table({"value": values, "size": files["size"]}).group_by("value")
    found = grouped.aggregate([("size", "sum")]).sort_by([("size_sum", "descending")])
    top = found.slice(0, MOST_PARTITIONS).to_pylist()
    bars = sorted(("null" if row["value"] is None else row["value"], row["size_sum"]) for row in top)
    return make_plot(f"Bytes by {column}", bars, "bytes"), found.num_rows


def partition_texts(maps: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """What each file has under a name; where they all have the same names in one order, without a search."""
    return pa.chunked_array([_texts_of_chunk(chunk, name) for chunk in maps.chunks], pa.string())


def _texts_of_chunk(maps: pa.MapArray, name: str) -> pa.Array:
    keys, items = _entries(maps)
    width = len(keys) // len(maps) if len(maps) else 0
    names = keys[:width].to_pylist()
    offsets = maps.offsets.to_numpy()
    is_even = width and name in names and np.array_equal(np.diff(offsets), np.full(len(maps), width))
    if is_even:
        at = pa.array(np.arange(names.index(name), len(keys), width))
        if pc.all(pc.equal(keys.take(at), name)).as_py():
            return items.take(at)
    return pc.map_lookup(maps, name, "first")


def _entries(maps: pa.MapArray) -> tuple[pa.Array, pa.Array]:
    """The keys and values that belong to a chunk, which may be a slice of a longer one."""
    first, last = maps.offsets[0].as_py(), maps.offsets[len(maps)].as_py()
    return maps.keys[first:last], maps.items[first:last]


def _stored_name(metadata: Metadata, column: str) -> str:
    """The name of a column in partition values, which column mapping changes."""
    schema = schema_json.parse(metadata.schema_string)
    paths = column_mapping.physical_paths(schema, column_mapping.mapping_mode(metadata))
    return paths.get((column,), (column,))[0]


def deleted_plot(deleted: _Numbers, rows: pa.Array) -> Plot:
    """How large a share of the rows of each file is deleted; of files whose statistics count their rows."""
    counted = pc.fill_null(rows, 0).to_numpy(zero_copy_only=False)
    is_known = (deleted == 0) | (counted > 0)
    shares = deleted[is_known] / np.maximum(counted[is_known], 1)
    classes = np.searchsorted([most for _, most in _SHARES], shares)
    counts = np.bincount(classes, minlength=len(_SHARES))
    bars = ((label, int(count)) for (label, _), count in zip(_SHARES, counts, strict=True))
    return make_plot("Files by their share of deleted rows", bars)


def clustering(
    bounds: FileBounds, metadata: Metadata, domains: Mapping[str, DomainMetadata]
) -> Clustering | None:
    """How many files one value of the first clustering column may be in, and how many on average."""
    column = _clustering_column(metadata, domains)
    if column is None:
        return None
    found = bounds.of(column, nulls=False)
    depths = overlap_depths(found.low, found.high)
    if not len(depths):
        return None
    classes = np.ceil(np.log2(depths)).astype(int)
    bars = [(_depth_class(at), int(number)) for at, number in enumerate(np.bincount(classes))]
    title = f"Files by their clustering depth on {'.'.join(column.path)}"
    return Clustering(make_plot(title, bars), float(depths.mean()))


def overlap_depths(low: pa.Array, high: pa.Array) -> _Numbers:
    """For each file with bounds, how many files hold its lowest value, as far as bounds tell."""
    known = pc.and_(pc.is_valid(low), pc.is_valid(high))
    lows, highs = low.filter(known), high.filter(known)
    ranks = pc.rank(pa.concat_arrays([lows, highs]), tiebreaker="dense").to_numpy(zero_copy_only=False)
    first, last = ranks[: len(lows)], ranks[len(lows) :]
    begun = np.searchsorted(np.sort(first), first, side="right")
    ended = np.searchsorted(np.sort(last), first, side="left")
    depths: _Numbers = (begun - ended).astype(np.int64)
    return depths


def _depth_class(at: int) -> str:
    return str(2**at) if at < 2 else f"{2 ** (at - 1) + 1} to {2**at}"


def _clustering_column(metadata: Metadata, domains: Mapping[str, DomainMetadata]) -> Column | None:
    clustered: Sequence[tuple[str, ...]] = lifecycle.clustering_columns(domains)
    if not clustered:
        return None
    schema = schema_json.parse(metadata.schema_string)
    paths = column_mapping.physical_paths(schema, column_mapping.mapping_mode(metadata))
    logical = {theirs: ours for ours, theirs in paths.items()}.get(clustered[0], clustered[0])
    kind: DataType | None = schema
    for part in logical:
        field = kind.find(part) if isinstance(kind, Struct) else None
        kind = None if field is None else field.type
    return None if kind is None else Column(logical, kind)
