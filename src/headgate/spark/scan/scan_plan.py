"""What reading a snapshot takes, on paper: which files Spark reads together, and what their rows share.

A table partitioned by ``day`` has three files, of which b has deleted rows. There are two pieces:

    positions   files                                                day                     vectors
    0, 2        day=2026-01-01/a.parquet, day=…default…/c.parquet    "2026-01-01", null      none
    1           day=2026-01-02/b.parquet                             "2026-01-02"            that of b

Rows of both tell which file they are from, for the value of ``day``; only those of the second tell their
index too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.actions import DeletionVector
from headgate.protocol.schema import column_mapping, partition_values
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import DataType, Struct
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.scan.scan_cache import SoftReferences
from headgate.spark.scan.scan_marks import ScanMark
from headgate.spark.session import hadoop_paths

_POSITION = "__headgate_position"


@dataclass(frozen=True, slots=True)
class RowTracking:
    """For each file the id of its first row, and the version of rows that have none of their own."""

    base_ids: Sequence[int | None]
    versions: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Piece:
    """Files that one scan reads: they have one layout."""

    location: str
    """Where the table is; its files may be elsewhere too."""
    layout: Struct
    positions: pa.Array
    """Where the files stand among all that are read."""
    uris: pa.StringArray
    sizes: pa.Int64Array
    modified_ms: pa.Int64Array
    constants: Mapping[str, Sequence[str | None]]
    """For each partition column its value in each file, as text that casts to its type."""
    vectors: Sequence[DeletionVector | None]
    """For each file its deletion vector, if it has one; empty if none has."""
    tracking: RowTracking | None = None
    located: bool = False
    """Whether rows are to say where they are."""
    mark: ScanMark | None = None
    """What the plan of a scan is to tell of its reader."""
    is_streaming: bool = False
    """Whether its rows are a batch of a stream."""
    soft_references: SoftReferences | None = field(default=None, compare=False)
    """Where the arrays that a JVM makes of the files are kept, if these are to be read again."""

    @property
    def needs_ordinals(self) -> bool:
        """Whether rows must tell which of the files they are from."""
        return bool(self.constants or self.vectors or self.tracking or self.located)

    @property
    def needs_row_index(self) -> bool:
        """Whether rows must tell their index in their file."""
        return bool(self.vectors or self.tracking or self.located)


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """The pieces whose rows together are the table's."""

    schema: Struct
    pieces: Sequence[Piece]


def build(
    location: str,
    columns: ScanColumns,
    files: pa.Table,
    layouts: Sequence[Struct] | None = None,
    *,
    together: bool = False,
) -> ScanPlan:
    """How to read ``files``, whose layouts are the usual one unless they are given.

    Those with deleted rows are read apart from those without, unless it is better to read them ``together``.
    """
    files = files.append_column(_POSITION, pa.array(np.arange(files.num_rows, dtype=np.int64)))
    alike = [(columns.usual, files)] if layouts is None else _by_layout(files, layouts)
    pieces = [
        _piece(location, columns, layout, part)
        for layout, some in alike
        for part in ([some] if together and _are_mostly_vectored(some) else _by_vector(some))
        if part.num_rows
    ]
    return ScanPlan(columns.schema, pieces or [_piece(location, columns, columns.usual, files)])


def reusable_plan(plan: ScanPlan) -> ScanPlan:
    """The same plan, for whoever reads these files more than once."""
    return replace(plan, pieces=[replace(piece, soft_references=SoftReferences()) for piece in plan.pieces])


def with_mark(plan: ScanPlan, mark: ScanMark) -> ScanPlan:
    """The same plan for one reading, which is to be found in what Spark makes of it."""
    return replace(plan, pieces=[replace(piece, mark=mark) for piece in plan.pieces])


def as_stream(plan: ScanPlan) -> ScanPlan:
    """The same plan for a batch of a stream."""
    return replace(plan, pieces=[replace(piece, is_streaming=True) for piece in plan.pieces])


def _are_mostly_vectored(files: pa.Table) -> bool:
    """Whether most of what is read has deleted rows, so that to number all rows costs less than a union."""
    vectored = files.filter(pc.is_valid(files["deletion_vector"]))
    return 2 * _bytes(vectored) >= _bytes(files)


def _bytes(files: pa.Table) -> int:
    return pc.sum(files["size"]).as_py() or 0


def _by_vector(files: pa.Table) -> tuple[pa.Table, pa.Table]:
    vectored = pc.is_valid(files["deletion_vector"])
    return files.filter(pc.invert(vectored)), files.filter(vectored)


def _by_layout(files: pa.Table, layouts: Sequence[Struct]) -> Iterator[tuple[Struct, pa.Table]]:
    rows: dict[str, list[int]] = {}
    for row, layout in enumerate(layouts):
        rows.setdefault(schema_json.render(layout), []).append(row)
    for some in rows.values():
        yield layouts[some[0]], files.take(pa.array(some, pa.int64()))


def _piece(location: str, columns: ScanColumns, layout: Struct, files: pa.Table) -> Piece:
    uris = hadoop_paths.file_uris(location, files["path"].combine_chunks())
    return Piece(
        location=location,
        layout=layout,
        positions=files[_POSITION].combine_chunks(),
        uris=uris,
        sizes=files["size"].combine_chunks(),
        modified_ms=files["modified_ms"].combine_chunks(),
        constants={
            column.name: _constants(
                files["partition_values"], column_mapping.physical_name(column, columns.mode), column.type
            )
            for column in columns.schema.fields
            if columns.is_constant(column)
        },
        vectors=_vectors(files["deletion_vector"]),
        tracking=RowTracking(
            files["base_row_id"].to_pylist(), files["default_row_commit_version"].to_pylist()
        )
        if columns.tracked
        else None,
        located=columns.located,
    )


def _vectors(found: pa.ChunkedArray) -> Sequence[DeletionVector | None]:
    if found.null_count == len(found):
        return ()
    return [None if vector is None else DeletionVector(**vector) for vector in found.to_pylist()]


def _constants(values: pa.ChunkedArray, column: str, data_type: DataType) -> Sequence[str | None]:
    found = pc.map_lookup(values, pa.scalar(column), "first").combine_chunks().dictionary_encode()
    texts = [partition_values.canonical_text(text, data_type) for text in found.dictionary.to_pylist()]
    return [None if index is None else texts[index] for index in found.indices.to_pylist()]
