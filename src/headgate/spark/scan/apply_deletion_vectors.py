"""Deletion vectors, applied by Spark while it scans.

File 0 has the rows 1 and 3 deleted, file 1 the rows 0 and 64. Their bitmaps are three words, one behind the
other:

    words    [0b1010, 0b1, 0b1]
    places   file 0: from word 0, up to row 64; file 1: from word 1, up to row 128

Row 64 of file 1 is bit 0 of word 1 + 64 // 64 = 2, which is set: the row is left out. Row 200 is beyond the
words, and live.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.jvm.bitmap_literal import WordLookup
from headgate.spark.session import local_frame
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames

_HALF = 32


def filter_deleted(
    rows: DataFrame, deleted: Sequence[DeletedRows], own: InternalNames, *, guarded: bool = False
) -> DataFrame:
    """``rows``, which say in ``own.file`` and ``own.row`` where they are from, but those deleted and without
    the two.

    Spark asks later conditions before the join that finds deleted rows, unless it is ``guarded``.
    """
    marks = F.broadcast(local_frame.local_frame(rows.sparkSession, _bitmaps(deleted, own)))
    kept = [name for name in rows.columns if name not in (own.file, own.row)]
    # Were a file without a bitmap, its deleted rows must not come back unseen.
    words = F.coalesce(F.col(own.deleted), F.raise_error(F.lit("a deletion vector is missing from the scan")))
    live = _bit(words, F.col(own.row)) == 0
    # By a condition: of a join by a name nobody could ask for ``_metadata``.
    is_same = F.col(own.file) == F.col(own.deleted_from)
    joined = rows.join(marks, is_same, "left").where(live & _guard() if guarded else live)
    return joined.select(*map(spark_schema.column, kept))


@dataclass(frozen=True, slots=True)
class BitmapWords:
    """The bitmaps of files one behind the other, as this machine stores them; for each file its place."""

    packed: bytes
    places: Sequence[int]
    """Which word is the first of the file, in the upper half; before which row they end, in the lower."""


def concatenate_bitmaps(deleted: Sequence[DeletedRows], *, at_most: int) -> BitmapWords | None:
    """The bitmaps as words; None if there are too many for a literal."""
    words = [vector.words() for vector in deleted]
    *firsts, total = accumulate(map(len, words), initial=0)
    if total > at_most:
        return None
    places = [first << _HALF | 64 * len(some) for first, some in zip(firsts, words, strict=True)]
    return BitmapWords(b"".join(some.tobytes() for some in words), places)


def is_live(word_at: WordLookup, place: Column, row: Column) -> Column:
    """Whether a row is not deleted, by the words of all files and the place of those of its own."""
    index = (F.shiftright(place, _HALF) + F.shiftright(row, 6)).cast("int")
    word = word_at(index, row < place.bitwiseAND(F.lit((1 << _HALF) - 1)))
    bit = F.call_function("shiftright", word, row.bitwiseAND(F.lit(63)).cast("int")).bitwiseAND(F.lit(1))
    # Were a row without an index, it must not be lost unseen.
    unnumbered = F.raise_error(F.lit("the scan does not number its rows")).cast("boolean")
    # By "if": for CASE the code that Spark makes writes to memory for each row.
    return F.call_function("if", row.isNull(), unnumbered, bit == 0)


def _guard() -> Column:
    """True, but nothing is asked before it: Spark moves no condition across what may differ by task."""
    return F.spark_partition_id() >= 0


def _bit(words: Column, row: Column) -> Column:
    # Beyond the last word nothing is deleted.
    word = F.coalesce(F.get(words, F.shiftright(row, 6).cast("int")), F.lit(0))
    return F.getbit(word.cast("bigint"), (row % 64).cast("int"))


def _bitmaps(deleted: Sequence[DeletedRows], own: InternalNames) -> pa.Table:
    words = [vector.words() for vector in deleted]
    ends = pa.array(accumulate(map(len, words), initial=0), pa.int32())
    joined = pa.py_buffer(b"".join(some.tobytes() for some in words))
    flat = pa.Array.from_buffers(pa.int64(), ends[-1].as_py(), [None, joined])
    return pa.table(
        {
            own.deleted_from: pa.array(range(len(words)), pa.int32()),
            own.deleted: pa.ListArray.from_arrays(ends, flat),
        }
    )
