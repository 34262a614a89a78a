"""Numbers in a literal whose content Spark does not go through while it plans."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headgate.spark.jvm import bitmap_literal
from headgate.spark.jvm.arrays import native_endian

pytestmark = pytest.mark.spark

NUMBERS = [5, -1, (1 << 63) - 1, -(1 << 63), *range(1000, 1126)]


@pytest.fixture(params=["CODEGEN_ONLY", "NO_CODEGEN"])
def mode(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    confs = {
        "spark.sql.codegen.factoryMode": request.param,
        "spark.sql.codegen.wholeStage": str(request.param == "CODEGEN_ONLY").lower(),
    }
    for name, value in confs.items():
        spark.conf.set(name, value)
    yield
    for name in confs:
        spark.conf.unset(name)


@pytest.mark.usefixtures("mode")
def test_a_number_is_found_by_its_index_and_beyond_them_it_is_0(spark: SparkSession) -> None:
    word_at = bitmap_literal.word_lookup(spark, native_endian("long", NUMBERS))
    indexes = spark.range(0, 2 * len(NUMBERS), 1, 3).union(spark.range(1 << 30, (1 << 30) + 3))
    index = F.col("id").cast("int")

    found = indexes.select("id", word_at(index, index < len(NUMBERS)).alias("word")).collect()

    assert len(found) == 2 * len(NUMBERS) + 3
    assert {row.id: row.word for row in found} == {
        row.id: NUMBERS[row.id] if row.id < len(NUMBERS) else 0 for row in found
    }


def test_no_numbers_are_no_literal_of_their_own(spark: SparkSession) -> None:
    word_at = bitmap_literal.word_lookup(spark, b"")

    assert spark.range(2).select(word_at(F.lit(0), F.lit(False)).alias("word")).collect() == [(0,), (0,)]


def test_plans_do_not_have_the_array_itself_whose_hash_is_that_of_all_numbers(spark: SparkSession) -> None:
    word_at = bitmap_literal.word_lookup(spark, native_endian("long", NUMBERS))
    index = F.col("id").cast("int")

    planned = spark.range(9).where(word_at(index, index < 9) > 4)._jdf.queryExecution()

    for plan in (planned.optimizedPlan(), planned.executedPlan()):
        assert "UnsafeMapData@" in plan.toString()
        assert "UnsafeArrayData@" not in plan.toString()
