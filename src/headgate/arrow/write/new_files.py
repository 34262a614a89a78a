"""Rows → data files and their add actions. Each file is whole and durable before anybody can commit it.

Names begin with the mark of the transaction, so that a catalog knows the files to be new; there is no folder
to make, which would have to be synced too.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from headgate.arrow import arrow_types, column_fit
from headgate.arrow.write import partition_split, statistics
from headgate.arrow.write.partition_split import PartitionKey, PartitionRows
from headgate.arrow.write.statistics import IndexedLeaf
from headgate.errors import InvalidRequest, StorageError, UnsupportedFeature
from headgate.protocol.actions import AddFile, EpochMillis, Metadata, TxnId
from headgate.protocol.schema import column_mapping, enforcement
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.column_mapping import ColumnMappingMode, Path
from headgate.protocol.schema.types import Array, DataType, Field, Map, Primitive, Struct
from headgate.protocol.stats import operation_metrics
from headgate.protocol.stats.indexed_columns import indexed_paths
from headgate.storage import store as store_port
from headgate.storage.store import Store
from headgate.table.location import TableLocation

_WRITERS = 8
_FEW = 64
"""Up to so many rows a dictionary takes more than it saves."""
_FIELD_ID = b"PARQUET:field_id"
_VOID = Primitive("void")
DEFAULT_COMPRESSION = "snappy"
COMPRESSIONS = frozenset({"snappy", "zstd", "gzip", "lz4", "brotli", "none", "uncompressed"})


@dataclass(frozen=True, slots=True)
class FileShape:
    """How the rows of a table lie in its files."""

    names: tuple[str, ...]
    """The table's names of the columns that files store, in their order."""
    schema: pa.Schema
    """Under which names and field ids, in which types, they store them."""
    keys: tuple[PartitionKey, ...]
    leaves: tuple[IndexedLeaf, ...]
    bounded: tuple[str, ...]
    """The parquet columns that get bounds in the footer: all but floats, of which it leaves NaN out."""


@dataclass(frozen=True, slots=True)
class NewFiles:
    """The files of one append, not yet committed."""

    adds: tuple[AddFile, ...]
    paths: tuple[str, ...]
    rows: int
    txn_id: TxnId | None

    @property
    def metrics(self) -> dict[str, str]:
        """What was written, in Delta's names."""
        return operation_metrics.written_metrics(self.adds, self.rows)


def file_shape(metadata: Metadata, schema: Struct, clustering: Iterable[Path]) -> FileShape:
    """How the files of a table are to be."""
    mode = column_mapping.mapping_mode(metadata)
    partitioned = {name.lower() for name in metadata.partition_columns}
    written = [
        field for field in schema.fields if field.name.lower() not in partitioned and field.type != _VOID
    ]
    enforcement.check_depth(written)
    _check_no_void(written)
    if not written:
        raise InvalidRequest(
            "the table has no column that data files could store besides those it is partitioned by: add one",
            code="DELTA_EMPTY_DATA",
        )
    stored = column_mapping.physical_schema(Struct(tuple(written)), mode)
    fields = [_stored_field(field, mode) for field in written]
    keys = tuple(
        PartitionKey(field.name, column_mapping.physical_name(field, mode), field.type)
        for name in metadata.partition_columns
        if (field := schema.find(name)) is not None
    )
    return FileShape(
        tuple(field.name for field in written),
        pa.schema(fields),
        keys,
        statistics.indexed_leaves(stored, indexed_paths(metadata, clustering)),
        tuple(path for field in fields for path in _bounded_paths(field.type, field.name)),
    )


def write_files(
    table: TableLocation,
    shape: FileShape,
    rows: pa.Table,
    *,
    compression: str = DEFAULT_COMPRESSION,
    max_records: int | None = None,
) -> NewFiles:
    """Write rows, which have the columns of the table under their own names; nothing is committed."""
    folder = table.new_folder()
    pieces = [
        piece
        for part in partition_split.split_rows(rows, shape.keys)
        for piece in _limited(part, max_records)
    ]
    suffix = (f"-{number:05d}" for number in range(len(pieces))) if len(pieces) > 1 else iter([""])
    paths = tuple(f"{folder.name}{mark}.parquet" for mark, _ in zip(suffix, pieces, strict=False))
    now = EpochMillis(table.world.now_ms())

    def write(path: str, piece: PartitionRows) -> AddFile:
        stored = _stored_rows(piece.rows, shape)
        content = _encode(stored, shape, compression)
        store_port.put_new(table.store, path, content)
        return AddFile(
            path=path,
            partition_values=piece.values,
            size=len(content),
            modification_time=now,
            data_change=True,
            stats=statistics.render_stats(stored, shape.leaves),
        )

    try:
        if len(pieces) <= 1:
            adds = [write(path, piece) for path, piece in zip(paths, pieces, strict=True)]
        else:
            with ThreadPoolExecutor(_WRITERS) as pool:
                adds = list(pool.map(write, paths, pieces))
    except BaseException:
        discard(table.store, paths)  # nothing was proposed
        raise
    return NewFiles(tuple(adds), paths, rows.num_rows, folder.txn_id)


def discard(store: Store, paths: Sequence[str]) -> None:
    """Delete files that are proven to belong to no commit."""
    # Leftovers cost space only, and the failure that led here must be the one that is told.
    for path in paths:
        with suppress(StorageError):
            store.delete(path)


def _stored_rows(rows: pa.Table, shape: FileShape) -> pa.Table:
    columns = [
        values if values.type == wanted else _renamed(values, wanted)
        for values, wanted in (
            (rows.column(name), shape.schema.field(at).type) for at, name in enumerate(shape.names)
        )
    ]
    return pa.Table.from_arrays(columns, schema=shape.schema)


def _renamed(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([column_fit.rename_parts(chunk, wanted) for chunk in values.chunks], wanted)


def _limited(part: PartitionRows, most: int | None) -> Iterator[PartitionRows]:
    count = part.rows.num_rows
    if not count:
        return
    for start in range(0, count, most or count):
        rows = part.rows if most is None else part.rows.slice(start, most)
        yield PartitionRows(part.values, rows)


def _encode(rows: pa.Table, shape: FileShape, compression: str) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        compression="none" if compression == "uncompressed" else compression,
        write_statistics=list(shape.bounded),
        use_dictionary=rows.num_rows > _FEW,
        store_schema=False,
        store_decimal_as_integer=True,
    )
    return sink.getvalue()


def _check_no_void(written: Sequence[Field]) -> None:
    for field in written:
        if '"void"' in schema_json.render(Struct((replace(field, metadata={}),))):
            raise UnsupportedFeature(
                f"column {field.name!r} has a part of type void, which only Spark leaves out of data files: "
                "append a DataFrame of Spark, table.append(spark.createDataFrame(…))",
                code=arrow_types.NEEDS_SPARK, features=(field.name,), operation="write",
            )  # fmt: skip


def _stored_field(field: Field, mode: ColumnMappingMode) -> pa.Field:
    number = None if mode is ColumnMappingMode.NONE else column_mapping.field_id(field)
    metadata = None if number is None else {_FIELD_ID: str(number).encode()}
    return pa.field(
        column_mapping.physical_name(field, mode),
        _stored_type(field.type, field.name, mode),
        metadata=metadata,
    )


def _stored_type(data_type: DataType, name: str, mode: ColumnMappingMode) -> pa.DataType:
    match data_type:
        case Struct(fields):
            return pa.struct([_stored_field(field, mode) for field in fields])
        case Array(element, _):
            return pa.list_(pa.field("element", _stored_type(element, f"{name}.element", mode)))
        case Map(key, value, _):
            return pa.map_(_stored_type(key, f"{name}.key", mode), _stored_type(value, f"{name}.value", mode))
        case Primitive():
            return arrow_types.arrow_type(data_type, name)


def _bounded_paths(found: pa.DataType, path: str) -> Iterator[str]:
    """The leaves of a column, but for floats, as parquet calls them."""
    if pa.types.is_struct(found):
        for part in found:
            yield from _bounded_paths(part.type, f"{path}.{part.name}")
    elif not pa.types.is_nested(found) and not pa.types.is_floating(found):
        yield path
