"""UPDATE: what can be set, to what, and what happens to the rows beside."""

from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import CharType, LongType, StructType

from headgate import Lake, Table
from headgate.errors import ConcurrentDeleteDelete, ConstraintViolated, HeadgateError, InvalidRequest
from tests.support.changed_tables import (
    FEED,
    TRACKED,
    VECTORS,
    before_commit,
    changes,
    files,
    made,
    on_disk,
    tuples,
)

pytestmark = pytest.mark.spark


@pytest.fixture(params=[{}, VECTORS], ids=["rewritten", "hidden"])
def table(request: pytest.FixtureRequest, spark: SparkSession, lake: Lake) -> Table:
    """Ids 0 to 9, a struct that is null for 7, and a number that must not be null."""
    made_ = made(
        lake,
        "s.t",
        "id BIGINT, s STRUCT<a: INT, b: STRUCT<c: STRING, d: INT>>, n INT NOT NULL",
        request.param,
    )
    struct = "named_struct('a', cast(id as int), 'b', named_struct('c', 'x', 'd', 1))"
    made_.append(
        spark.range(0, 10, 1, 1).selectExpr("id", f"if(id = 7, null, {struct}) s", "cast(id as int) n")
    )
    return made_


def test_columns_and_fields_are_set_from_the_row_as_it_was(table: Table) -> None:
    result = table.update({"N": F.col("id") + 100, "s.b.c": "concat(s.b.c, n)"}, "id = 3 or id = 7")

    assert result.metrics["numUpdatedRows"] == 2
    rows = {row.id: row for row in table.read().collect()}
    assert (rows[3].n, rows[3].s.a, rows[3].s.b.c, rows[3].s.b.d) == (103, 3, "x3", 1)
    assert (rows[7].s.a, rows[7].s.b.c, rows[7].s.b.d) == (None, None, None)
    assert rows[7].s is not None  # a struct that was null becomes one
    assert (rows[4].n, rows[4].s.b.c) == (4, "x")
    assert len(rows) == 10


@pytest.mark.parametrize(
    ("columns", "values", "first", "other"),
    [
        ("v BIGINT", "v * 2.5D", 2, 9_007_199_254_740_993),
        ("v DECIMAL(38,18)", "CAST(7 AS DECIMAL(38,0))", Decimal(1), Decimal("1.000000000000000001")),
        ("v STRING", "5", "a", "b"),
    ],
)
def test_rows_beside_stay_what_they_were_whatever_the_type_of_the_value(
    spark: SparkSession, lake: Lake, columns: str, values: str, first: object, other: object
) -> None:
    """A file is written again with values of one type and rows of another."""
    table = made(lake, "s.beside", f"id INT, {columns}", FEED)
    rows = spark.createDataFrame([(1, first), (2, other), (3, other)], f"id INT, {columns}")
    table.append(rows.coalesce(1))

    table.update({"v": values}, "id = 1")

    assert tuples(table, where="id > 1") == [(2, other), (3, other)]
    assert [row[2] for row in changes(table, table.version()) if row[0] == "update_preimage"] == [first]


@pytest.mark.parametrize("switches", [{}, VECTORS], ids=["rewritten", "hidden"])
def test_texts_compare_as_their_column_says(
    spark: SparkSession, lake: Lake, switches: dict[str, str]
) -> None:
    """Wherever rows need more than the files have: their places, names, or partitions."""
    columns = "id INT, v STRING COLLATE UTF8_LCASE, s STRUCT<v: STRING COLLATE UTF8_LCASE>, p INT"
    mapped = {"delta.columnMapping.mode": "name"}
    table = made(lake, "s.collated", columns, switches, mapped, FEED, partition_by=["p"])
    letters = "char(97 + id) v, named_struct('v', char(97 + id)) s"
    table.append(spark.sql(f"SELECT CAST(id AS INT) id, {letters}, 1 p FROM range(6)"))

    table.update({"v": "'Z'"}, "v = 'A'")
    table.update({"id": "20"}, "s.v = 'B'")
    table.delete("v = 'C'")
    rows = spark.sql("SELECT 30 id, 'D' v UNION ALL SELECT 40, 'E' UNION ALL SELECT 50, 'X'")
    source = rows.withColumn("v", F.col("v").cast("string collate UTF8_LCASE"))
    merge = table.merge(source, "t.v = s.v").when_matched_update("s.id = 30", {"v": "concat(s.v, '!')"})
    merge = merge.when_matched_update(set={"id": "s.id"})
    merge.when_not_matched_insert(values={"id": "s.id", "v": "'new'"}).execute()

    assert [row[:2] for row in tuples(table)] == [
        (0, "Z"), (3, "D!"), (5, "f"), (20, "b"), (40, "e"), (50, "new"),
    ]  # fmt: skip
    assert table.read().where("v in ('z', 'B')").count() == 2


def test_two_columns_are_exchanged(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.pair", "a INT, b INT")
    table.append(spark.createDataFrame([(1, 2)], "a int, b int"))

    table.update({"a": "b", "b": "a"})

    assert tuples(table) == [(2, 1)]


REFUSED: list[tuple[dict[str, str], type[HeadgateError], str]] = [
    ({"n": "id + 3000000000"}, HeadgateError, "integer"),
    ({"n": "null"}, ConstraintViolated, "NOT NULL"),
    ({"m": "1"}, InvalidRequest, "there is no column 'm'"),
    ({"s.b": "null", "s.b.c": "'x'"}, InvalidRequest, "DELTA_CONFLICT_SET_COLUMN"),
    ({"n.x": "1"}, InvalidRequest, "DELTA_"),
    ({"s": "named_struct('b', named_struct('c', 'x'), 'e', 1)"}, InvalidRequest, "has 'e' beyond"),
    ({"s.b": "named_struct('e', 1)"}, InvalidRequest, "lacks 'c' of"),
    ({"s": "'x'"}, InvalidRequest, "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"),
    ({}, InvalidRequest, "at least one column"),
]


def test_what_cannot_be_set_leaves_nothing(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.t", "id BIGINT, s STRUCT<b: STRUCT<c: STRING>>, n INT NOT NULL", VECTORS)
    nothing = "cast(null as struct<b: struct<c: string>>) s"
    table.append(spark.range(0, 4, 1, 1).selectExpr("id", nothing, "1 n"))
    before = files(table), on_disk(table)

    for values, error, says in REFUSED:
        with pytest.raises(error, match=says):
            table.update(values, "id = 1")

    assert (files(table), on_disk(table)) == before


def test_a_job_that_fails_leaves_nothing(spark: SparkSession, lake: Lake) -> None:
    """Whether rows are still being found or already written."""
    table = made(lake, "s.t", "id BIGINT, v STRING", VECTORS, FEED)
    table.append(spark.range(0, 20, 1, 2).selectExpr("id", "'a' v"))
    before = files(table), on_disk(table), table.version()

    with pytest.raises(Exception, match="gone wrong"):
        table.update({"v": "if(id = 15, raise_error('gone wrong'), 'b')"}, "id % 3 = 0")
    with pytest.raises(Exception, match="gone wrong"):
        table.delete("if(id = 15, raise_error('gone wrong'), id = 3)")

    assert (files(table), on_disk(table), table.version()) == before


@pytest.mark.parametrize("switches", [{}, VECTORS], ids=["rewritten", "hidden"])
def test_a_generated_column_follows_its_columns(
    spark: SparkSession, lake: Lake, switches: dict[str, str]
) -> None:
    """Also beside rows that are copied, in the change data feed, and where values are cast and padded."""
    generated = {"delta.generationExpression": "id * length(c)"}
    columns = StructType().add("id", LongType()).add("c", CharType(2)).add("g", LongType(), True, generated)
    table = made(lake, "s.t", columns, FEED, switches)
    table.append(spark.range(0, 4, 1, 1).selectExpr("id", "'a' c"))

    version = table.update({"id": "id + 10.5", "c": "'b'"}, "id = 1").version

    assert tuples(table) == [(0, "a ", 0), (2, "a ", 4), (3, "a ", 6), (11, "b ", 22)]
    assert changes(table, version) == [("update_postimage", 11, "b ", 22), ("update_preimage", 1, "a ", 2)]


@pytest.mark.parametrize("switches", [{}, VECTORS], ids=["rewritten", "hidden"])
def test_the_feed_has_rows_as_they_were_and_are_and_ids_stay(
    spark: SparkSession, lake: Lake, switches: dict[str, str]
) -> None:
    table = made(lake, "s.t", "id BIGINT, p INT", FEED, TRACKED, switches, partition_by=["p"])
    table.append(spark.range(0, 6, 1, 1).selectExpr("id", "cast(id % 2 as int) p"))
    before = {row.id: row._row_id for row in table.read(row_ids=True).collect()}

    version = table.update({"p": "7"}, "id = 2").version

    assert changes(table, version) == [("update_postimage", 2, 7), ("update_preimage", 2, 0)]
    after = {row.id: (row._row_id, row._row_commit_version) for row in table.read(row_ids=True).collect()}
    assert {number: found for number, (found, _) in after.items()} == before
    assert [number for number, (_, committed) in after.items() if committed == version] == [2]
    assert tuples(table, where="p = 7") == [(2, 7)]


def test_updates_of_different_rows_both_land_and_of_one_row_only_one(
    table: Table, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, hidden = lake.table("s.t"), lake.table("s.t").properties().get("delta.enableDeletionVectors")
    before_commit(monkeypatch, table, lambda: other.update({"n": "70"}, "id = 1"))
    if hidden is None:
        with pytest.raises(HeadgateError, match="CONCURRENT"):
            table.update({"n": "50"}, "id = 2")
        return
    table.update({"n": "50"}, "id = 2")
    before_commit(monkeypatch, table, lambda: other.update({"n": "71"}, "id = 3"))
    with pytest.raises(ConcurrentDeleteDelete):
        table.update({"n": "51"}, "id between 3 and 4")

    assert {row.id: row.n for row in table.read().collect()} == {
        number: {1: 70, 2: 50, 3: 71}.get(number, number) for number in range(10)
    }
