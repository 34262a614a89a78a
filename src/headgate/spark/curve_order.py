"""Rows in the order of a curve through some of their columns: rows with values alike come together.

Each column is cut into buckets that have about as many rows each, by a sample of its values. The
buckets of a row are its coordinates, and these give its number on the curve, all by Spark's own
expressions.
"""

from collections.abc import Sequence
from math import ceil, log2
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.curves import Curve
from headgate.spark import schema as spark_schema

_SAMPLE = 20_000
_FEWEST_BITS, _MOST_BITS = 3, 8
_SPARE_BITS = 5
"""Cells are this much finer than files, in bits, so that files can have about as many rows each."""
_NUMBER, _STEP, _BUCKET = "__headgate_number", "__headgate_step", "__headgate_bucket"


def arranged(rows: DataFrame, by: Sequence[Column], curve: Curve, *, files: int, total: int) -> DataFrame:
    """The rows of ``rows``, about ``total`` of them, in so many partitions along the curve."""
    bits = _bits(files, curve.dimensions)
    bounds = _bounds(rows, by, total=total, buckets=1 << bits)
    buckets = [
        _bucket(column, found).alias(f"{_BUCKET}{number}")
        for number, (column, found) in enumerate(zip(by, bounds, strict=True))
    ]
    kept = [spark_schema.column(name) for name in rows.columns]
    numbered = _numbered(rows.select(*kept, *buckets), kept, curve, bits)
    return numbered.repartitionByRange(files, F.col(_NUMBER)).select(*kept)


def _bits(files: int, dimensions: int) -> int:
    wanted = ceil((log2(max(1, files)) + _SPARE_BITS) / dimensions)
    return min(_MOST_BITS, max(_FEWEST_BITS, wanted))


def _bounds(rows: DataFrame, by: Sequence[Column], *, total: int, buckets: int) -> list[list[Any]]:
    """For each column the values at which its buckets begin, but the first."""
    sample = rows.select(*(column.alias(f"c{number}") for number, column in enumerate(by)))
    if total > _SAMPLE:
        sample = sample.sample(_SAMPLE / total)
    sorted_values = [F.array_sort(F.collect_list(f"c{number}")) for number in range(len(by))]
    found = sample.agg(*sorted_values).collect()[0]
    return [_cuts(list(values), buckets) for values in found]


def _cuts(values: Sequence[Any], buckets: int) -> list[Any]:
    places = sorted({len(values) * bucket // buckets for bucket in range(1, buckets)})
    cuts = [values[place] for place in places if place < len(values)]
    return [cut for cut, before in zip(cuts, [None, *cuts], strict=False) if cut != before]


def _bucket(column: Column, bounds: Sequence[Any]) -> Column:
    """In which bucket a value is, found by halving; nulls are in the first."""

    def between(low: int, high: int) -> Column:
        if low == high:
            return F.lit(low)
        middle = (low + high) // 2
        return F.when(column < F.lit(bounds[middle]), between(low, middle)).otherwise(
            between(middle + 1, high)
        )

    return F.when(column.isNull(), F.lit(0)).otherwise(between(0, len(bounds)))


def _numbered(rows: DataFrame, kept: Sequence[Column], curve: Curve, bits: int) -> DataFrame:
    """The rows with their number on the curve: a projection for each bit, each using the one before twice."""
    width, mask = curve.dimensions, (1 << curve.dimensions) - 1
    table = F.expr(f"array({','.join(map(str, curve.table))})")
    coordinates = [F.col(f"{_BUCKET}{number}") for number in range(width)]
    found = rows.select(*kept, *coordinates, F.lit(0).alias(_STEP), F.lit(0).cast("bigint").alias(_NUMBER))
    for bit in reversed(range(bits)):
        cell = sum(
            (
                F.shiftleft(F.shiftright(each, bit).bitwiseAND(F.lit(1)), at)
                for at, each in enumerate(coordinates)
            ),
            F.lit(0),
        )
        state = F.shiftright(F.col(_STEP), width)
        step = F.get(table, F.shiftleft(state, width).bitwiseOR(cell))
        found = found.select(*kept, *coordinates, step.alias(_STEP), F.col(_NUMBER))
        digits = F.col(_STEP).bitwiseAND(F.lit(mask)).cast("bigint")
        number = F.shiftleft(F.col(_NUMBER), width).bitwiseOR(digits)
        found = found.select(*kept, *coordinates, F.col(_STEP), number.alias(_NUMBER))
    return found
