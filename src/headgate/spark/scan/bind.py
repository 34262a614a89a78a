"""From a ScanPlan to a DataFrame whose plan is Spark's own parquet scan, over files nobody listed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import and_

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, LongType, StructType

from headgate.errors import UnsupportedFeature
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.schema.types import Field, Struct
from headgate.spark.jvm import call_sites
from headgate.spark.parquet import logical_columns
from headgate.spark.predicates import row_filter
from headgate.spark.rules import char_varchar
from headgate.spark.scan import apply_deletion_vectors, binders, classic_file_index
from headgate.spark.scan.binders import FileSkipping, ScannedRows, ScanRequest
from headgate.spark.scan.classic_file_index import ROW_INDEX
from headgate.spark.scan.scan_plan import Piece, RowTracking
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames

_METADATA, _IS_METADATA = "_metadata", "__metadata_col"


@call_sites.without_call_sites
def bind(
    spark: SparkSession,
    schema: Struct,
    pieces: Iterable[tuple[Piece, Sequence[DeletedRows]]],
    own: InternalNames,
    skip: FileSkipping | None = None,
    wanted: Predicate | None = None,
) -> DataFrame:
    """The rows of all pieces, each given with the rows deleted from each of its files.

    ``own`` are the names of what is said of rows beside their columns. ``skip`` tells which files later
    filters leave, where Spark can ask. Of the rows that are not ``wanted`` some may be missing; to leave
    out all of them is for the caller.
    """
    shown, pieces = logical_columns.visible_schema(schema), list(pieces)
    for piece, _ in pieces:
        _check_names(piece)
    own_metadata = len(pieces) > 1 or any(piece.needs_row_index for piece, _ in pieces)
    own_metadata = own_metadata and not any(_has_row_index(piece) for piece, _ in pieces)
    asked = [ScanRequest(piece, gone, own_metadata) for piece, gone in pieces]
    scans = [binders.scan(spark, _read_schema(shown, part.piece), part, skip) for part in asked]
    hidden = all(scanned.metadata is not None for scanned in scans)
    rows = reduce(
        DataFrame.union,
        (
            _logical_rows(
                shown, piece, _drop_deleted(shown, piece, scanned, wanted), own, with_metadata=hidden
            )
            for (piece, _), scanned in zip(pieces, scans, strict=True)
        ),
    )
    return _with_hidden_metadata(rows, own) if hidden else rows


def _with_hidden_metadata(rows: DataFrame, own: InternalNames) -> DataFrame:
    """The same with the last column as Spark's ``_metadata``; a column of the user may have that name too."""
    shown = [spark_schema.column(name) for name in rows.columns[:-1]]
    told = F.col(own.metadata).alias(_METADATA, metadata={_IS_METADATA: _METADATA})
    return classic_file_index.hide_last_column(rows.select(*shown, told))


def _check_names(piece: Piece) -> None:
    """That rows are not numbered by a column of the table: Spark would take its values for their places."""
    if piece.needs_row_index and _has_row_index(piece):
        raise UnsupportedFeature(
            f"the table has a column {ROW_INDEX.name!r}, by which name Spark numbers the rows of a file, and "
            "these rows must be numbered: write them to a table whose column has another name",
            features=("reservedColumnName",), operation="read",
        )  # fmt: skip


def _has_row_index(piece: Piece) -> bool:
    return any(field.name.lower() == ROW_INDEX.name for field in piece.layout.fields)


def _read_schema(schema: Struct, piece: Piece) -> StructType:
    return (
        spark_schema.to_spark(schema)
        if _is_stored_as_logical(schema, piece)
        else logical_columns.read_schema(piece.layout)
    )


def _is_stored_as_logical(schema: Struct, piece: Piece) -> bool:
    return logical_columns.matches_layout(schema, piece.layout) and not piece.needs_ordinals


def _drop_deleted(
    schema: Struct, piece: Piece, scanned: ScannedRows, wanted: Predicate | None
) -> ScannedRows:
    """Without deleted rows, as far as the scan itself can tell; of them only what cannot fail is asked."""
    first = None
    if wanted is not None and (scanned.deleted_rows or scanned.live is not None):
        first = row_filter.row_condition(wanted, partial(_stored_column, schema, piece))
    # In one condition: Spark 4.3 asks later ones before one that can raise, if there is one more below it.
    asked = [condition for condition in (first, scanned.live) if condition is not None]
    rows = scanned.rows.where(reduce(and_, asked)) if asked else scanned.rows
    return replace(scanned, rows=rows, live=None, guarded=wanted is not None)


def _stored_column(schema: Struct, piece: Piece, path: tuple[str, ...]) -> Column | None:
    """The column of a path as files store it; None for one that is the same in all rows of a file."""
    top, *inner = path
    for field, stored in zip(schema.fields, piece.layout.fields, strict=False):
        if field.name == top and top not in piece.constants:
            found = logical_columns.to_logical(spark_schema.column(stored.name), stored.type, field.type)
            return reduce(Column.getField, inner, found)
    return None


def _logical_rows(
    schema: Struct, piece: Piece, scanned: ScannedRows, own: InternalNames, *, with_metadata: bool
) -> DataFrame:
    if _is_stored_as_logical(schema, piece) and not with_metadata:
        return scanned.rows
    # Of columns that are read under their own names Spark itself knows the CHAR, and pads it.
    is_padded = _is_stored_as_logical(schema, piece)
    chosen = [
        _logical_column(field, stored, piece, scanned, is_padded=is_padded)
        for field, stored in zip(schema.fields, piece.layout.fields, strict=False)
    ]
    if piece.tracking is not None:
        chosen += _row_tracking_columns(
            piece.layout.fields[len(schema.fields) :], piece.tracking, scanned, own
        )
    if piece.located:
        chosen += _position_columns(piece, scanned, own)
    if with_metadata and scanned.metadata is not None:
        chosen.append(scanned.metadata.alias(own.metadata))
    if not scanned.deleted_rows:
        return scanned.rows.select(*chosen)
    where = (scanned.ordinal.cast("int").alias(own.file), scanned.row.alias(own.row))
    return apply_deletion_vectors.filter_deleted(
        scanned.rows.select(*chosen, *where), scanned.deleted_rows, own, guarded=scanned.guarded
    )


def _logical_column(
    field: Field, stored: Field, piece: Piece, scanned: ScannedRows, *, is_padded: bool
) -> Column:
    if field.name in piece.constants:
        array = ArrayType(logical_columns.spark_type(field.type))
        texts = [char_varchar.padded_text(text, field) for text in piece.constants[field.name]]
        value = _lookup(texts, scanned.ordinal, array)
        return _with_field_name(logical_columns.with_collation(value, field), field)
    column = spark_schema.column(stored.name)
    found = logical_columns.to_logical(column, stored.type, field.type)
    found = logical_columns.with_collation(found if is_padded else char_varchar.pad(found, field), field)
    # To rename takes many calls of the JVM, and most columns are stored as they are shown.
    is_as_shown = found is column and stored.name == field.name and not field.metadata
    return column if is_as_shown else _with_field_name(found, field)


def _with_field_name(column: Column, field: Field) -> Column:
    return column.alias(field.name, metadata=dict(field.metadata))


def _row_tracking_columns(
    stored: Sequence[Field], tracking: RowTracking, scanned: ScannedRows, own: InternalNames
) -> list[Column]:
    """What a file stores for rows that were moved into it; else it follows from the log."""
    own_id, own_version = (spark_schema.column(field.name) for field in stored)
    base = _lookup(tracking.base_ids, scanned.ordinal, ArrayType(LongType()))
    version = _lookup(tracking.versions, scanned.ordinal, ArrayType(LongType()))
    return [
        F.coalesce(own_id, base + scanned.row).alias(own.row_id),
        F.coalesce(own_version, version).alias(own.row_commit_version),
    ]


def _position_columns(piece: Piece, scanned: ScannedRows, own: InternalNames) -> list[Column]:
    """Where among all files that are read a row's own stands, and its index in that file."""
    stands: list[int] = piece.positions.to_pylist()
    in_order = stands == list(range(len(stands)))
    position = (
        scanned.ordinal.cast("int")
        if in_order
        else _lookup(stands, scanned.ordinal, ArrayType(IntegerType()))
    )
    return [position.alias(own.position), scanned.row.alias(own.index)]


def _lookup(values: Sequence[str | int | None], ordinal: Column, array: ArrayType) -> Column:
    """The file's value out of a literal array, which Spark folds and prunes files with."""
    texts = F.from_json(F.lit(msgspec.json.encode(values).decode()), "array<string>")
    return F.get(texts.cast(array), ordinal.cast("int"))
