"""From a ScanPlan to a DataFrame whose plan is Spark's own parquet scan, over files nobody listed."""

from collections.abc import Iterable, Sequence
from functools import reduce

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType

from headgate.protocol.schema.types import Field, Struct
from headgate.protocol.vectors import DeletedRows
from headgate.spark import columns, deleted, manifest
from headgate.spark import schema as spark_schema
from headgate.spark.plan import Piece, RowTracking

ROW_ID, ROW_COMMIT_VERSION = "_row_id", "_row_commit_version"


def bind(
    spark: SparkSession, schema: Struct, pieces: Iterable[tuple[Piece, Sequence[DeletedRows]]]
) -> DataFrame:
    """The rows of all pieces, each given with the rows deleted from each of its files."""
    shown = columns.visible(schema)
    return reduce(DataFrame.union, (_rows(spark, shown, piece, gone) for piece, gone in pieces))


def _rows(spark: SparkSession, schema: Struct, piece: Piece, gone: Sequence[DeletedRows]) -> DataFrame:
    if columns.is_stored_as(schema, piece.layout) and not piece.needs_ordinals:
        return manifest.scan(spark, spark_schema.to_spark(schema), piece)
    scanned = manifest.scan(spark, columns.to_read(piece.layout), piece)
    origin = _Origin(scanned)
    chosen = [
        _column(field, stored, piece, origin).alias(field.name, metadata=dict(field.metadata))
        for field, stored in zip(schema.fields, piece.layout.fields, strict=False)
    ]
    if piece.tracking is not None:
        chosen += _tracked(piece.layout.fields[len(schema.fields) :], piece.tracking, origin)
    if not gone:
        return scanned.select(*chosen)
    where = (origin.ordinal.alias(deleted.FILE), origin.row.alias(deleted.ROW))
    return deleted.without(scanned.select(*chosen, *where), gone)


class _Origin:
    """Where a row is from: the ordinal of its file, and its index in it."""

    def __init__(self, scanned: DataFrame) -> None:
        metadata = scanned.metadataColumn("_metadata")
        # With something to look up, a file's ordinal is handed over as its modification time.
        self.ordinal = F.unix_millis(metadata.getField("file_modification_time")).cast("int")
        self.row = metadata.getField("row_index")


def _column(field: Field, stored: Field, piece: Piece, origin: _Origin) -> Column:
    if field.name in piece.constants:
        array = ArrayType(columns.spark_type(field.type))
        return _lookup(piece.constants[field.name], origin.ordinal, array)
    return columns.logical(spark_schema.column(stored.name), stored.type, field.type)


def _tracked(stored: Sequence[Field], tracking: RowTracking, origin: _Origin) -> list[Column]:
    """What a file stores for rows that were moved into it; else it follows from the log."""
    own_id, own_version = (spark_schema.column(field.name) for field in stored)
    base = _lookup(tracking.base_ids, origin.ordinal, ArrayType(LongType()))
    version = _lookup(tracking.versions, origin.ordinal, ArrayType(LongType()))
    return [
        F.coalesce(own_id, base + origin.row).alias(ROW_ID),
        F.coalesce(own_version, version).alias(ROW_COMMIT_VERSION),
    ]


def _lookup(values: Sequence[str | int | None], ordinal: Column, array: ArrayType) -> Column:
    """The file's value out of a literal array, which Spark folds and prunes files with."""
    texts = F.from_json(F.lit(msgspec.json.encode(values).decode()), "array<string>")
    return F.get(texts.cast(array), ordinal)
