"""Conditions that are asked before a deletion vector is: they lose no row, and fail for none."""

import re
from collections.abc import Iterator
from datetime import date
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Table
from headgate.protocol.predicates import from_sql
from headgate.spark.predicates import row_filter
from headgate.spark.scan import binders
from headgate.spark.session import schema as spark_schema
from tests.support import conditions
from tests.support.conditions import SCHEMA

pytestmark = pytest.mark.spark

_VECTOR = re.compile(r"if \(isnull\(_tmp_metadata_row_index.*__headgate_place|getbit\(.*__headgate_deleted")


@pytest.fixture(params=["classic", "portable"])
def binder(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    spark.conf.set(binders.SETTING, request.param)
    yield
    spark.conf.unset(binders.SETTING)


def _column(path: tuple[str, ...]) -> Column:
    top, *inner = path
    return reduce(Column.getField, inner, F.col(top))


def test_what_is_asked_first_is_true_of_every_row_that_spark_selects(spark: SparkSession) -> None:
    random = Random(20261117)
    names = [field.name for field in SCHEMA.fields]
    rows = [{name: conditions.value(random, name) for name in names} for _ in range(150)]
    stored: list[tuple[Any, ...]] = [
        tuple((row["st"],) if name == "st" else row[name] for name in names) for row in rows
    ]
    asked = [conditions.condition(random, depth=1) for _ in range(300)]
    known = [from_sql.parse(each.sql, SCHEMA, time_zone="UTC") for each in asked]
    first = [row_filter.row_condition(each, _column) for each in known]
    frame = spark.createDataFrame(stored, spark_schema.to_spark(SCHEMA)).coalesce(1)

    some = [number for number, each in enumerate(first) if each is not None]
    answers = frame.select(*(each.alias(f"c{n}") for n, each in enumerate(first) if each is not None))

    left_out = 0
    for row, found in zip(rows, answers.collect(), strict=True):
        for number, answer in zip(some, found, strict=True):
            if asked[number].truth(row):
                assert answer, (asked[number].sql, row)
            left_out += not answer
    assert len(some) > len(asked) // 2
    assert left_out > len(rows) * len(some) // 3  # it is worth asking


@pytest.mark.parametrize(
    ("data_type", "value", "sql"),
    [
        ("TINYINT", "5", "c < 1000"),
        ("TINYINT", "5", "c IN (5, 1000)"),
        ("BIGINT", "9223372036854775807", "c > 2147483647"),
        ("DECIMAL(38, 10)", "0.0000000001", "c = 0.0000000001"),
        ("DECIMAL(4, 1)", "-0.5", "c > -1.25"),
        ("DATE", "0001-01-01", "c < DATE'1000-01-01'"),
        ("TIMESTAMP", "1500-01-01 00:00:00.000001", "c = TIMESTAMP'1500-01-01 00:00:00.000001'"),
        ("TIMESTAMP_NTZ", "0900-01-01 10:00:00", "c < TIMESTAMP_NTZ'0900-01-01 10:00:00.000001'"),
        ("STRING", r"it\'s", "c LIKE 'it%' AND c NOT LIKE 'x%' AND c = 'it\\'s'"),
        ("BOOLEAN", "true", "c"),
    ],
)
def test_values_at_the_ends_of_types_are_found(
    spark: SparkSession, tmp_path: Path, data_type: str, value: str, sql: str
) -> None:
    columns = f"id INT, c {data_type}"
    table = _with_vectors(tmp_path / "t", columns)
    table.append(
        spark.sql(f"SELECT CAST(id AS INT) AS id, CAST('{value}' AS {data_type}) AS c FROM range(4)")
    )
    table.delete("id = 1")

    assert sorted(row.id for row in table.read(where=sql).collect()) == [0, 2, 3]
    assert _asks_first(table.read(where=sql), "c")


def test_two_quotes_in_a_string_say_what_they_say_in_this_version_of_spark(
    spark: SparkSession, tmp_path: Path
) -> None:
    """One quote, and on 4.0 none: no file of either value may be left out."""
    table = _with_vectors(tmp_path / "t", "id INT, c STRING")
    for number, text in enumerate(("it's", "its", "it''s")):
        table.append(spark.createDataFrame([(number, text)] * 2, "id INT, c STRING"))
    said = spark.sql("SELECT 'it''s'").first()

    found = table.read(where="c = 'it''s'").collect()

    assert said is not None
    assert [row.c for row in found] == [said[0]] * 2


@pytest.mark.usefixtures("binder")
def test_a_condition_that_could_fail_for_a_deleted_row_is_not_asked_of_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    table, wanted = _with_a_bad_code(spark, tmp_path / "t"), "CAST(code AS INT) > 1 AND id < 6"
    with pytest.raises(PySparkException):  # the row is there, and Spark cannot compare it
        table.read(where=wanted).collect()
    table.delete("id = 3")

    found = table.read(where=wanted)

    assert sorted(row.id for row in found.collect()) == [2, 4, 5]
    assert _asks_first(found, "id")


def test_on_a_classic_session_no_later_condition_is_asked_of_a_deleted_row_either(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = _with_a_bad_code(spark, tmp_path / "t")
    table.delete("id = 3")

    found = table.read().where("CAST(code AS INT) > 1 AND id < 6")

    assert sorted(row.id for row in found.collect()) == [2, 4, 5]


@pytest.mark.usefixtures("binder")
def test_rows_that_were_deleted_fail_no_statement_either(spark: SparkSession, tmp_path: Path) -> None:
    table = _with_a_bad_code(spark, tmp_path / "t")
    table.delete("id = 3")

    table.delete("CAST(code AS INT) = 1 AND id < 6")
    table.update(set={"code": "'20'"}, where="CAST(code AS INT) = 2")
    table.overwrite(
        spark.createDataFrame([(40, "4")], "id BIGINT, code STRING"), replace_where="CAST(code AS INT) = 4"
    )
    news = spark.createDataFrame([(5, 50), (9, 90)], "id BIGINT, code INT")
    merged = table.merge(news, "t.id = s.id AND CAST(t.code AS INT) < 50")
    merged.when_matched_update(set={"code": "CAST(s.code AS STRING)"}).when_not_matched_insert_all().execute()

    found = {row.id: row.code for row in table.read().collect()}
    assert found == {0: "0", 2: "20", 40: "4", 5: "50", 6: "6", 7: "7", 8: "8", 9: "90"}


MAPPED = {"delta.columnMapping.mode": "name"}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "mapped": {"properties": MAPPED},
    "partitioned": {"partition_by": ["day"]},
    "mapped and partitioned": {"partition_by": ["day"], "properties": MAPPED},
}
WANTED = (
    "id > 40",
    "id <= 40 OR inside.n = 7",
    "inside.n IN (1, 2, 3) AND day = DATE'2026-01-02'",
    "name LIKE 'n1%' OR name IS NULL",
    "day < DATE'2026-01-02' AND id % 2 = 0",
    "amount BETWEEN 1.5 AND 30",
    "id > 10 AND (name = 'n20' OR length(name) = 3)",
    "id > 1000",
    "false",
)


@pytest.mark.usefixtures("binder")
@pytest.mark.parametrize("shape", SHAPES)
def test_read_with_a_condition_gives_what_a_later_filter_gives(
    spark: SparkSession, tmp_path: Path, shape: str
) -> None:
    columns = "id BIGINT, day DATE, amount DECIMAL(10, 2), name STRING, inside STRUCT<n: INT>"
    table = _with_vectors(tmp_path / "t", columns, **SHAPES[shape])
    table.append(
        spark.sql("""
            SELECT id, date_add(DATE'2026-01-01', CAST(id % 3 AS INT)) AS day,
                   CAST(id / 2 AS DECIMAL(10, 2)) AS amount, IF(id % 11 = 0, NULL, 'n' || id) AS name,
                   named_struct('n', CAST(id % 10 AS INT)) AS inside
            FROM range(0, 90, 1, 3)
        """)
    )
    table.delete("id % 4 = 1")
    truths = (F.expr(wanted).alias(f"c{n}") for n, wanted in enumerate(WANTED))
    live = table.read().select("id", "day", *truths).collect()
    assert len(live) == 67
    assert {row.day for row in live} == {date(2026, 1, day) for day in (1, 2, 3)}

    for number, wanted in enumerate(WANTED):
        found = sorted(row.id for row in table.read(where=wanted).select("id").collect())
        assert found == sorted(row.id for row in live if row[f"c{number}"]), wanted


def test_what_is_asked_first_is_so_after_a_column_became_wider(spark: SparkSession, tmp_path: Path) -> None:
    table = _with_vectors(tmp_path / "t", "id INT", properties={"delta.enableTypeWidening": "true"})
    table.append(spark.sql("SELECT CAST(id AS INT) AS id FROM range(10)"))
    table.delete("id = 3")
    table.widen_column("id", "BIGINT")
    table.append(spark.sql("SELECT id + 3000000000 AS id FROM range(2)"))

    assert sorted(row.id for row in table.read(where="id > 7").collect()) == [8, 9, 3000000000, 3000000001]
    assert sorted(row.id for row in table.read(where="id > 3000000000").collect()) == [3000000001]


def _with_vectors(location: Path, columns: str, **rest: Any) -> Table:
    properties = {"delta.enableDeletionVectors": "true", **rest.pop("properties", {})}
    return headgate.at_path(location, columns=columns, properties=properties, **rest)


def _with_a_bad_code(spark: SparkSession, location: Path) -> Table:
    """Ids 0 to 8 with a code each, which is not a number for id 3."""
    table = _with_vectors(location, "id BIGINT, code STRING")
    table.append(spark.sql("SELECT id, IF(id = 3, 'bad', CAST(id AS STRING)) AS code FROM range(0, 9, 1, 1)"))
    return table


def _asks_first(df: DataFrame, column: str) -> bool:
    """Whether Spark asks something of the column before it asks whether a row is deleted."""
    plan: str = df._jdf.queryExecution().executedPlan().toString()
    # Below each other, so that the first to be asked comes last.
    filters = [line for line in plan.splitlines() if "Filter " in line]
    vector = next(line for line in filters if _VECTOR.search(line))
    before = [_VECTOR.split(vector)[0], *filters[filters.index(vector) + 1 :]]
    return any(f"{column}#" in line for line in before)
