"""Spark leaves out no file with a matching row, and hardly one less than is left out in process."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType

from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.spark.parquet.file_layouts import ScanColumns
from headgate.spark.predicates.file_filter import FileFilter
from tests.support import conditions
from tests.support.conditions import SCHEMA
from tests.unit.protocol.stats.test_data_skipping import (
    TYPES,
    _partition_text,
    file_stats,
    ours,
    rust,
    schema,
    stat,
    table,
)
from tests.unit.protocol.stats.test_data_skipping import spark as by_spark

pytestmark = pytest.mark.spark


def columns(known: Struct, *partitioned_by: str) -> ScanColumns:
    return ScanColumns(known, frozenset(partitioned_by), column_mapping.ColumnMappingMode.NONE)


def kept(
    frame: DataFrame, known: ScanColumns, asked: list[Predicate], stored: DataType | None = None
) -> list[list[bool]]:
    """For each file and each predicate whether Spark keeps it."""
    filters = [FileFilter(predicate, known) for predicate in asked]
    conditions = [chosen.condition(None if stored is None else chosen.parsed(stored)) for chosen in filters]
    found = frame.coalesce(1).select(*(one.alias(f"c{at}") for at, one in enumerate(conditions)))
    return [list(row) for row in found.collect()]


def keeps(spark: SparkSession, sql: str, known: Struct, *texts: str | None) -> list[bool]:
    found = kept(spark.createDataFrame(table(list(texts))), columns(known), [from_sql.parse(sql, known)])
    return [row[0] for row in found]


def test_no_file_with_a_matching_row_is_left_out(spark: SparkSession) -> None:
    random = Random(1)
    files, texts = [], []
    for _ in range(80):
        spread = random.choice([1, 2, 4])
        pools = {column: [conditions.value(random, column) for _ in range(spread)] for column in TYPES}
        rows = [
            {name: random.choice(pool) for name, pool in pools.items()} for _ in range(random.randint(1, 5))
        ]
        files.append(rows)
        texts.append(file_stats(random, rows, random.choice([ours, by_spark, rust])))
    asked = [conditions.condition(random) for _ in range(20)]
    predicates = [from_sql.parse(condition.sql, SCHEMA) for condition in asked]

    found = kept(spark.createDataFrame(table(texts)), columns(SCHEMA), predicates)

    bounds = FileBounds(table(texts))
    exact = [data_skipping.keep_mask(bounds, predicate).to_pylist() for predicate in predicates]
    for number, (rows, answers) in enumerate(zip(files, found, strict=True)):
        for at, (condition, keep) in enumerate(zip(asked, answers, strict=True)):
            matching = [row for row in rows if condition.truth(row) is True]
            assert keep or not matching, (condition.sql, matching[0], texts[number])
            assert keep or not exact[at][number], (condition.sql, texts[number])
    assert _total(found) <= 1.05 * _total(exact)
    assert _total(found) < 0.8 * len(files) * len(asked)


@pytest.mark.parametrize("column", ["i", "s", "d", "f", "n", "day", "ts", "wall", "b"])
def test_partition_values_are_judged_as_in_process(spark: SparkSession, column: str) -> None:
    random = Random(column)
    values = [value for value in (conditions.value(random, column) for _ in range(40)) if value != ""]
    files = table([None] * len(values), [{column: _partition_text(value)} for value in values])
    asked = [conditions.compare(random, column, random.choice(list(conditions.OPS))) for _ in range(20)]
    predicates = [from_sql.parse(condition.sql, SCHEMA) for condition in asked]

    found = kept(spark.createDataFrame(files), columns(SCHEMA, column), predicates)

    bounds = FileBounds(files, partition_columns=[column])
    exact = [data_skipping.keep_mask(bounds, predicate).to_pylist() for predicate in predicates]
    for number, answers in enumerate(found):
        for at, keep in enumerate(answers):
            assert keep or not exact[at][number], (asked[at].sql, values[number])
    assert _total(found) <= 1.2 * _total(exact)


def _total(answers: list[list[bool]]) -> int:
    return sum(sum(some) for some in answers)


@pytest.mark.parametrize(
    ("sql", "keep"),
    [
        ("i = 15", True), ("i = 20", True), ("i = 21", False), ("i < 10", False), ("i <= 10", True),
        ("i > 20", False), ("i >= 20", True), ("i <> 15", True), ("i IS NULL", False),
        ("i IS NOT NULL", True), ("i IN (1, 2, 21)", False), ("i IN (1, 15)", True),
        (f"i IN ({', '.join(map(str, range(100, 200)))})", False), ("i = 15 AND i = 30", False),
        ("i = 30 OR i = 15", True), ("length(i) > 3", True), ("i = 30 AND length(i) > 3", False),
    ],
)  # fmt: skip
def test_integers_between_ten_and_twenty(spark: SparkSession, sql: str, keep: bool) -> None:
    text = stat(low={"i": 10}, high={"i": 20}, nulls={"i": 0})

    unknown = '{"numRecords":-1,"nullCount":{"i":-1}}'
    assert keeps(spark, sql, schema(i="long"), text, None, "{", "{}", unknown) == [keep, *[True] * 4]


def test_prefixes_are_found_and_excluded(spark: SparkSession) -> None:
    texts = [stat(low={"s": low}, high={"s": high}) for low, high in (("aa", "ab"), ("b", "c"), ("a", "z"))]

    assert keeps(spark, "s LIKE 'a%'", schema(s="string"), *texts) == [True, False, True]
    assert keeps(spark, "s NOT LIKE 'a%'", schema(s="string"), *texts) == [False, True, True]


def test_a_moment_just_before_1970_may_have_been_cut_to_it(spark: SparkSession) -> None:
    text = stat(low={"ts": "1970-01-01T00:00:00.000Z"}, high={"ts": "1970-01-01T00:00:00.000Z"})

    assert keeps(spark, "ts = '1969-12-31 23:59:59.999001'", schema(ts="timestamp"), text) == [True]
    assert keeps(spark, "ts = '1969-12-31 23:59:59.999'", schema(ts="timestamp"), text) == [False]


def test_lists_are_known_by_their_nulls(spark: SparkSession) -> None:
    known = Struct((Field("l", Array(Primitive("long"), contains_null=True)),))
    texts = [stat(nulls={"l": 0}), stat(nulls={"l": 10}), stat(nulls={"l": 3})]

    assert keeps(spark, "l IS NULL", known, *texts) == [False, True, True]
    assert keeps(spark, "l IS NOT NULL", known, *texts) == [True, False, True]


def test_statistics_that_are_columns_are_used_in_every_session_zone(
    spark: SparkSession, tmp_path: Path
) -> None:
    known = schema(i="long", day="date", ts="timestamp", wall="timestamp_ntz", n="decimal(10,2)")
    kinds = pa.struct(
        [("i", pa.int64()), ("day", pa.date32()), ("ts", pa.timestamp("us", "UTC")),
         ("wall", pa.timestamp("us")), ("n", pa.decimal128(10, 2))]
    )  # fmt: skip
    value = {"i": 5, "day": 19_000, "ts": 10**15, "wall": 10**15, "n": 7}
    stored = pa.struct([("numRecords", pa.int64()), ("minValues", kinds), ("maxValues", kinds)])
    rows = pa.array([{"numRecords": 1, "minValues": value, "maxValues": value}], stored)
    place = str(tmp_path / "files.parquet")
    pq.write_table(table([None]).append_column("stats_parsed", rows), place)
    frame = spark.read.parquet(place)
    wrong = ["i > 5", "day < '2022-01-08'", "ts > '2001-09-09 01:46:40.002Z'",
             "wall < TIMESTAMP_NTZ'2001-09-09 01:46:39'", "n > 7.01"]  # fmt: skip
    right = ["i = 5", "day = '2022-01-08'", "ts = '2001-09-09 01:46:40Z'",
             "wall = TIMESTAMP_NTZ'2001-09-09 01:46:40'", "n = 7.00"]  # fmt: skip
    asked = [from_sql.parse(sql, known) for sql in (*wrong, *right)]

    for zone in ("UTC", "America/New_York"):
        spark.conf.set("spark.sql.session.timeZone", zone)
        try:
            (answers,) = kept(frame, columns(known), asked, frame.schema["stats_parsed"].dataType)
        finally:
            spark.conf.set("spark.sql.session.timeZone", "UTC")
        assert answers == [False] * 5 + [True] * 5, zone
