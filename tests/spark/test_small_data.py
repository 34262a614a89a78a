"""Rows without Spark are those of Spark: of tables of every feature, and written beside Spark's own."""

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import headgate
from headgate.arrow import arrow_types, expressions
from headgate.arrow.expressions import RowContext
from headgate.arrow.write.partition_split import java_text
from headgate.protocol.schema.types import Primitive
from tests.support import conditions, rows, scanned_tables

pytestmark = pytest.mark.spark

COLUMNS = (
    "id BIGINT, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, f FLOAT, d DOUBLE, s STRING, bin BINARY, "
    "day DATE, ts TIMESTAMP, w TIMESTAMP_NTZ, n DECIMAL(10,2), big DECIMAL(38,6), "
    "st STRUCT<x: BIGINT, inner: STRUCT<y: STRING>>, l ARRAY<STRUCT<z: INT>>, m MAP<STRING, ARRAY<INT>>"
)
MOMENTS = [
    datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC),
]


def some_rows(random: Random, count: int) -> list[dict[str, Any]]:
    def maybe(value: Any) -> Any:
        return None if random.random() < 0.15 else value

    def row(number: int) -> dict[str, Any]:
        moment = random.choice(MOMENTS)
        return {
            "id": number, "b": maybe(random.random() < 0.5), "i8": maybe(random.randint(-128, 127)),
            "i16": maybe(random.randint(-99, 99)), "i32": maybe(random.randint(-(2**31), 2**31 - 1)),
            "f": maybe(random.choice([0.5, -0.0, 1.5])),
            "d": maybe(random.choice([0.1, 1e300, -2.5])),
            "s": maybe(random.choice(["", "é", "x" * 40, "😀" * 33, "it's"])), "bin": maybe(b"\x00\xff"),
            "day": maybe(date(2024, 2, random.randint(1, 29))), "ts": maybe(moment),
            "w": maybe(moment.replace(tzinfo=None)), "n": maybe(Decimal(random.randint(-99, 99)) / 4),
            "big": maybe(Decimal("12345678901234567890.123456")),
            "st": maybe({"x": maybe(random.randint(0, 9)), "inner": maybe({"y": maybe("q")})}),
            "l": maybe([maybe({"z": maybe(n)}) for n in range(random.randint(0, 3))]),
            "m": maybe([(str(n), maybe([n, None])) for n in range(random.randint(0, 2))]),
        }  # fmt: skip

    return [row(number) for number in range(count)]


@pytest.mark.parametrize("name", scanned_tables.TABLES)
@pytest.mark.parametrize("where", [None, "id >= 5 AND id < 15", "id IN (3, 12)", "id <> 3 OR id IS NULL"])
def test_handmade_tables_have_the_rows_that_spark_reads(
    spark: SparkSession, tmp_path: Path, name: str, where: str | None
) -> None:
    table = scanned_tables.TABLES[name][0](tmp_path / "t")

    assert rows.of_arrow(table.to_arrow(where=where)) == rows.of_frame(table.read(where=where, spark=spark))


def test_a_table_that_has_seen_everything(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(
        tmp_path / "t", columns="id BIGINT, old INT, s STRING, st STRUCT<a: INT, b: STRING>, p DATE",
        partition_by=["p"], properties={
            "delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true",
            "delta.enableTypeWidening": "true", "delta.enableRowTracking": "true",
        },
    )  # fmt: skip
    data = spark.range(100).selectExpr(
        "id", "CAST(id AS INT) AS old", "concat('s', id) AS s",
        "named_struct('a', CAST(id AS INT), 'b', 'x') AS st",
        "date_add(DATE'2024-01-01', CAST(id % 3 AS INT)) AS p",
    )  # fmt: skip
    table.append(data)
    table.delete("id % 10 = 3", spark=spark)
    table.rename_column("s", "text")
    table.widen_column("old", "BIGINT")
    table.add_columns("late STRING")
    table.drop_columns("st.b")
    table.append(
        [{"id": 1000, "old": 2**40, "text": "new", "late": "x", "p": date(2024, 1, 1), "st": {"a": 1}}]
    )
    table.update({"late": "'set'"}, "id = 50", spark=spark)

    for where in (None, "p = '2024-01-02'", "old > 95", "text LIKE 's1%'", "late IS NOT NULL", "st.a = 7"):
        found = rows.of_arrow(table.to_arrow(where=where))
        assert found == rows.of_frame(table.read(where=where, spark=spark)), where
    assert table.to_arrow(version=1).num_rows == 100
    assert table.to_arrow().num_rows == 91


@pytest.mark.parametrize("mode", ["none", "name", "id"])
@pytest.mark.parametrize("by", [(), ("day", "s"), ("ts", "n", "d")])
def test_both_writers_say_the_same_of_the_same_rows(
    spark: SparkSession, tmp_path: Path, mode: str, by: tuple[str, ...]
) -> None:
    properties = {"delta.columnMapping.mode": mode}
    tables = [
        headgate.at_path(tmp_path / name, columns=COLUMNS, partition_by=by, properties=properties)
        for name in ("ours", "theirs")
    ]
    data = some_rows(Random(7), 40)
    plain = [{**row, "m": None if row["m"] is None else dict(row["m"])} for row in data]
    tables[0].append(data)
    tables[1].append(spark.createDataFrame(plain, COLUMNS).coalesce(1))  # type: ignore[arg-type]

    read = [rows.of_frame(table.read(spark=spark)) for table in tables]
    assert read[0] == read[1] == rows.of_arrow(tables[0].to_arrow()) == rows.of_arrow(tables[1].to_arrow())
    assert said(tables[0]) == said(tables[1])


def said(table: headgate.Table) -> Any:
    """What the log says of the files: partition values and statistics, by the names of the table."""
    names = {
        field["metadata"].get("delta.columnMapping.physicalName", field["name"]): field["name"]
        for field in json.loads(table.log.snapshot().state.metadata.schema_string)["fields"]
    }
    found = []
    for row in table.log.snapshot().files.columns.to_pylist():
        stats = json.loads(row["stats"])
        nulls = stats.pop("nullCount")
        bounds = {
            f"{section} {names[name]}": value
            for section, values in stats.items() if isinstance(values, dict)
            for name, value in values.items() if not isinstance(value, dict)
        }  # fmt: skip
        counts = {
            names[name]: n for name, n in nulls.items() if isinstance(n, int) and names[name] not in "lm"
        }
        values = {names[name]: value for name, value in row["partition_values"]}
        found.append((stats["numRecords"], str(sorted(values.items(), key=str)), bounds, counts))
    return sorted(found, key=str)


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("year(day)", "integer"), ("month(day)", "integer"), ("day(day)", "integer"),
        ("quarter(day)", "integer"), ("year(wall)", "integer"), ("CAST(wall AS DATE)", "date"),
        ("CAST(ts AS DATE)", "date"), ("year(ts)", "integer"), ("to_date(ts)", "date"),
        ("s || '!'", "string"),
        ("concat(s, s)", "string"), ("substring(s, 2, 3)", "string"), ("i", "long"),
        ("st.`X.y` + 1", "integer"), ("st.`X.y` * 2 - 1", "long"), ("f", "double"), ("'x'", "string"),
        ("1.5", "decimal(5,2)"), ("5", "double"), ("-3", "short"), ("NULL", "date"), ("true", "boolean"),
        ("DATE'2024-02-29'", "date"), ("TIMESTAMP'2024-02-29 12:00:00'", "timestamp"),
        ("'2024-02-29'", "date"), ("'2024-02-29 12:00:00'", "timestamp"), ("CAST(7 AS STRING)", "string"),
        ("1e3", "double"), ("5L", "integer"),
    ],
)  # fmt: skip
def test_expressions_say_what_spark_says(spark: SparkSession, expression: str, kind: str) -> None:
    random = Random(3)
    schema = conditions.SCHEMA
    values = [
        {field.name: conditions.value(random, field.name) for field in schema.fields} for _ in range(50)
    ]
    for row in values:
        row["st"] = None if row["st"] is None else {"X.y": row["st"]}
    arrow = pa.table(
        {
            field.name: pa.array([row[field.name] for row in values], arrow_types.arrow_type(field.type, ""))
            for field in schema.fields
        }
    )
    compiled = expressions.compile_expression(expression, schema, Primitive(kind), "UTC")
    if compiled is None:
        assert expression == "1e3"
        return
    context = RowContext(dict(zip(arrow.column_names, arrow.columns, strict=True)), 50, 0)
    name = {"integer": "int", "long": "bigint", "short": "smallint"}.get(kind, kind)

    found = compiled.evaluate(context)
    frame = spark.createDataFrame(arrow).select(F.expr(expression).cast(name).alias("v"))

    assert found.type == arrow_types.arrow_type(Primitive(kind), "")
    assert [repr(value) for value in found.to_pylist()] == [
        repr(value) for value in frame.toArrow()["v"].cast(found.type).to_pylist()
    ]


def test_numbers_are_written_as_java_writes_them(spark: SparkSession) -> None:
    random = Random(5)
    short = [0.0, -0.0, 1.0, 1e7, 9999999.0, 1e-3, 9.99e-4, 1e10, 123456.789, -1e300]
    short += [math.inf, -math.inf, math.nan]
    long = [random.uniform(-1, 1) * 10 ** random.randint(-20, 20) for _ in range(200)]
    frame = spark.createDataFrame([(number,) for number in (*short, *long)], "v double")

    texts = [row[0] for row in frame.select(F.col("v").cast("string")).collect()]

    assert [java_text(number) for number in short] == texts[: len(short)]
    for number, text in zip(long, texts[len(short) :], strict=True):  # older Javas write a digit too many
        assert float(java_text(number)) == float(text) == number
        assert ("E" in java_text(number)) is ("E" in text)


def test_rules_refuse_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT NOT NULL, s STRING, d DOUBLE")
    table.add_constraint("high", "id > 0 AND (d > 1.5 OR s LIKE 'a%')", spark=spark)
    for row in (
        {"id": 1, "s": "abc", "d": None}, {"id": 0, "s": "abc", "d": 2.0}, {"id": 1, "s": None, "d": 1.0},
        {"id": 1, "s": "b", "d": math.nan}, {"id": 1, "s": None, "d": None}, {"id": None, "s": "a", "d": 2.0},
    ):  # fmt: skip
        outcomes = []
        for given in ([row], spark.createDataFrame([row], "id BIGINT, s STRING, d DOUBLE")):
            try:
                table.append(given)
                outcomes.append("taken")
            except headgate.errors.ConstraintViolated as refused:
                outcomes.append(str(refused))
        assert outcomes[0] == outcomes[1], row
