"""Which way a session is handed the files of a scan: the classic one or the portable one.

Both give the same rows. The classic one skips files by whatever a DataFrame goes through before
it runs, reads deletion vectors faster, and needs a driver in this process and a Spark it was
tried on. The portable one needs public calls only, so it serves everyone else, Spark Connect too.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from headgate.errors import InvalidRequest
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.predicates.tree import Opaque
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.spark.jvm import bitmap_literal
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.predicates import pushed_filters
from headgate.spark.scan import apply_deletion_vectors, classic_file_index, portable_manifest
from headgate.spark.scan.classic_file_index import ROW_INDEX, FileListing
from headgate.spark.scan.scan_plan import Piece
from headgate.spark.session import internal_names, kind, vended_access
from headgate.spark.session.internal_names import InternalNames

SETTING = "spark.headgate.binder"
_TESTED_VERSIONS = ("4.0", "4.1", "4.2", "4.3")
_MOST_WORDS = 4 * 1024 * 1024
# As one text: every part of a column is several calls of the JVM.
_LIKE_METADATA = """named_struct(
    'file_path', {path},
    'file_name', substring_index({uri}, '/', -1),
    'file_size', {size},
    'file_block_start', CAST(NULL AS BIGINT),
    'file_block_length', CAST(NULL AS BIGINT),
    'file_modification_time', timestamp_millis({modified_ms}),
    'row_index', {row_index}
)"""

_log = logging.getLogger(__name__)
_warned: set[str] = set()


class Binder(Enum):
    """The values of ``spark.headgate.binder``."""

    AUTO = "auto"
    """The classic one where it works; the default."""
    CLASSIC = "classic"
    """The classic one, or an error that says why not."""
    PORTABLE = "portable"


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """A piece to scan, and the rows deleted from each of its files."""

    piece: Piece
    deleted_rows: Sequence[DeletedRows]
    own_metadata: bool
    """Whether Spark's ``_metadata`` would be hidden: by a union, or because it cannot number rows twice."""


@dataclass(frozen=True, slots=True)
class ScannedRows:
    """Rows as files store them, and which of them are still to be left out."""

    rows: DataFrame
    ordinal: Column
    """Which of the files a row is from, if the piece needs ordinals."""
    row: Column
    """The index of a row in its file, if the piece needs that."""
    deleted_rows: Sequence[DeletedRows]
    metadata: Column | None = None
    """What ``_metadata`` is to say of a row, if Spark's own is not to be used."""
    live: Column | None = None
    """Whether a row is not deleted, if that can be told of each by itself."""
    guarded: bool = False
    """Whether what is asked later must not be asked of deleted rows."""


class FileSkipping:
    """Which of some files may have rows that filters select; statistics are read when first needed."""

    def __init__(self, columns: ScanColumns, bounds: Callable[[], FileBounds]) -> None:
        self.columns = columns
        self._bounds = bounds

    def keep(self, piece: Piece, question: str) -> bytes | None:
        """A byte for each file of a piece, as the index of the piece asks for."""
        asked = pushed_filters.to_predicate(
            question, pushed_filters.filterable_columns(self.columns.schema, piece.layout)
        )
        if isinstance(asked, Opaque):
            return None
        kept = data_skipping.keep_mask(self._bounds(), asked)
        return bytes(kept.take(piece.positions).cast(pa.uint8()).to_numpy())


def scan(
    spark: SparkSession, wanted: StructType, asked: ScanRequest, skip: FileSkipping | None
) -> ScannedRows:
    """The rows of a piece, by the binder that the session has or can have."""
    chosen = _configured_binder(spark)
    if chosen is Binder.PORTABLE and not asked.piece.is_streaming:
        return _portable(spark, wanted, asked)
    reason = _obstacle(spark)
    if reason is None:
        try:
            return _classic(spark, wanted, asked, skip)
        except (
            Py4JError,
            PySparkException,
            classic_file_index.FileIndexUnavailable,
            AttributeError,
            TypeError,
        ) as exc:
            reason = f"{type(exc).__name__}: {str(exc).partition(chr(10))[0]}"
    if asked.piece.is_streaming:
        raise InvalidRequest(
            f"the files of a batch of a stream cannot be given to Spark here: {reason}. Read the table by "
            "spark.readStream.format('headgate'), which is slower and does without"
        )
    if chosen is Binder.CLASSIC:
        raise InvalidRequest(
            f"the session asks for {SETTING}=classic, and that does not work here: {reason}. "
            f"Unset it, spark.conf.unset({SETTING!r}), or set it to 'auto'"
        )
    if (kind := reason.partition(":")[0]) not in _warned:
        _warned.add(kind)
        _log.warning("files are not skipped by later filters of a DataFrame: %s", reason)
    return _portable(spark, wanted, asked)


def may_be_classic(spark: SparkSession) -> bool:
    """Whether the classic binder is neither turned off nor known not to work in a session."""
    return _configured_binder(spark) is not Binder.PORTABLE and _obstacle(spark) is None


def _configured_binder(spark: SparkSession) -> Binder:
    text = (spark.conf.get(SETTING, "auto") or "auto").lower()
    try:
        return Binder(text)
    except ValueError:
        known = ", ".join(repr(binder.value) for binder in Binder)
        raise InvalidRequest(f"{SETTING} is {text!r}; it can be {known}") from None


def _obstacle(spark: SparkSession) -> str | None:
    if kind.is_connect(spark):
        return "with Spark Connect the driver is elsewhere"
    if not spark.version.startswith(tuple(f"{version}." for version in _TESTED_VERSIONS)):
        return f"Spark {spark.version} is not one of {', '.join(_TESTED_VERSIONS)}"
    return None


def _portable(spark: SparkSession, schema: StructType, request: ScanRequest) -> ScannedRows:
    rows = portable_manifest.scan(spark, schema, request.piece)
    row = rows.metadataColumn("_metadata").getField("row_index")
    return ScannedRows(rows, portable_manifest.ordinal(rows, request.piece), row, request.deleted_rows)


def _classic(
    spark: SparkSession, schema: StructType, request: ScanRequest, skip: FileSkipping | None
) -> ScannedRows:
    piece, deleted_rows, own = (
        request.piece,
        request.deleted_rows,
        internal_names.free_names(request.piece.layout),
    )
    words = (
        apply_deletion_vectors.concatenate_bitmaps(deleted_rows, at_most=_MOST_WORDS)
        if deleted_rows
        else None
    )
    numbers: list[tuple[str, pa.Int64Array]] = []
    if words is not None:
        numbers += [(own.place, pa.array(words.places, pa.int64()))]
    if piece.constants or piece.tracking or piece.located or (deleted_rows and words is None):
        numbers += [(own.ordinal, pa.array(np.arange(len(piece.uris), dtype=np.int64)))]
    if request.own_metadata:
        numbers += [(own.size, piece.sizes), (own.modified_ms, piece.modified_ms)]
    if request.own_metadata or piece.needs_row_index:
        schema = StructType([*schema.fields, ROW_INDEX])
    spelled = (own.path, own.uri) if request.own_metadata else None
    access = vended_access.access_options(piece.location)
    listing = FileListing(
        piece.uris,
        piece.sizes,
        piece.modified_ms,
        numbers,
        spelled,
        piece.mark,
        piece.soft_references,
        access,
        piece.is_streaming,
    )
    rows = classic_file_index.scan(
        spark, schema, listing, None if skip is None else partial(skip.keep, piece)
    )
    row, metadata = F.col(ROW_INDEX.name), _metadata(own) if request.own_metadata else None
    if words is None:
        return ScannedRows(rows, F.col(own.ordinal), row, deleted_rows, metadata)
    live = apply_deletion_vectors.is_live(
        bitmap_literal.word_lookup(spark, words.packed), F.col(own.place), row
    )
    return ScannedRows(rows, F.col(own.ordinal), row, (), metadata, live)


def _metadata(own: InternalNames) -> Column:
    """Like Spark's; but which part of a file a task reads is not known outside its reader."""
    named = {"path": own.path, "uri": own.uri, "size": own.size, "modified_ms": own.modified_ms}
    return F.expr(_LIKE_METADATA.format(**named, row_index=ROW_INDEX.name))
