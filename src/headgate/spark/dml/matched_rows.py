"""Where the rows are that a statement found: (file, index) pairs of a Spark job, as bitmaps on the driver.

Few enough are sent as they are, which spares Spark a shuffle. If there may be many, Spark gathers
them into words of 64 rows first, so that even a statement about every row brings less than a byte a
row to the driver.

Spark finds row 5 of file 0 and the rows 7 and 9 of file 2. Few rows come as places, ``file << 40 | index``,
many as words:

    places   5, 2199023255559, 2199023255561
    words    (file 0, word 0, 0b100000), (file 2, word 0, 0b1010000000)

Either way the driver has ``{0: {5}, 2: {7, 9}}``.
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyroaring import FrozenBitMap64
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.spark.session.internal_names import InternalNames

_FILE, _KIND, _PLACE, _WORD, _BITS, _COUNT = "file", "kind", "place", "word", "bits", "count"
_INDEX_BITS = 40
"""A place is the position of a file and, in so many bits, the index of a row."""
_MOST_PLACES = 16_000_000
_NOWHERE = -1
_NONE = DeletedRows.from_rows(())

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class MatchedRows:
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


def collect(rows: DataFrame, own: InternalNames, *, at_most: int | None = None) -> Mapping[int, MatchedRows]:
    """The rows of each kind, given rows with position, index and kind; ``at_most`` so many, if known."""
    if at_most is not None and at_most <= _MOST_PLACES:
        return _from_positions(_places(rows, own).toArrow())
    return _from_words(_words(rows, own).toArrow())


def _places(rows: DataFrame, own: InternalNames) -> DataFrame:
    file = f"shiftleft(CAST({own.position} AS BIGINT), {_INDEX_BITS})"
    return rows.selectExpr(f"{file} | {own.index} AS {_PLACE}", f"CAST({own.kind} AS TINYINT) AS {_KIND}")


def _words(rows: DataFrame, own: InternalNames) -> DataFrame:
    found = rows.selectExpr(
        f"{own.position} AS {_FILE}", f"{own.kind} AS {_KIND}", f"{own.index} AS {_PLACE}"
    )
    bit = F.call_function("shiftleft", F.lit(1).cast("bigint"), (F.col(_PLACE) % 64).cast("int"))
    return found.groupBy(_FILE, _KIND, F.shiftright(_PLACE, 6).alias(_WORD)).agg(
        F.bit_or(bit).alias(_BITS), F.count(F.lit(1)).alias(_COUNT)
    )


def _from_positions(found: pa.Table) -> Mapping[int, MatchedRows]:
    # The rows of a task are in order, and a stable sort makes use of that.
    kinds, places = _numbers(found, _KIND), _numbers(found, _PLACE)
    result = {}
    for kind in np.unique(kinds):
        some = np.sort(places[kinds == kind], kind="stable")
        in_files = some[np.searchsorted(some, 0) :]
        indexes = in_files & ((1 << _INDEX_BITS) - 1)
        result[int(kind)] = MatchedRows(
            len(some),
            {file: _rows(indexes[part]) for file, part in _runs(in_files >> _INDEX_BITS)},
        )
    return result


def _from_words(found: pa.Table) -> Mapping[int, MatchedRows]:
    found = found.sort_by([(_KIND, "ascending"), (_FILE, "ascending")])
    files, words, bits, counts = (_numbers(found, name) for name in (_FILE, _WORD, _BITS, _COUNT))
    result = {}
    for kind, of_kind in _runs(_numbers(found, _KIND)):
        result[kind] = MatchedRows(
            int(counts[of_kind].sum()),
            {
                file: _rows(_indexes(words[of_kind][part], bits[of_kind][part]))
                for file, part in _runs(files[of_kind])
                if file != _NOWHERE
            },
        )
    return result


def _runs(values: Numbers) -> Iterator[tuple[int, slice]]:
    """Each value of some in order, and where it stands."""
    starts: list[int] = np.flatnonzero(np.diff(values, prepend=values[:1] - 1)).tolist()
    ends = [*starts[1:], len(values)] if starts else []
    for start, end in zip(starts, ends, strict=True):
        yield int(values[start]), slice(start, end)


def _indexes(words: Numbers, bits: Numbers) -> Numbers:
    packed = np.zeros(int(words.max()) + 1, np.dtype("<i8"))
    packed[words] = bits
    return np.flatnonzero(np.unpackbits(packed.view(np.uint8), bitorder="little"))


def _rows(indexes: Numbers) -> DeletedRows:
    # Roaring takes an array whole; one at a time, rows would take ten times as long.
    return DeletedRows(FrozenBitMap64(array("Q", indexes.tobytes())))


def _numbers(found: pa.Table, name: str) -> Numbers:
    column = pc.fill_null(found[name].cast(pa.int64()), _NOWHERE)
    return np.asarray(column.to_numpy(), np.int64)
