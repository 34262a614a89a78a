"""The semantics that skipping is tested against are Spark's own, and Columns become predicates."""

import json
import math
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Opaque, Predicate
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.spark.predicates import from_column
from headgate.spark.session import schema as spark_schema
from tests.support import conditions
from tests.support.conditions import SCHEMA

pytestmark = pytest.mark.spark


def test_the_evaluator_of_the_tests_agrees_with_spark(spark: SparkSession) -> None:
    random = Random(20240229)
    names = [field.name for field in SCHEMA.fields]
    rows = [{name: conditions.value(random, name) for name in names} for _ in range(120)]
    asked = [conditions.condition(random, depth=1) for _ in range(200)]
    for row in rows:
        row["wide"] = None if row["st"] is None and random.random() < 0.5 else (row["st"],)
    stored: list[tuple[Any, ...]] = [
        tuple(row["wide"] if name == "st" else row[name] for name in names) for row in rows
    ]
    frame = spark.createDataFrame(stored, spark_schema.to_spark(SCHEMA))

    found = frame.coalesce(1).select(
        *(F.expr(condition.sql).alias(f"c{i}") for i, condition in enumerate(asked))
    )

    for row, answers in zip(rows, found.collect(), strict=True):
        for condition, answer in zip(asked, answers, strict=True):
            assert condition.truth(row) == answer, (condition.sql, row)


@pytest.mark.parametrize(
    ("data_type", "value", "sql"),
    [
        ("decimal(10,4)", "1.0049", "c = CAST(1 AS DECIMAL(38, 2))"),
        ("decimal(10,4)", "1.0049", "c IN (99999999999999999999999999999999999999, 1.0)"),
        ("decimal(38,30)", "1.000000000000000000000000000001", "c IN (1, 2)"),
        ("decimal(38,30)", "1.000000000000000000000000000001", "c = CAST(1 AS BIGINT)"),
        ("int", "0", "c IN (99999999999999999999999999999999999999, 0.10)"),
        ("bigint", "NULL", "c < 9223372036854775808"),
        ("bigint", "NULL", "c <= 9223372036854775807.5"),
        ("bigint", "NULL", "NOT -9223372036854775809 >= c"),
        ("int", "0", "c = 0 -- as in C:\\temp\\\n AND c = 1"),
    ],
)
def test_a_row_that_spark_selects_by_its_own_rules_is_not_left_out(
    spark: SparkSession, data_type: str, value: str, sql: str
) -> None:
    """Where digits are cut off a column, the column is not looked at, or a comment goes on."""
    frame = spark.sql(f"SELECT CAST({value} AS {data_type}) AS c")
    nulls = int(value == "NULL")
    bounds = {} if nulls else {"minValues": {"c": float(value)}, "maxValues": {"c": float(value)}}
    text = json.dumps({"numRecords": 1, "nullCount": {"c": nulls}, **bounds})
    names = {"int": "integer", "bigint": "long"}
    known = Struct((Field("c", Primitive(names.get(data_type, data_type))),))
    files = pa.table({"partition_values": pa.nulls(1, pa.map_(pa.string(), pa.string())), "stats": [text]})

    kept = data_skipping.keep_mask(FileBounds(files), from_column.to_predicate(sql, known, spark))

    assert frame.where(sql).count() == 1
    assert kept.to_pylist() == [True]


def test_an_offset_that_spark_does_not_know_makes_no_moment(spark: SparkSession) -> None:
    sql = "ts <> '2024-02-29 12:00:00+18:30'"
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        found = spark.sql("SELECT TIMESTAMP'2020-01-01 00:00:00' AS ts").where(sql).count()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")

    assert found == 0
    assert isinstance(from_column.to_predicate(sql, SCHEMA, spark), Opaque)


def columns() -> list[tuple[Column, str]]:
    c = F.col
    return [
        (c("i") > 1, "i > 1"),
        (F.lit(1) > c("i"), "1 > i"),
        (~(c("i") == -5), "NOT i = -5"),
        (c("i") != 2**40, f"i <> {2**40}"),
        (c("i") >= 2.5, "i >= 2.5D"),
        (c("i") == -(2**63), f"i = {-(2**63)}"),
        (c("d") < 1e300, "d < 1e300"),
        (c("n") == Decimal("-1.50"), "n = -1.50"),
        (c("s") == 'it\'s a \\ `quoted` "text"', "s = 'it\\'s a \\\\ `quoted` \"text\"'"),
        (c("s") == "' OR 1 = 1 --", "s = '\\' OR 1 = 1 --'"),
        (c("day") >= date(2024, 2, 29), "day >= DATE'2024-02-29'"),
        (c("wall") < F.lit(date(2024, 2, 29)), "wall < DATE'2024-02-29'"),
        (c("i").isin(3, 1, 2), "i IN (1, 2, 3)"),
        (~c("s").isin("a", "b"), "s NOT IN ('a', 'b')"),
        (c("i").between(1, 5), "i BETWEEN 1 AND 5"),
        (c("s").isNull(), "s IS NULL"),
        (c("s").isNotNull(), "s IS NOT NULL"),
        (c("s").eqNullSafe(None), "s IS NULL"),
        (c("s").startswith("ab"), "startswith(s, 'ab')"),
        (c("s").like("ab%"), "s LIKE 'ab%'"),
        (c("b"), "b"),
        (~c("b"), "NOT b"),
        (F.lit(True), "true"),
        (c("st.`X.y`") == 1, "st.`x.Y` = 1"),
        (c("st")["X.y"] == 1, "st.`x.Y` = 1"),
        (c("st").getField("X.y") == 1, "st.`x.Y` = 1"),
        (c("i").cast("bigint") == 1, "i = 1"),
        (c("ts").cast("date") == date(2024, 2, 29), "CAST(ts AS DATE) = DATE'2024-02-29'"),
        (F.to_date("ts") > date(2024, 2, 29), "CAST(ts AS DATE) > DATE'2024-02-29'"),
        (c("i").alias("x") == 1, "i = 1"),
        (F.expr("i = 1 OR s LIKE 'a%' -- note"), "i = 1 OR s LIKE 'a%'"),
        ((c("i") > 1) & ((c("s") == "x") | c("b")), "i > 1 AND (s = 'x' OR b)"),
        ((c("i") > 1) & (F.length("s") > 2), "i > 1 AND headgate_unknown() > 2"),
    ]


def test_columns_are_the_predicates_of_their_sql(spark: SparkSession) -> None:
    for condition, sql in columns():
        found = from_column.to_predicate(condition, SCHEMA, spark)

        expected = from_sql.parse(sql, SCHEMA)
        assert _without_texts(found) == _without_texts(expected), sql


def test_a_column_of_a_frame_is_known_by_its_name(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], spark_schema.to_spark(SCHEMA))

    assert from_column.to_predicate(frame["i"] == 1, SCHEMA, spark) == from_sql.parse("i = 1", SCHEMA)


def test_a_moment_is_the_same_in_every_session_zone(spark: SparkSession) -> None:
    moment = datetime.fromisoformat("2024-02-29T12:00:00.000001+02:00")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = from_column.to_predicate(F.col("ts") == moment, SCHEMA, spark)
        local = from_column.to_predicate("ts = '2024-02-29 05:00:00.000001'", SCHEMA, spark)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    assert found == local == from_sql.parse("ts = '2024-02-29 10:00:00.000001'", SCHEMA)


@pytest.mark.parametrize(
    "make",
    [
        lambda: F.rand() > 0.5,
        lambda: F.udf(lambda x: x, "int")("i") == 1,
        lambda: F.when(F.col("i") > 1, F.lit(True)),
        lambda: F.col("i") == F.lit(bytearray(b"a")),
        lambda: F.col("i").try_cast("int") == 1,
        lambda: F.col("d") == F.lit(math.nan),
        lambda: F.col("i") % 2 == 0,
        lambda: F.current_date() == F.col("day"),
    ],
)
def test_other_columns_are_unknown(spark: SparkSession, make: Any) -> None:
    assert isinstance(from_column.to_predicate(make(), SCHEMA, spark), Opaque)


def test_a_missing_column_is_named(spark: SparkSession) -> None:
    with pytest.raises(InvalidRequest, match="did you mean 'day'"):
        from_column.to_predicate(F.col("dya") == 1, SCHEMA, spark)


def _without_texts(predicate: Predicate) -> Any:
    match predicate:
        case Opaque():
            return "unknown"
        case _ if hasattr(predicate, "parts"):
            return type(predicate), [_without_texts(part) for part in predicate.parts]
        case _:
            return predicate
