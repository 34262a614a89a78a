"""Rows left out before a MERGE joins them: never one that matches, and most of those that do not."""

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Lake, Table
from headgate.spark.dml.merge import key_prefilter
from headgate.spark.dml.merge.merge_source import MergeSource
from tests.support.changed_tables import VECTORS, made

pytestmark = pytest.mark.spark

ROWS = 2_000
COLUMNS = (
    "n INT, id BIGINT, tiny TINYINT, name STRING, day DATE, at TIMESTAMP, raw BINARY, price DECIMAL(12,2), "
    "ratio DOUBLE, inner STRUCT<id: BIGINT>, v STRING"
)
TARGET = """
    cast(id as int) n, if(id % 50 = 7, null, (id - 1000) * 4194304) id, cast(id % 100 - 50 as tinyint) tiny,
    if(id % 50 = 7, null, concat('ключ ', id)) name, date_add(date'1999-12-01', cast(id as int)) day,
    timestamp_seconds(id * 60) at, cast(cast(id as string) as binary) raw, cast(id as decimal(12,2)) price,
    cast(id as double) ratio, named_struct('id', id) inner, 'old' v
"""
CHOSEN = "n % 100 = 3 or n % 100 = 7"
"""The rows of the target that the source has; those of 7 have no id and no name."""

Seen = list[tuple[int, int]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """How many rows of the target there were, and how many went on to the join; for tables of any size."""
    found: Seen = []
    leave_out = key_prefilter.prefilter_by_key_bitmap

    def watched(rows: DataFrame, most: int | None, source: MergeSource) -> DataFrame:
        left = leave_out(rows, most, source)
        found.append((rows.count(), left.count()))
        return left

    monkeypatch.setattr(key_prefilter, "_FEW_ROWS", 0)
    monkeypatch.setattr(key_prefilter, "prefilter_by_key_bitmap", watched)
    return found


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    place = tmp_path_factory.mktemp("marked") / "t"
    table = headgate.at_path(place, columns=COLUMNS, properties=VECTORS)
    table.append(spark.sql(f"SELECT {TARGET} FROM range(0, {ROWS}, 1, 2)"))
    return table


def merged(table: Table, source: DataFrame, condition: str) -> int:
    """How many rows match; the table is then what it was."""
    version = table.version()
    result = table.merge(source, condition).when_matched_update(set={"v": "'new'"}).execute()
    table.restore(version=version)
    return result.metrics["numTargetRowsUpdated"]


@pytest.mark.parametrize(
    ("condition", "source", "matches"),
    [
        ("t.id = s.id", "*", 20),
        ("t.n = s.long", "*, cast(n as bigint) long", 40),
        ("t.tiny = s.n", "distinct n % 100 - 50 n", 40),
        ("t.name = s.name", "*", 20),
        ("t.day = s.day and t.name = s.name and t.price = s.price", "*", 20),
    ],
)
def test_rows_that_match_are_never_left_out(
    table: Table, seen: Seen, condition: str, source: str, matches: int
) -> None:
    rows = table.read().where(CHOSEN)
    if source.startswith("distinct "):
        rows = rows.selectExpr(source.removeprefix("distinct ")).distinct()
    else:
        rows = rows.selectExpr(*source.split(", "))

    assert merged(table, rows, condition) == matches
    ((all_rows, left),) = seen
    assert all_rows == ROWS
    assert matches <= left <= matches + ROWS // 10


@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("t.price = s.price", 40),
        ("t.inner.id = s.inner.id", 40),
        ("t.name <=> s.name and t.n = t.n", None),
    ],
)
def test_where_bytes_do_not_tell_every_row_is_joined(
    table: Table, seen: Seen, condition: str, matches: int | None
) -> None:
    rows = table.read().where("n % 100 = 3" if matches is None else CHOSEN)

    assert merged(table, rows, condition) == (20 if matches is None else matches)
    ((all_rows, left),) = seen
    assert left == all_rows


def test_rows_without_a_match_are_still_told_to_their_clause(
    spark: SparkSession, lake: Lake, seen: Seen
) -> None:
    table = made(lake, "s.t", "id BIGINT, v STRING")
    table.append(spark.range(0, 100, 1, 2).selectExpr("id", "'old' v"))
    source = spark.range(95, 105).selectExpr("id", "'new' v")

    merge = table.merge(source, "t.id = s.id").when_matched_update_all().when_not_matched_insert_all()
    merge.when_not_matched_by_source_delete("t.id < 50").execute()

    assert not seen
    assert {(row.id, row.v) for row in table.read().collect()} == {
        (number, "old" if number < 95 else "new") for number in range(50, 105)
    }


def test_strings_that_spark_pads_match(spark: SparkSession, lake: Lake, seen: Seen) -> None:
    table, other = (
        made(lake, f"s.{name}", f"c CHAR({size}), v STRING") for name, size in (("t", 5), ("o", 3))
    )
    for key in ("abc", "xyz"):
        table.append(spark.sql(f"SELECT '{key}' c, 'old' v"))
    other.append(spark.sql("SELECT 'abc' c, 'new' v"))

    merge = table.merge(other.read(), "t.c = s.c").when_matched_update_all()
    merge.when_not_matched_insert_all().execute()

    assert {tuple(row) for row in table.read().collect()} == {("abc  ", "new"), ("xyz  ", "old")}
    assert all(before == after for before, after in seen)


def test_a_small_table_is_not_asked_for_keys(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_prefilter, "_pairs", lambda *_: pytest.fail("the keys were asked for"))

    assert merged(table, table.read().where(CHOSEN), "t.n = s.n") == 40
