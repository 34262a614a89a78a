"""Rows that are read from the table they are written to: what they were read from must still be there."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate import Lake, Table
from headgate.errors import ConcurrentDeleteRead, ConflictError
from headgate.spark.scan import binders, scan_marks
from tests.support import streams
from tests.support.changed_tables import before_commit, tuples

pytestmark = pytest.mark.spark

Write = Callable[[Table, DataFrame], object]


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    made = lake.create_table("s.t", "id BIGINT, day INT", partition_by=["day"])
    made.append(spark.sql("SELECT id, CAST(id % 2 AS INT) AS day FROM range(4)"))
    return made


@pytest.fixture(params=["classic", "portable"])
def binder(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    spark.conf.set(binders.SETTING, request.param)
    yield request.param
    spark.conf.unset(binders.SETTING)


def merge(table: Table, rows: DataFrame) -> object:
    return table.merge(rows, "t.id = s.id").when_matched_update(set={"day": "s.day"}).execute()


FRAMES: dict[str, Callable[[SparkSession, DataFrame], DataFrame]] = {
    "itself": lambda spark, df: df,
    "an aggregate": lambda spark, df: df.groupBy("day").agg(F.max("id").alias("id")),
    "a join": lambda spark, df: spark.range(9).join(df, "id"),
    "a union": lambda spark, df: spark.sql("SELECT 7L AS id, 7 AS day").union(df),
    "a cached one": lambda spark, df: df.cache(),
}


@pytest.mark.usefixtures("binder")
@pytest.mark.parametrize("name", FRAMES)
def test_an_append_of_rows_that_are_deleted_meanwhile_is_refused(
    spark: SparkSession, table: Table, lake: Lake, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = FRAMES[name](spark, table.read())
    rival = lake.table("s.t")
    before_commit(monkeypatch, table, lambda: rival.delete("id = 1"))

    with pytest.raises(ConcurrentDeleteRead):
        table.append(rows)
    assert table.version() == 2
    assert tuples(table) == [(0, 0), (2, 0), (3, 1)]


def test_rows_of_a_subquery_and_of_a_view_are_found_too(spark: SparkSession, table: Table) -> None:
    table.read().createOrReplaceTempView("of_the_table")
    rows = [
        spark.sql("SELECT id, 7 AS day FROM range(9) WHERE id IN (SELECT id FROM of_the_table)"),
        spark.sql("WITH c AS (SELECT * FROM of_the_table) SELECT max(id) AS id, 7 AS day FROM c"),
        spark.table("of_the_table"),
    ]
    table.delete("id = 1")

    for each in rows:
        with pytest.raises(ConcurrentDeleteRead):
            table.append(each)


WRITES: dict[str, Write] = {
    "append": lambda table, rows: table.append(rows),
    "overwrite": lambda table, rows: table.overwrite(rows),
    "replace where": lambda table, rows: table.overwrite(rows.where("day = 0"), replace_where="day = 0"),
    "replace using": lambda table, rows: table.overwrite(rows, replace_using=["id"]),
    "merge": merge,
}


@pytest.mark.parametrize("name", WRITES)
def test_a_frame_stays_at_its_version_and_what_was_committed_since_counts(
    spark: SparkSession, table: Table, name: str
) -> None:
    rows = table.read()
    WRITES[name](table, table.read())
    table.append(spark.sql("SELECT 9L AS id, 1 AS day"))
    version = table.version()

    with pytest.raises(ConflictError):
        WRITES[name](table, rows)
    assert table.version() == version
    WRITES[name](table, table.read())


def test_only_what_was_read_counts(spark: SparkSession, table: Table) -> None:
    even = table.read(where="day = 0")
    table.delete("day = 1")

    table.append(even.selectExpr("id + 10 AS id", "day"))

    assert tuples(table) == [(0, 0), (2, 0), (10, 0), (12, 0)]
    even = table.read(where="day = 0")
    table.delete("id = 10")
    with pytest.raises(ConcurrentDeleteRead):
        table.append(even)


def test_rows_of_a_version_that_was_asked_for_are_brought_back(spark: SparkSession, table: Table) -> None:
    table.delete("id = 1")

    table.append(table.read(version=1).where("id = 1"))

    assert tuples(table) == [(0, 0), (1, 1), (2, 0), (3, 1)]


def test_rows_of_other_tables_are_not_concerned(spark: SparkSession, table: Table, lake: Lake) -> None:
    other = lake.create_table("s.u", "id BIGINT, day INT")
    rows = table.read()
    table.delete("id = 1")

    other.append(rows)
    blind = spark.sql("SELECT 1L AS id, 1 AS day")
    other.append(blind)

    assert other.version() == 2
    assert scan_marks.marks_in_plan(blind) == ()
    newest = other.history(limit=1).collect()[0]
    assert newest.isBlindAppend


def test_a_version_says_that_its_rows_were_read_here(spark: SparkSession, table: Table) -> None:
    table.append(table.read())

    told = table.history(limit=1).collect()[0]
    assert (told.isBlindAppend, told.readVersion) == (False, 1)


def anti_joined(spark: SparkSession, table: Table, source: Path) -> DataFrame:
    """The ids of a stream that the table does not have."""
    stream = streams.of(spark, source)
    return stream.join(table.read().select("id"), "id", "left_anti").selectExpr("id", "1 AS day")


def test_a_stream_that_reads_its_table_goes_on_until_rows_it_reads_are_gone(
    spark: SparkSession, table: Table, lake: Lake, tmp_path: Path
) -> None:
    source = streams.feed(tmp_path / "source", streams.ids(0, 6), streams.ids(6, 8))
    rows = anti_joined(spark, table, source)
    place = tmp_path / "checkpoint"

    table.write_stream(rows, checkpoint=place, available_now=True).awaitTermination()
    assert tuples(table) == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1)]
    lake.table("s.t").delete("id = 1")
    streams.feed(source, streams.ids(8, 9))
    with pytest.raises(StreamingQueryException, match="reads version 1 of the table"):
        table.write_stream(rows, checkpoint=place, available_now=True).awaitTermination()
    assert (8, 1) not in tuples(table)
    again = anti_joined(spark, table, source)
    table.write_stream(again, checkpoint=place, available_now=True).awaitTermination()
    assert (8, 1) in tuples(table)


def test_rows_that_a_user_adds_to_a_batch_are_looked_at_too(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    source = streams.feed(tmp_path / "source", streams.ids(0, 6))
    there, write = table.read(), table.batch_writer()

    def new_ones(batch: DataFrame, number: int) -> None:
        write(batch.join(there, "id", "left_anti").selectExpr("id", "1 AS day"), number)

    query = streams.of(spark, source).writeStream.foreachBatch(new_ones).trigger(availableNow=True)
    table.delete("id = 2")
    with pytest.raises(StreamingQueryException, match="reads version 1 of the table"):
        query.option("checkpointLocation", str(tmp_path / "c")).start().awaitTermination()
    assert table.version() == 2
