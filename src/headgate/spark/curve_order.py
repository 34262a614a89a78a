"""Rows in the order of a curve through some of their columns: rows with values alike come together.

Each column is cut into buckets that have about as many rows each, by a sample of its values. The
buckets of a row are its coordinates, and these give its number on the curve, all by Spark's own
expressions.
"""

from collections.abc import Sequence
from functools import reduce
from math import ceil, log2
from typing import Any

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.curves import Curve
from headgate.spark import schema as spark_schema

_SAMPLE = 20_000
_FEWEST_BITS, _MOST_BITS = 3, 8
_SPARE_BITS = 5
"""Cells are this much finer than files, in bits, so that files can have about as many rows each."""
_FEW_BITS = 16
"""Of so many cells, as bits, each one's number is looked up rather than computed."""
_NUMBER, _STEP = "__headgate_number", "__headgate_step"
_BUCKET, _VALUE = "__headgate_bucket", "__headgate_value"


def arranged(rows: DataFrame, by: Sequence[Column], curve: Curve, *, files: int, total: int) -> DataFrame:
    """The rows of ``rows``, about ``total`` of them, in so many partitions along the curve."""
    bits = _bits(files, curve.dimensions)
    bounds = _bounds(rows, by, total=total, buckets=1 << bits)
    kept = [spark_schema.column(name) for name in rows.columns]
    find = _looked_up if bits * curve.dimensions <= _FEW_BITS else _numbered
    numbered = find(_bucketed(rows, kept, by, bounds), kept, curve, bits)
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


def _bucketed(
    rows: DataFrame, kept: Sequence[Column], by: Sequence[Column], bounds: Sequence[Sequence[Any]]
) -> DataFrame:
    """The rows with the bucket of each value, found by halving: a projection for each step.

    One expression that has a branch for each bucket would be more code than the JVM compiles.
    """
    cuts = [F.array(*map(F.lit, some)) for some in bounds]
    values = [F.col(f"{_VALUE}{number}") for number in range(len(by))]
    buckets = [F.col(f"{_BUCKET}{number}") for number in range(len(by))]
    named = [column.alias(f"{_VALUE}{number}") for number, column in enumerate(by)]
    found = rows.select(*kept, *named, *(F.lit(0).alias(f"{_BUCKET}{number}") for number in range(len(by))))
    for step in _steps(max(map(len, bounds))):
        narrowed = [
            _narrowed(bucket, value, cut, step).alias(f"{_BUCKET}{number}") if bounds[number] else bucket
            for number, (bucket, value, cut) in enumerate(zip(buckets, values, cuts, strict=True))
        ]
        found = found.select(*kept, *values, *narrowed)
    return found.select(*kept, *buckets)


def _steps(count: int) -> list[int]:
    """Powers of two that add up to any number up to ``count``, the largest first."""
    return [1 << bit for bit in reversed(range(count.bit_length()))]


def _narrowed(bucket: Column, value: Column, cuts: Column, step: int) -> Column:
    """A bucket ``step`` farther if it begins at the value or before; nulls stay in the first."""
    # Beyond the last there is no cut, so nothing is true of it.
    return F.when(F.get(cuts, bucket + (step - 1)) <= value, bucket + step).otherwise(bucket)


def _looked_up(rows: DataFrame, kept: Sequence[Column], curve: Curve, bits: int) -> DataFrame:
    """The rows with their number on the curve, out of an array with that of every cell."""
    mask = (1 << bits) - 1
    cells = range(1 << bits * curve.dimensions)
    places = [tuple(cell >> bits * at & mask for at in range(curve.dimensions)) for cell in cells]
    numbers = msgspec.json.encode([curve.number(place, bits) for place in places]).decode()
    parts = (F.shiftleft(f"{_BUCKET}{at}", bits * at) for at in range(curve.dimensions))
    cell = reduce(Column.bitwiseOR, parts)
    return rows.select(*kept, F.get(F.from_json(F.lit(numbers), "array<bigint>"), cell).alias(_NUMBER))


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
