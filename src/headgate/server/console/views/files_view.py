"""How are the files of a table? How large, in which partitions, how well clustered, how much of them deleted.

A value of a column that a table is clustered by should be looked for in few files. How many that is, at the
lowest value of each file, is its depth: files with ids 1–5, 4–9 and 10–12 have depths of 1, 2 and 1.
"""

from collections.abc import Mapping, Sequence
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
from headgate.protocol.stats import record_counts
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.server.console.views import formats
from headgate.server.console.views.plots import Plot, make_plot

MOST_PARTITIONS = 20
_MOST_LISTED = 50
MOST_WITH_STATISTICS = 200_000
"""Of more files the statistics are not read for a page."""
_SHARES = ((0.0, "none"), (0.05, "up to 5 %"), (0.25, "up to 25 %"), (0.5, "up to 50 %"), (1.0, "more"))

_Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class FileLine:
    """One of the largest files."""

    path: str
    size_bytes: int
    deleted_rows: int


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
    largest: tuple[FileLine, ...]


def files_view(files: pa.Table, metadata: Metadata) -> FilesView:
    """The live files, whose columns are those of a snapshot without statistics."""
    sizes = files["size"].to_numpy()
    vectors = files["deletion_vector"]
    deleted = pc.fill_null(pc.struct_field(vectors, "cardinality"), 0)
    partitions, number = partition_plot(files, metadata)
    return FilesView(
        files.num_rows,
        int(sizes.sum()),
        files.num_rows - vectors.null_count,
        pc.sum(deleted).as_py() or 0,
        size_plot(sizes),
        partitions,
        number,
        _largest(files, sizes, deleted),
    )


def size_plot(sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Plot:
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
    values = pc.map_lookup(
        files["partition_values"].combine_chunks(), _stored_name(metadata, column), "first"
    )
    grouped = pa.table({"value": pc.fill_null(values, "null"), "size": files["size"]}).group_by("value")
    found = grouped.aggregate([("size", "sum")]).sort_by([("size_sum", "descending")])
    top = found.slice(0, MOST_PARTITIONS)
    bars = sorted(zip(top["value"].to_pylist(), top["size_sum"].to_pylist(), strict=True))
    return make_plot(f"Bytes by {column}", bars, "bytes"), found.num_rows


def _stored_name(metadata: Metadata, column: str) -> str:
    """The name of a column in partition values, which column mapping changes."""
    schema = schema_json.parse(metadata.schema_string)
    paths = column_mapping.physical_paths(schema, column_mapping.mapping_mode(metadata))
    return paths.get((column,), (column,))[0]


def _largest(
    files: pa.Table, sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]", deleted: pa.ChunkedArray
) -> tuple[FileLine, ...]:
    order = np.argsort(sizes)[::-1][:_MOST_LISTED]
    chosen = pa.table({"path": files["path"], "size": files["size"], "deleted": deleted}).take(order)
    return tuple(FileLine(row["path"], row["size"], row["deleted"]) for row in chosen.to_pylist())


def deleted_plot(files: pa.Table) -> Plot:
    """How large a share of the rows of each file is deleted; of files with statistics."""
    cardinality = pc.fill_null(pc.struct_field(files["deletion_vector"], "cardinality"), 0)
    counts = dict.fromkeys((label for _, label in _SHARES), 0)
    with_vector = pc.greater(cardinality, 0)
    some = pa.table({"stats": files["stats"], "deleted": cardinality}).filter(with_vector)
    counts["none"] = files.num_rows - some.num_rows
    for row in some.to_pylist():
        rows = record_counts.parse_counts(row["stats"]).num_records
        if rows:
            share = row["deleted"] / rows
            counts[next(label for most, label in _SHARES if share <= most or label == "more")] += 1
    return make_plot("Files by their share of deleted rows", counts.items())


def depth_plot(
    bounds: FileBounds, metadata: Metadata, domains: Mapping[str, DomainMetadata]
) -> tuple[Plot | None, float | None]:
    """How many files one value of the first clustering column may be in, and how many on average."""
    column = _clustering_column(metadata, domains)
    if column is None:
        return None, None
    found = bounds.of(column, nulls=False)
    depths = overlap_depths(found.low, found.high)
    if not len(depths):
        return None, None
    classes = np.ceil(np.log2(depths)).astype(int)
    bars = [(_depth_class(at), int(number)) for at, number in enumerate(np.bincount(classes))]
    name = ".".join(column.path)
    return make_plot(f"Files by how many share their first value of {name}", bars), float(depths.mean())


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
