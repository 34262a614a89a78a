"""Which rows of a MERGE's target surely match no row of its source? A bit for each source key tells.

A join looks every row up in a table of megabytes, and mostly waits for memory. The bits of as many keys
stay in the processor's cache, so most rows that match nothing are left out before they are joined. A row
that is left in may still match nothing, which the join finds out.
"""

import numpy as np
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    ByteType,
    DataType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from headgate.spark import binders, file_index
from headgate.spark.merge_source import Source
from headgate.spark.targets import Target

Pair = tuple[str, str]
"""A column of the target and one of the source, as SQL, which are equal in rows that match."""

_BITS_PER_KEY = 16
"""So that one row of sixteen is left in for nothing."""
_FEWEST_BITS = 1 << 12
_MOST_KEYS = 1_000_000
_FEW_ROWS = 4_000_000
"""To ask for the keys is a job of its own: below this it takes about as long as it saves."""
_HASH = "__headgate_key"
_INTEGERS: tuple[DataType, ...] = (ByteType(), ShortType(), IntegerType(), LongType())
_OTHERS: tuple[DataType, ...] = (
    StringType(), BinaryType(), DateType(), TimestampType(), TimestampNTZType(),
)  # fmt: skip
"""Types whose values are equal if and only if they are stored as the same bytes; collations are not."""


def without_strangers(rows: DataFrame, target: Target, source: Source) -> DataFrame:
    """The target's rows, without most of those that match no row of the source, where that is worth it."""
    if not 0 < source.count <= _MOST_KEYS or not binders.may_be_classic(target.spark):
        return rows
    most = target.most_rows()
    pairs = _pairs(rows.schema, source) if most is None or most >= _FEW_ROWS else []
    if not pairs:
        return rows
    mine, theirs = (_hash([pair[side] for pair in pairs], pairs) for side in (0, 1))
    bits = max(_FEWEST_BITS, 1 << (source.count * _BITS_PER_KEY - 1).bit_length())
    keys = source.rows.selectExpr(f"{theirs} AS {_HASH}").toArrow()[_HASH].drop_null()
    try:
        words = file_index.longs(target.spark, _packed(np.asarray(keys.to_numpy(), np.int64), bits))
    except (Py4JError, PySparkException, file_index.Unusable, AttributeError, TypeError):
        return rows
    return rows.where(_is_set(words, F.expr(mine), bits))


def _pairs(mine: StructType, source: Source) -> list[Pair]:
    """The columns that can be told by their hashes: those of integers, and others of the same type."""
    found, theirs = [], source.rows.schema
    for column, name in source.equal:
        if len(column.path) > 1 or len(name) > 1:
            continue
        types = [_type_of(schema, text) for schema, text in ((mine, column.path[0]), (theirs, name[0]))]
        names = [f"`{text.replace('`', '``')}`" for text in (column.path[0], name[0])]
        if all(each in _INTEGERS for each in types):
            found.append((f"CAST({names[0]} AS BIGINT)", f"CAST({names[1]} AS BIGINT)"))
        elif types[0] == types[1] and types[0] in _OTHERS:
            found.append((names[0], names[1]))
    return found


def _type_of(schema: StructType, name: str) -> DataType | None:
    types = [field.dataType for field in schema.fields if field.name.lower() == name.lower()]
    return types[0] if len(types) == 1 else None


def _hash(columns: list[str], pairs: list[Pair]) -> str:
    """A number for the values of columns, as SQL."""
    if len(columns) == 1 and pairs[0][0].startswith("CAST"):
        # A hash takes thrice as long, and most keys are near each other or are hashes themselves.
        return f"{columns[0]} ^ shiftright({columns[0]}, 21) ^ shiftright({columns[0]}, 42)"
    return f"xxhash64({', '.join(columns)})"


def _packed(keys: np.ndarray, bits: int) -> bytes:
    marks = np.zeros(bits, np.bool_)
    marks[keys & (bits - 1)] = True
    return np.packbits(marks, bitorder="little").tobytes()


def _is_set(words: Column, key: Column, bits: int) -> Column:
    word = F.get(words, F.shiftright(key.bitwiseAND(F.lit(bits - 1)), 6).cast("int"))
    place = key.bitwiseAND(F.lit(63)).cast("int")
    return F.call_function("shiftright", word, place).bitwiseAND(F.lit(1)) == 1
