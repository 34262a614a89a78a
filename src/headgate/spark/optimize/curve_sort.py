"""Rows in the order of a curve through some of their columns: rows with values alike come together.

Each column is cut into buckets that have about as many rows each, by a sample of its values. The
buckets of a row are its coordinates, and these give its number on the curve, all by Spark's own
expressions. The numbers of the sample say at which of them each file begins, so the rows themselves
are read once, by the shuffle: Spark's own ranges would read them for a sample of their own.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import reduce
from math import ceil, log2
from typing import Any

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from headgate.protocol.features.space_filling_curves import Curve
from headgate.spark.jvm import call_sites
from headgate.spark.optimize import shuffle_keys
from headgate.spark.session import internal_names
from headgate.spark.session import schema as spark_schema
from headgate.spark.session.internal_names import InternalNames

_FEWEST_SAMPLED, _MOST_SAMPLED, _SAMPLED_PER_FILE = 20_000, 500_000, 100
_SEED = 1
_FEWEST_BITS, _MOST_BITS = 3, 8
_SPARE_BITS = 5
"""Cells are this much finer than files, in bits, so that files can have about as many rows each."""
_FEW_BITS = 16
"""Of so many cells, as bits, each one's number is looked up rather than computed."""


@call_sites.without_call_sites
def sort_by_curve(
    rows: DataFrame, by: Sequence[Column], curve: Curve, *, files: int, total: int
) -> DataFrame:
    """The rows of ``rows``, about ``total`` of them, in at most so many partitions along the curve."""
    bits, own = _bits(files, curve.dimensions), internal_names.free_names(rows.columns)
    sample = _sample(rows, by, own, total=total, files=files).persist()
    try:
        values = [F.col(f"{own.value}{at}") for at in range(curve.dimensions)]
        bounds = _bounds(sample, values, buckets=1 << bits)
        numbered = _with_curve_index(_with_buckets(sample, (), values, bounds, own), (), curve, bits, own)
        begins = _bounds(numbered, [F.col(own.number)], buckets=files)[0]
    finally:
        sample.unpersist()
    kept = [spark_schema.column(name) for name in rows.columns]
    find = _key_by_lookup if bits * curve.dimensions <= _FEW_BITS else _key_by_search
    keyed = find(_with_buckets(rows, kept, by, bounds, own), kept, curve, bits, begins, own)
    return keyed.repartition(len(begins) + 1, F.col(own.key)).select(*kept)


def _bits(files: int, dimensions: int) -> int:
    wanted = ceil((log2(max(1, files)) + _SPARE_BITS) / dimensions)
    return min(_MOST_BITS, max(_FEWEST_BITS, wanted))


def _sample(
    rows: DataFrame, by: Sequence[Column], own: InternalNames, *, total: int, files: int
) -> DataFrame:
    """The values of some rows."""
    wanted = min(_MOST_SAMPLED, max(_FEWEST_SAMPLED, _SAMPLED_PER_FILE * files))
    found = rows.select(*(column.alias(f"{own.value}{number}") for number, column in enumerate(by)))
    return found.sample(fraction=wanted / total, seed=_SEED) if total > wanted else found


def _bounds(sample: DataFrame, values: Sequence[Column], *, buckets: int) -> list[list[Any]]:
    """For each of the values those at which its buckets begin, but the first."""
    found = sample.agg(*(F.sort_array(F.collect_list(value)) for value in values)).collect()[0]
    return [_cuts(list(some), buckets) for some in found]


def _cuts(values: Sequence[Any], buckets: int) -> list[Any]:
    places = sorted({len(values) * bucket // buckets for bucket in range(1, buckets)})
    cuts = [values[place] for place in places if place < len(values)]
    return [cut for cut, before in zip(cuts, [None, *cuts], strict=False) if cut != before]


def _with_buckets(
    rows: DataFrame,
    kept: Sequence[Column],
    by: Sequence[Column],
    bounds: Sequence[Sequence[Any]],
    own: InternalNames,
) -> DataFrame:
    """The rows with the bucket of each value, found by halving: a projection for each step.

    One expression that has a branch for each bucket would be more code than the JVM compiles. None has
    a bound in it: what Spark compiles is the same for any, so it is compiled once.
    """
    values = [F.col(f"{own.value}{number}") for number in range(len(by))]
    buckets = [F.col(f"{own.bucket}{number}") for number in range(len(by))]
    cuts = [F.col(f"{own.cuts}{number}") for number in range(len(by))]
    found = rows.select(
        *kept,
        *(column.alias(f"{own.value}{number}") for number, column in enumerate(by)),
        *(F.array(*map(F.lit, some)).alias(f"{own.cuts}{number}") for number, some in enumerate(bounds)),
        *(_first_bucket(column).alias(f"{own.bucket}{number}") for number, column in enumerate(by)),
    )
    for step in _steps(max(map(len, bounds))):
        narrowed = [
            _advance_bucket(bucket, value, cut, step).alias(f"{own.bucket}{number}")
            if bounds[number]
            else bucket
            for number, (bucket, value, cut) in enumerate(zip(buckets, values, cuts, strict=True))
        ]
        found = found.select(*kept, *values, *cuts, *narrowed)
    first = F.lit(0)
    placed = [F.coalesce(bucket, first).alias(f"{own.bucket}{at}") for at, bucket in enumerate(buckets)]
    return found.select(*kept, *placed)


def _first_bucket(value: Column) -> Column:
    """The first bucket, or null; a plain constant would have Spark put the first bound into its code."""
    return F.when(value.isNotNull(), F.lit(0))


def _steps(count: int) -> list[int]:
    """Powers of two that add up to any number up to ``count``, the largest first."""
    return [1 << bit for bit in reversed(range(count.bit_length()))]


def _advance_bucket(bucket: Column, value: Column, cuts: Column, step: int) -> Column:
    """A bucket ``step`` farther if it begins at the value or before."""
    # Beyond the last there is no cut, so nothing is true of it.
    return F.when(F.get(cuts, bucket + (step - 1)) <= value, bucket + step).otherwise(bucket)


def _key_by_lookup(
    rows: DataFrame,
    kept: Sequence[Column],
    curve: Curve,
    bits: int,
    begins: Sequence[int],
    own: InternalNames,
) -> DataFrame:
    """The rows with the key of their file, out of an array with that of every cell."""
    mask = (1 << bits) - 1
    cells = range(1 << bits * curve.dimensions)
    places = [tuple(cell >> bits * at & mask for at in range(curve.dimensions)) for cell in cells]
    keys = shuffle_keys.keys_for_partitions(len(begins) + 1)
    found = [keys[bisect_right(begins, curve.number(place, bits))] for place in places]
    parts = (F.shiftleft(f"{own.bucket}{at}", bits * at) for at in range(curve.dimensions))
    return rows.select(
        *kept, F.get(_int_array_literal(found), reduce(Column.bitwiseOR, parts)).alias(own.key)
    )


def _key_by_search(
    rows: DataFrame,
    kept: Sequence[Column],
    curve: Curve,
    bits: int,
    begins: Sequence[int],
    own: InternalNames,
) -> DataFrame:
    """The rows with the key of their file, by their number on the curve."""
    numbered = _with_curve_index(rows, kept, curve, bits, own)
    parted = _with_buckets(numbered, kept, [F.col(own.number)], [begins], own)
    keys = _int_array_literal(shuffle_keys.keys_for_partitions(len(begins) + 1))
    return parted.select(*kept, F.get(keys, F.col(f"{own.bucket}0")).alias(own.key))


def _int_array_literal(values: Sequence[int]) -> Column:
    """An array of ints as one constant; one made of constants would be an expression for each."""
    return F.from_json(F.lit(msgspec.json.encode(values).decode()), "array<int>")


def _with_curve_index(
    rows: DataFrame, kept: Sequence[Column], curve: Curve, bits: int, own: InternalNames
) -> DataFrame:
    """The rows with their number on the curve: a projection for each bit, each using the one before twice."""
    width, mask = curve.dimensions, (1 << curve.dimensions) - 1
    table = F.expr(f"array({','.join(map(str, curve.table))})")
    coordinates = [F.col(f"{own.bucket}{number}") for number in range(width)]
    nothing = F.lit(0).alias(own.step), F.lit(0).cast("bigint").alias(own.number)
    found = rows.select(*kept, *coordinates, *nothing)
    for bit in reversed(range(bits)):
        cell = sum(
            (
                F.shiftleft(F.shiftright(each, bit).bitwiseAND(F.lit(1)), at)
                for at, each in enumerate(coordinates)
            ),
            F.lit(0),
        )
        state = F.shiftright(F.col(own.step), width)
        step = F.get(table, F.shiftleft(state, width).bitwiseOR(cell))
        found = found.select(*kept, *coordinates, step.alias(own.step), F.col(own.number))
        digits = F.col(own.step).bitwiseAND(F.lit(mask)).cast("bigint")
        number = F.shiftleft(F.col(own.number), width).bitwiseOR(digits)
        found = found.select(*kept, *coordinates, F.col(own.step), number.alias(own.number))
    return found
