"""Arrays that the JVM fills with functions put together here."""

import pyarrow as pa
import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from headgate.spark.jvm.arrays import JvmArrays, MethodHandles, little_endian

pytestmark = pytest.mark.spark

TO_TEXT = ("java.lang.Long", "toString", "(JI)Ljava/lang/String;")


@pytest.fixture
def functions(spark: SparkSession) -> MethodHandles:
    return MethodHandles(spark.sparkContext._gateway)


@pytest.fixture
def arrays(spark: SparkSession, functions: MethodHandles) -> JvmArrays:
    return JvmArrays(spark.sparkContext._gateway, functions)


def texts_of(arrays: JvmArrays, *values: str) -> JavaObject:
    return arrays.texts(pa.array(values, pa.string()))


def test_a_function_is_applied_to_the_elements_of_arrays(functions: MethodHandles, arrays: JvmArrays) -> None:
    joined = functions.method("java.lang.String", "concat", "(Ljava/lang/String;)Ljava/lang/String;")
    texts, numbers = (
        texts_of(arrays, "a", "ü", "\U0001f600"),
        arrays.longs(little_endian("long", [1, -(1 << 63), 255])),
    )
    in_hex = functions.fixed(functions.static(*TO_TEXT), 1, 16)

    made = arrays.map(functions.each(functions.with_last(joined, in_hex)), 3, texts, numbers)

    assert list(made) == ["a1", "ü-8000000000000000", "\U0001f600ff"]
    assert list(arrays.choose(made, [2, 0, 2])) == ["\U0001f600ff", "a1", "\U0001f600ff"]
    assert made.getClass().getSimpleName() == "String[]"


def test_a_function_of_an_array_takes_elements_of_arrays(functions: MethodHandles, arrays: JvmArrays) -> None:
    words = functions.named("java.lang.String")
    all_of = functions.static("java.util.List", "of", "([Ljava/lang/Object;)Ljava/util/List;").asFixedArity()
    spread = functions.each(functions.spread(all_of, words, words))

    made = arrays.map(spread, 2, texts_of(arrays, "a", "b"), texts_of(arrays, "c", "d"))

    assert [list(pair) for pair in made] == [["a", "c"], ["b", "d"]]


def test_flags_are_those_of_the_elements(functions: MethodHandles, arrays: JvmArrays) -> None:
    is_empty = functions.method("java.lang.String", "isBlank", "()Z")

    assert arrays.flags(is_empty, texts_of(arrays, "a", " ", "b", "\t")) == b"\0\1\0\1"


def test_nothing_makes_empty_arrays(functions: MethodHandles, arrays: JvmArrays) -> None:
    nothing, trimmed = texts_of(arrays), functions.method("java.lang.String", "trim", "()Ljava/lang/String;")

    assert len(nothing) == 0
    assert len(arrays.map(functions.each(trimmed), 0, nothing)) == 0
    assert len(arrays.choose(texts_of(arrays, "a"), [])) == 0
    assert arrays.flags(functions.method("java.lang.String", "isBlank", "()Z"), nothing) == b""
    assert len(arrays.longs(b"")) == 0
    assert len(arrays.of(functions.named("java.lang.String"))) == 0
