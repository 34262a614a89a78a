"""Many numbers as one literal of a classic Spark session, and one of them by its index.

Spark takes the hash of a literal a dozen times a query, to print plans and to compare them. That of
an array goes through all of it each time; a map has none but its own. So a map holds the numbers.

The words ``[10, 1]`` are a map without keys whose values are these two. ``at(index, is_one)`` is an
expression, ``if(is_one, <map>.valueArray().getLong(index), 0)``: with index 1 it is 1.

``benchmarks/scan.py`` with deleted rows, and the MERGE of ``benchmarks/dml.py``, justify it.
"""

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaObject
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from headgate.spark.jvm.arrays import MethodHandles, native_endian

WordLookup = Callable[[Column, Column], Column]
"""The number at an index, if a condition is true, and else 0; only if the index is one of a number may
the condition be true: the JVM does not look."""

_CATALYST = "org.apache.spark.sql.catalyst.expressions."
_BITS = 64


def word_lookup(spark: SparkSession, numbers: bytes) -> WordLookup:
    """What finds one of these bigints, which are given as this machine stores them."""
    words = _CatalystExpressions(spark.sparkContext._gateway)
    array = words.array(words.literal(numbers))

    def found(index: Column, is_one: Column) -> Column:
        return F.call_function("if", is_one, words.element(array, index), F.lit(0).cast("bigint"))

    return found


class _CatalystExpressions:
    """Expressions of a JVM, which no function of Spark's makes."""

    def __init__(self, gateway: Any) -> None:
        self._gateway, self._jvm, self._functions = gateway, gateway.jvm, MethodHandles(gateway)
        sql = self._jvm.org.apache.spark.sql
        self._expressions, self._kinds = sql.catalyst.expressions, sql.types
        self._columns = sql.classic.ExpressionUtils

    def literal(self, numbers: bytes) -> JavaObject:
        """A map with no keys, and with these for values."""
        keys, values = _unsafe_array(b""), _unsafe_array(numbers)
        content, made = native_endian("long", [len(keys)]) + keys + values, self._expressions.UnsafeMapData()
        made.pointTo(content, self._jvm.org.apache.spark.unsafe.Platform.BYTE_ARRAY_OFFSET, len(content))
        return self._expressions.Literal(made, self._object("UnsafeMapData"))

    def array(self, of: JavaObject) -> JavaObject:
        """The values of a map. By the class they have, or Spark would put a literal array in its place."""
        return self._call(of, "valueArray", self._object("UnsafeArrayData"))

    def element(self, of: JavaObject, index: Column) -> Column:
        """That of an array at an index."""
        bigint, index = self._kinds.DataTypes.LongType, self._columns.expression(index._jc)
        return Column(self._columns.column(self._call(of, "getLong", bigint, index)))

    def _call(self, of: JavaObject, name: str, gives: JavaObject, *given: JavaObject) -> JavaObject:
        takes = [self._kinds.DataTypes.IntegerType] * len(given)
        # That a null is not passed on, none is given back, and the answer is always the same.
        how = (False, False, True)
        return self._expressions.objects.Invoke(of, name, gives, self._seq(given), self._seq(takes), *how)

    def _object(self, kind: str) -> JavaObject:
        return self._kinds.ObjectType(self._functions.named(_CATALYST + kind))

    def _seq(self, elements: Any) -> JavaObject:
        made = self._gateway.new_array(self._jvm.java.lang.Object, len(elements))
        for position, element in enumerate(elements):
            made[position] = element
        return self._jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(made)


def _unsafe_array(numbers: bytes) -> bytes:
    """As Spark stores an array: its length, a bit for each element that is null, and the elements."""
    length = len(numbers) // 8
    return native_endian("long", [length]) + bytes(-(-length // _BITS) * 8) + numbers
