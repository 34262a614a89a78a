"""How are the files of a table? How large, in which partitions, and how many of their rows are deleted."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.actions import Metadata
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema import json as schema_json
from headgate.server.console.views import formats
from headgate.server.console.views.plots import Plot, make_plot

MOST_PARTITIONS = 20
_MOST_LISTED = 50


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
