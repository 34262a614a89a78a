"""Streams into tables: a commit a batch, each batch once, and the columns by the rules of every write."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate import Lake, Table
from headgate.errors import (
    CommitUnknown,
    ConcurrentTransaction,
    InvalidRequest,
    SchemaMismatch,
    TableNotFound,
)
from headgate.protocol.actions import AppTransaction
from headgate.spark.data_files.write_options import AUTO_MERGE
from headgate.spark.dml.merge.merge import Merge
from tests.spark.test_write import before_commit, data_files, live_files
from tests.support import duck, rows, streams

pytestmark = pytest.mark.spark
NOW = {"available_now": True}


@pytest.fixture
def table(lake: Lake) -> Table:
    return lake.create_table("s.t", streams.IDS)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Ids 0 to 3 and 4 to 5: two batches."""
    return streams.feed(tmp_path / "source", streams.ids(0, 4), streams.ids(4, 6))


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name)


def ended(query: StreamingQuery) -> StreamingQuery:
    query.awaitTermination()
    return query


def failed(query: StreamingQuery) -> str:
    """What a query says that must have failed."""
    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination()
    return str(raised.value)


def jobs(spark: SparkSession, query: StreamingQuery) -> int:
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(query.runId))


def ids(table: Table) -> list[int]:
    return sorted(row["id"] for row in table.read().collect())


def counted(stream: DataFrame, *more: Any) -> DataFrame:
    return stream.groupBy("writer").agg(F.count("*").alias("n"), *more)


def test_each_batch_is_one_commit_that_names_the_query_s321(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    query = ended(
        table.write_stream(streams.of(spark, source), checkpoint=tmp_path / "c", query_name="q", **NOW)
    )

    assert ids(table) == [0, 1, 2, 3, 4, 5]
    assert query.name == "q" and table.version() == 2
    second, first, _ = table.log.history()
    assert first.info.operation == second.info.operation == "STREAMING UPDATE"
    assert [entry.info.operation_parameters for entry in (first, second)] == [
        {"outputMode": "Append", "queryId": query.id, "epochId": number} for number in "01"
    ]
    assert first.info.is_blind_append is True
    size = sum(table.log.snapshot(version=1).files.columns["size"].to_pylist())
    assert first.info.operation_metrics == {
        "numAddedFiles": "1", "numRemovedFiles": "0", "numOutputRows": "4", "numOutputBytes": str(size)
    }  # fmt: skip
    assert table.log.snapshot().state.txns[query.id].version == 1


def test_a_repeated_batch_is_passed_over_without_a_job_s321(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)
    first = ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))
    streams.forget(tmp_path / "c", 1)

    again = ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))

    assert jobs(spark, first) > 0 and jobs(spark, again) == 0
    assert again.id == first.id and table.version() == 2
    assert ids(table) == [0, 1, 2, 3, 4, 5]
    streams.feed(source, streams.ids(6, 8))
    ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))
    assert ids(table) == list(range(8)) and table.version() == 3


def test_a_writer_that_is_killed_between_its_commit_and_the_checkpoint_writes_a_batch_once(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    streams.run_and_die(tmp_path / "lake", source, tmp_path / "c", streams.AFTER, 1)

    assert ids(table) == [0, 1, 2, 3, 4, 5] and not (tmp_path / "c" / "commits" / "1").exists()
    ended(table.write_stream(streams.of(spark, source), checkpoint=tmp_path / "c", **NOW))
    assert ids(table) == [0, 1, 2, 3, 4, 5] and table.version() == 2


def test_an_unknown_outcome_ends_the_query_and_the_next_start_decides(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, commit = streams.of(spark, source), table.log.commit

    def unanswered(change: Any, *, base: Any) -> int:
        version = commit(change, base=base)
        if AppTransaction in map(type, change.actions) and version == 2:
            raise CommitUnknown("nobody can say")
        return version

    with monkeypatch.context() as patched:
        patched.setattr(table.log, "commit", unanswered)
        said = failed(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))

    assert "headgate.errors.CommitUnknown: [HEADGATE_COMMIT_UNKNOWN] nobody can say" in said
    ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))
    assert ids(table) == [0, 1, 2, 3, 4, 5] and table.version() == 2


def test_a_batch_that_breaks_a_rule_is_not_there_at_all(
    spark: SparkSession, tmp_path: Path, lake: Lake, source: Path
) -> None:
    table = lake.create_table("s.t", "id BIGINT NOT NULL, writer STRING, half BIGINT")
    table.add_constraint("small", "id < 5")
    stream = streams.of(spark, source).withColumn("half", F.expr("id div 2"))

    said = failed(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))

    assert "headgate.errors.ConstraintViolated: [DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]" in said
    assert "id < 5" in said
    assert ids(table) == [0, 1, 2, 3] and data_files(table) == live_files(table)
    table.drop_constraint("small")
    ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))
    assert ids(table) == [0, 1, 2, 3, 4, 5]


def test_a_stream_with_void_columns_does_not_start_s297(
    spark: SparkSession, tmp_path: Path, lake: Lake, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)
    voids = {
        "nothing": "NULL AS nothing",
        "s.nothing": "named_struct('id', id, 'nothing', NULL) AS s",
        "a.element": "array(NULL) AS a",
        "m.value.x": "map('k', named_struct('x', NULL)) AS m",
    }

    for path, column in voids.items():
        for start in (
            lambda df: table.write_stream(df, checkpoint=tmp_path / "c", merge_schema=True, **NOW),
            lambda df: lake.write_stream(df, "s.new", checkpoint=tmp_path / "c", **NOW),
        ):
            with pytest.raises(SchemaMismatch, match=f"'{path}' is of type void") as refused:
                start(stream.selectExpr("id", column))
            assert refused.value.code == "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE"
    with pytest.raises(SchemaMismatch, match="void"):
        table.batch_writer(app_id="a")(spark.sql("SELECT 1L AS id, NULL AS nothing"), 0)

    assert not (tmp_path / "c").exists() and table.version() == 0
    with pytest.raises(TableNotFound):
        lake.table("s.new")


def test_columns_of_an_append_follow_the_rules_of_every_write(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)
    more = stream.selectExpr("CAST(id AS INT) AS id", "'new' AS note")

    with pytest.raises(SchemaMismatch, match=r"'note' is not in the table.*mergeSchema"):
        table.write_stream(more, checkpoint=tmp_path / "c", **NOW)
    assert not (tmp_path / "c").exists()
    own = more.writeStream.foreachBatch(table.batch_writer()).trigger(availableNow=True)
    said = failed(own.option("checkpointLocation", str(tmp_path / "o")).start())
    assert "headgate.errors.SchemaMismatch: [DELTA_METADATA_MISMATCH]" in said and "'note'" in said
    ended(table.write_stream(more, checkpoint=tmp_path / "c", merge_schema=True, **NOW))

    assert table.read().columns == ["id", "writer", "note"]
    assert dict(table.read().dtypes)["id"] == "bigint"  # ints were cast, as INSERT does
    assert ids(table) == [0, 1, 2, 3, 4, 5]


def test_complete_mode_and_another_schema_s315(
    spark: SparkSession, tmp_path: Path, lake: Lake, source: Path
) -> None:
    table = lake.create_table("s.counts", "writer STRING, n BIGINT")
    stream = streams.of(spark, source)
    ended(table.write_stream(counted(stream), checkpoint=tmp_path / "c", mode="complete", **NOW))
    assert table.read().count() == 6 and table.read(version=1).count() == 4
    info = table.log.history()[0].info
    assert info.operation_parameters["outputMode"] == "Complete" and info.is_blind_append is False
    before = table.log.snapshot(version=1).files.columns.num_rows
    assert info.operation_metrics["numRemovedFiles"] == str(before)

    def complete(df: DataFrame, number: int, **options: Any) -> None:
        ended(table.write_stream(df, checkpoint=tmp_path / f"c{number}", mode="complete", **NOW, **options))

    stream = streams.of(spark, source, files=2)
    wider = counted(stream, F.max("id").alias("most"))
    with pytest.raises(SchemaMismatch, match=r"'most' is not in the table.*overwriteSchema"):
        complete(wider, 1)
    with setting(spark, AUTO_MERGE, "true"):
        complete(wider, 2)
    assert table.read().columns == ["writer", "n", "most"]
    complete(wider.select("most"), 3, overwrite_schema=True)
    assert table.read().columns == ["most"]
    complete(counted(stream), 4, merge_schema=True)

    assert table.read().columns == ["most", "writer", "n"]
    assert sorted(row["writer"] for row in table.read().collect()) == [f"w{number}" for number in range(6)]


def test_only_streams_that_mean_something_start(
    spark: SparkSession, tmp_path: Path, lake: Lake, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)
    table.set_properties({"delta.appendOnly": "true"})

    def start(df: DataFrame = stream, to: Table = table, **options: Any) -> StreamingQuery:
        return to.write_stream(df, checkpoint=tmp_path / "c", **options)

    with pytest.raises(InvalidRequest, match=r"foreachBatch\(upsert\).*\.once\(headgate\.query_id"):
        start(mode="update")
    with pytest.raises(InvalidRequest, match="append-only") as refused:
        start(counted(stream).withColumnRenamed("n", "id"), mode="complete")
    assert refused.value.code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    with pytest.raises(InvalidRequest, match="not a stream"):
        start(spark.range(1))
    with pytest.raises(SchemaMismatch, match="partition by writer"):
        start(partition_by=["writer"])
    with lake.transaction() as tx, pytest.raises(InvalidRequest, match="of a transaction"):
        start(to=tx.table("s.t"))
    with pytest.raises(InvalidRequest, match="not a batch of a running query"):
        headgate.query_id(spark.range(1))
    assert not (tmp_path / "c").exists() and table.version() == 1


def test_the_first_batch_makes_the_table_s321(
    spark: SparkSession, tmp_path: Path, lake: Lake, source: Path
) -> None:
    stream = streams.of(spark, source)
    asked = {"partition_by": ["writer"], "properties": {"delta.enableChangeDataFeed": "true"}, **NOW}

    query = ended(lake.write_stream(stream, "s.new", checkpoint=tmp_path / "c", **asked))

    table = lake.table("s.new")
    first = table.log.history()[-1]
    assert (first.info.operation, first.info.operation_parameters["epochId"]) == ("STREAMING UPDATE", "0")
    assert table.read(version=0).count() == 4 and ids(table) == [0, 1, 2, 3, 4, 5]
    made = table.log.snapshot(version=0).state
    assert made.txns[query.id].version == 0 and made.metadata.partition_columns == ("writer",)
    assert made.metadata.configuration["delta.enableChangeDataFeed"] == "true"
    for number in (0, 1):
        streams.forget(tmp_path / "c", number)
    assert jobs(spark, ended(lake.write_stream(stream, "s.new", checkpoint=tmp_path / "c", **asked))) == 0
    assert table.version() == 1


def test_batches_without_rows_make_no_version(
    spark: SparkSession, tmp_path: Path, lake: Lake, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)

    ended(table.write_stream(stream.where("id > 3"), checkpoint=tmp_path / "c", **NOW))
    assert table.version() == 1 and ids(table) == [4, 5]
    none = counted(streams.of(spark, source, files=2).where("id > 9"))
    counts = lake.create_table("s.counts", "writer STRING, n BIGINT")
    ended(counts.write_stream(none, checkpoint=tmp_path / "d", mode="complete", **NOW))
    assert counts.version() == 0
    counts.append(spark.sql("SELECT 'old' AS writer, 1L AS n"))
    ended(counts.write_stream(none, checkpoint=tmp_path / "e", mode="complete", **NOW))
    assert counts.version() == 2 and counts.read().count() == 0


def test_what_is_merged_in_a_batch_is_merged_once(spark: SparkSession, tmp_path: Path, lake: Lake) -> None:
    table = lake.create_table("s.totals", "writer STRING, n BIGINT")
    source = streams.feed(tmp_path / "source", streams.ids(0, 4), streams.ids(2, 6))
    crash: Callable[[], None] = lambda: None  # noqa: E731

    def add_up(batch: DataFrame, number: int) -> None:
        merge = table.merge(batch.groupBy("writer").count(), "t.writer = s.writer")
        merge = merge.when_matched_update(set={"n": "t.n + s.count"})
        merge = merge.when_not_matched_insert(values={"writer": "s.writer", "n": "s.count"})
        merge.once(headgate.query_id(batch), number).execute()
        if number == 1:
            crash()

    def run() -> StreamingQuery:
        writer = streams.of(spark, source).writeStream.outputMode("update").foreachBatch(add_up)
        return writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()

    def fail() -> None:
        raise RuntimeError("killed")

    crash = fail
    assert "RuntimeError: killed" in failed(run())
    crash = lambda: None  # noqa: E731
    query = ended(run())

    assert table.version() == 2 and table.log.snapshot().state.txns[query.id].version == 1
    totals = {row["writer"]: row["n"] for row in table.read().collect()}
    assert totals == {"w0": 1, "w1": 1, "w2": 2, "w3": 2, "w4": 1, "w5": 1}
    assert table.log.history()[0].info.operation == "MERGE"


def test_a_batch_that_another_merges_meanwhile_is_not_merged_twice(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = lake.create_table("s.totals", "writer STRING, n BIGINT")
    batch = spark.sql("SELECT 'w' AS writer, 1L AS n")

    def merge(to: Table) -> Merge:
        found = to.merge(batch, "t.writer = s.writer").when_matched_update(set={"n": "t.n + s.n"})
        return found.when_not_matched_insert_all().once("load", 0)

    before_commit(monkeypatch, table, lambda: merge(lake.table("s.totals")).execute())
    with pytest.raises(ConcurrentTransaction):
        merge(table).execute()

    assert merge(table).execute().version == 1
    assert [row["n"] for row in table.read().collect()] == [1]


def test_several_queries_into_one_table_all_land(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    starts = [0, 10, 20]

    queries = [
        table.write_stream(
            streams.of(spark, source).selectExpr(f"id + {start} AS id", "writer"),
            checkpoint=tmp_path / f"c{start}",
            **NOW,
        )
        for start in starts
    ]
    for query in queries:
        ended(query)

    assert ids(table) == [start + number for start in starts for number in range(6)]
    assert table.version() == 6 and len(table.log.snapshot().state.txns) == 3


def test_a_batch_obeys_the_rules_of_conflicts(
    spark: SparkSession,
    tmp_path: Path,
    lake: Lake,
    table: Table,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, other = streams.of(spark, source), lake.table("s.t")
    beside = spark.sql("SELECT 100L AS id, 'batch' AS writer")

    with monkeypatch.context() as patched:
        before_commit(patched, table, lambda: other.overwrite(beside))
        ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))
    assert ids(table) == [4, 5, 100]  # the second overwrite came before the second batch
    with monkeypatch.context() as patched:
        before_commit(patched, table, lambda: other.append(beside))
        lost = counted(streams.of(spark, source, files=2)).withColumnRenamed("n", "id")
        said = failed(table.write_stream(lost, checkpoint=tmp_path / "d", mode="complete", **NOW))

    assert "headgate.errors.ConcurrentAppend" in said
    assert ids(table) == [4, 5, 100, 100]


def test_a_name_of_ones_own_is_not_used_with_a_new_checkpoint(
    spark: SparkSession, tmp_path: Path, table: Table, source: Path
) -> None:
    stream = streams.of(spark, source)
    ended(table.write_stream(stream, checkpoint=tmp_path / "c", app_id="load", **NOW))
    assert table.log.snapshot().state.txns["load"].version == 1

    with pytest.raises(InvalidRequest, match=r"'load' up to 1, and the checkpoint .* is new"):
        table.write_stream(stream, checkpoint=tmp_path / "d", app_id="load", **NOW)
    ended(table.write_stream(stream, checkpoint=tmp_path / "c", app_id="load", **NOW))

    assert ids(table) == [0, 1, 2, 3, 4, 5]


@pytest.mark.interop
def test_others_read_what_a_stream_wrote(spark: SparkSession, tmp_path: Path, source: Path) -> None:
    stream = streams.of(spark, source)
    table = headgate.at_path(tmp_path / "t", columns=streams.IDS, partition_by=["writer"])

    query = ended(table.write_stream(stream, checkpoint=tmp_path / "c", **NOW))

    ours = rows.of_frame(table.read())
    theirs = DeltaTable(table.location)
    assert rows.of_arrow(theirs.to_pyarrow_table()) == ours and len(ours) == 6
    assert theirs.transaction_version(query.id) == 1
    with duck.connect() as connection:
        found = connection.sql(f"SELECT id, writer FROM delta_scan('{table.location}')").arrow().read_all()
    assert rows.of_arrow(found) == ours
    with pytest.raises(PySparkException, match="watermark"):  # Spark's own rules still stand
        table.write_stream(counted(stream).withColumnRenamed("n", "id"), checkpoint=tmp_path / "d", **NOW)
