"""Where the rows are that a statement found: (file, index) pairs of a Spark job, as bitmaps on the driver.

Spark gathers them into words of 64 rows, so that even a statement about every row brings less than
a byte a row to the driver.
"""

import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import FrozenBitMap64
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.protocol.vectors import DeletedRows
from headgate.spark.bind import INDEX, POSITION

KIND = "__headgate_kind"
"""What is to be done with a row; see ``Kind`` in ``edits``."""
_WORD, _BITS, _COUNT = "word", "bits", "count"
_NONE = DeletedRows.of(())


@dataclass(frozen=True, slots=True)
class Found:
    """The rows of one kind."""

    count: int = 0
    """How many there are; more than rows of files, if some were found several times or are in no file."""
    rows: Mapping[int, DeletedRows] = field(default_factory=dict)
    """By the position of their file among those that were read."""

    @property
    def distinct(self) -> int:
        """How many rows of files there are."""
        return sum(rows.cardinality for rows in self.rows.values())

    def of(self, position: int) -> DeletedRows:
        """The rows of one file."""
        return self.rows.get(position, _NONE)


def collect(rows: DataFrame) -> Mapping[int, Found]:
    """The rows of each kind, given rows that have POSITION, INDEX and KIND."""
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), (F.col(INDEX) % 64).cast("int"))
    grouped = rows.groupBy(POSITION, KIND, F.shiftright(INDEX, 6).alias(_WORD)).agg(
        F.bit_or(bit).alias(_BITS), F.count(F.lit(1)).alias(_COUNT)
    )
    counts: dict[int, int] = {}
    words: dict[int, dict[int, dict[int, int]]] = {}
    for batch in grouped.toArrow().to_batches():
        columns = (batch[name].to_pylist() for name in (POSITION, KIND, _WORD, _BITS, _COUNT))
        for position, kind, word, bits, count in zip(*columns, strict=True):
            counts[kind] = counts.get(kind, 0) + count
            if position is not None:
                words.setdefault(kind, {}).setdefault(position, {})[word] = bits
    return {
        kind: Found(count, {place: _rows(some) for place, some in words.get(kind, {}).items()})
        for kind, count in counts.items()
    }


def _rows(words: Mapping[int, int]) -> DeletedRows:
    packed = array("q", bytes(8 * (max(words) + 1)))
    for word, bits in words.items():
        packed[word] = bits
    if sys.byteorder == "big":
        packed.byteswap()
    flags = pa.Array.from_buffers(pa.bool_(), 64 * len(packed), [None, pa.py_buffer(packed.tobytes())])
    indexes = pc.indices_nonzero(flags)
    # Roaring takes an array whole; one at a time, rows would take ten times as long.
    values = memoryview(indexes.buffers()[1])[: 8 * len(indexes)]
    return DeletedRows(FrozenBitMap64(array("Q", values.tobytes())))
