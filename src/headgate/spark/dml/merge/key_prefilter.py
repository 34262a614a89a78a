"""Which rows of a MERGE's target surely match no row of its source? A bit for each source key tells.

A join looks every row up in a table of megabytes, and mostly waits for memory. The bits of as many keys
stay in the processor's cache, so most rows that match nothing are left out before they are joined. A row
that is left in may still match nothing, which the join finds out.

A source has the keys 3, 64 and 4099, and there are 4,096 bits: bit 3 is set for 3 and for 4099, whose
remainder it is, and bit 64. A target row with the key 3, 64 or 4099 goes on to the join, and so does 8195,
for nothing; 5 is left out.

``benchmarks/dml.py``, its MERGE, justifies it.
"""

from dataclasses import dataclass

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

from headgate.spark.dml.merge.merge_source import MergeSource
from headgate.spark.jvm import bitmap_literal
from headgate.spark.jvm.bitmap_literal import WordLookup
from headgate.spark.scan import binders

_BITS_PER_KEY = 16
"""So that one row of sixteen is left in for nothing."""
_FEWEST_BITS = 1 << 12
_MOST_KEYS = 1_000_000
_FEW_ROWS = 4_000_000
"""To ask for the keys is a job of its own: below this it takes about as long as it saves."""
_HASH = "__headgate_key"
_MIXED, _HASHED = "{0} ^ shiftright({0}, 21) ^ shiftright({0}, 42)", "xxhash64({0})"
_INTEGERS: tuple[DataType, ...] = (ByteType(), ShortType(), IntegerType(), LongType())
_OTHERS: tuple[DataType, ...] = (
    StringType(), BinaryType(), DateType(), TimestampType(), TimestampNTZType(),
)  # fmt: skip
"""Types whose values are equal if and only if they are stored as the same bytes; collations are not."""


@dataclass(frozen=True, slots=True)
class _KeyPair:
    """A column of the target and one of the source, as SQL, which are equal in rows that match."""

    mine: str
    theirs: str
    are_integers: bool = False


def prefilter_by_key_bitmap(rows: DataFrame, most: int | None, source: MergeSource) -> DataFrame:
    """A target's rows, without most of those that match no row of the source, where that is worth it.

    There are ``most`` rows at most, if that is known.
    """
    spark = rows.sparkSession
    is_worth_it = 0 < source.count <= _MOST_KEYS and (most is None or most >= _FEW_ROWS)
    pairs = _pairs(rows.schema, source) if is_worth_it and binders.may_be_classic(spark) else []
    if not pairs:
        return rows
    # A hash takes thrice as long, and most integers are near each other or are hashes themselves.
    form = _MIXED if len(pairs) == 1 and pairs[0].are_integers else _HASHED
    theirs = form.format(", ".join(pair.theirs for pair in pairs))
    bits = max(_FEWEST_BITS, 1 << (source.count * _BITS_PER_KEY - 1).bit_length())
    keys = source.rows.selectExpr(f"{theirs} AS {_HASH}").toArrow()[_HASH].drop_null()
    try:
        word_at = bitmap_literal.word_lookup(spark, _key_bitmap(np.asarray(keys.to_numpy(), np.int64), bits))
    except (Py4JError, PySparkException, AttributeError, TypeError):
        return rows
    mine = F.expr(form.format(", ".join(pair.mine for pair in pairs)))
    return rows.where(_is_set(word_at, mine, bits))


def _pairs(mine: StructType, source: MergeSource) -> list[_KeyPair]:
    """The columns that can be told by their hashes: those of integers, and others of the same type."""
    found, theirs = [], source.rows.schema
    for column, name in source.equal:
        # Before Spark compares two columns of type char it pads them: they are not plain.
        if not column.plain or len(column.path) > 1 or len(name) > 1:
            continue
        types = [_type_of(schema, text) for schema, text in ((mine, column.path[0]), (theirs, name[0]))]
        one, other = (f"`{text.replace('`', '``')}`" for text in (column.path[0], name[0]))
        if all(each in _INTEGERS for each in types):
            found.append(_KeyPair(f"CAST({one} AS BIGINT)", f"CAST({other} AS BIGINT)", are_integers=True))
        elif types[0] == types[1] and types[0] in _OTHERS:
            found.append(_KeyPair(one, other))
    return found


def _type_of(schema: StructType, name: str) -> DataType | None:
    fields = [field for field in schema.fields if field.name.lower() == name.lower()]
    return fields[0].dataType if len(fields) == 1 else None


def _key_bitmap(keys: np.ndarray, bits: int) -> bytes:
    marks = np.zeros(bits, np.bool_)
    marks[keys & (bits - 1)] = True
    words = np.packbits(marks, bitorder="little").view("<i8")
    return words.astype(np.int64).tobytes()


def _is_set(word_at: WordLookup, key: Column, bits: int) -> Column:
    word = word_at(F.shiftright(key.bitwiseAND(F.lit(bits - 1)), 6).cast("int"), key.isNotNull())
    place = key.bitwiseAND(F.lit(63)).cast("int")
    return F.call_function("shiftright", word, place).bitwiseAND(F.lit(1)) == 1
