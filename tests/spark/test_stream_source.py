"""Streams out of tables on a classic session: Spark's own engine asks for files, and each row comes once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Lake, Table
from headgate.errors import InvalidRequest, SchemaMismatch, UnsupportedFeature
from headgate.spark.streaming.read_option_rows import READ_OPTIONS, ReadKind, parse_read_options
from headgate.spark.streaming.stream_read_kwargs import StreamReadKwargs
from tests.support.changed_tables import before_commit

pytestmark = pytest.mark.spark
CHANGED = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


class Copies:
    """Runs streams until they have caught up, and keeps what each batch had."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, stream: DataFrame, checkpoint: str = "c", columns: str = "id") -> list[list[Any]]:
        """The rows of each batch of one run."""
        batches: list[list[Any]] = []

        def keep(batch: DataFrame, _number: int) -> None:
            batches.append(sorted(tuple(row) for row in batch.selectExpr(columns.split(";")).collect()))

        place = str(self._folder / checkpoint)
        query = stream.writeStream.foreachBatch(keep).option("checkpointLocation", place)
        query.trigger(availableNow=True).start().awaitTermination()
        return [[row[0] if len(row) == 1 else row for row in batch] for batch in batches]

    def ids(self, stream: DataFrame, checkpoint: str = "c") -> list[int]:
        """All rows of one run."""
        return sorted(row for batch in self.run(stream, checkpoint) for row in batch)


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path)


def ids(spark: SparkSession, start: int, stop: int) -> DataFrame:
    return spark.range(start, stop, numPartitions=1).selectExpr("id", "CAST(id % 2 AS INT) AS day")


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    """Ids 0 to 3, in two partitions and so two files."""
    made = lake.create_table("s.t", "id BIGINT, day INT", partition_by=["day"], properties=CHANGED)
    made.append(ids(spark, 0, 4))
    return made


def code_of(run: Callable[[], object]) -> str:
    with pytest.raises(StreamingQueryException) as raised:
        run()
    return str(raised.value)


def test_a_stream_goes_on_from_its_checkpoint_with_what_was_ratified_since_s320(
    spark: SparkSession, table: Table, copies: Copies
) -> None:
    """Two files in the first version, one in a batch; commits that nobody published are there."""
    first = copies.run(table.read_stream(max_files_per_trigger=1))
    table.append(ids(spark, 4, 5))
    table.checkpoint()
    table.append(ids(spark, 5, 6))

    assert sorted(first) == [[0, 2], [1, 3]]
    assert copies.run(table.read_stream(max_files_per_trigger=1)) == [[4], [5]]
    assert copies.ids(table.read_stream()) == []
    assert copies.run(table.read_stream(max_bytes_per_trigger=1, starting_version=2), "b") == [[4], [5]]


def test_columns_partitions_and_deleted_rows_are_those_of_the_table(
    spark: SparkSession, table: Table, copies: Copies
) -> None:
    table.delete("id = 2")
    stream = table.read_stream()

    assert stream.isStreaming
    assert stream.schema == table.read().schema
    assert copies.run(stream, columns="id;day") == [[(0, 0), (1, 1), (3, 1)]]


def test_deletes_stop_a_stream_unless_it_is_told_what_to_make_of_them_s325(
    spark: SparkSession, table: Table, copies: Copies
) -> None:
    copies.ids(table.read_stream())
    table.delete("day = 0")
    table.append(ids(spark, 4, 5))

    said = code_of(lambda: copies.ids(table.read_stream()))

    assert "DELTA_SOURCE_IGNORE_DELETE" in said
    assert copies.ids(table.read_stream(ignore_deletes=True)) == [4]
    table.update({"id": "id + 100"}, "id = 1")
    assert "DELTA_SOURCE_TABLE_IGNORE_CHANGES" in code_of(lambda: copies.ids(table.read_stream()))
    assert copies.ids(table.read_stream(skip_change_commits=True)) == []


def test_a_change_feed_is_a_stream_with_the_initial_rows_as_inserts(
    spark: SparkSession, table: Table, copies: Copies
) -> None:
    columns = "id;_change_type;_commit_version"
    first = copies.run(table.read_stream(read_change_feed=True), columns=columns)
    table.delete("id = 1")
    table.update({"id": "id + 100"}, "id = 2")

    assert first == [[(each, "insert", 1) for each in range(4)]]
    assert copies.run(table.read_stream(read_change_feed=True), columns=columns) == [
        [(1, "delete", 2), (2, "update_preimage", 3), (102, "update_postimage", 3)]
    ]
    since = table.read_stream(read_change_feed=True, starting_version=2, max_files_per_trigger=1)
    assert [len(batch) for batch in copies.run(since, "f")] == [1, 2]


def test_new_columns_stop_a_query_and_a_new_one_goes_on_in_them(
    spark: SparkSession, table: Table, copies: Copies
) -> None:
    stream = table.read_stream()
    copies.ids(stream)
    table.append(ids(spark, 4, 5).withColumn("more", F.lit("x")), merge_schema=True)

    assert "DELTA_SCHEMA_CHANGED_WITH_VERSION" in code_of(lambda: copies.ids(stream))
    assert copies.run(table.read_stream(), columns="id;more") == [[(4, "x")]]


def test_a_stream_that_tracks_its_columns_goes_on_past_a_renamed_one(
    spark: SparkSession, lake: Lake, copies: Copies, tmp_path: Path
) -> None:
    mapped = {"delta.columnMapping.mode": "name"}
    table = lake.create_table("s.mapped", "id BIGINT, day INT", properties=mapped)
    table.append(ids(spark, 0, 2))
    place = tmp_path / "c" / "columns"

    def stream(**confirmed: str) -> DataFrame:
        return table.read_stream(schema_tracking_location=place, **confirmed)  # type: ignore[arg-type]

    assert copies.run(stream(), columns="*") == [[(0, 0), (1, 1)]]
    table.rename_column("day", "weekday")
    table.append(spark.createDataFrame([(2, 7)], "id BIGINT, weekday INT"))

    assert "DELTA_STREAMING_METADATA_EVOLUTION" in code_of(lambda: copies.run(stream()))
    with pytest.raises(SchemaMismatch, match="allow_source_column_rename"):
        stream()
    renamed = stream(allow_source_column_rename="always")
    assert copies.run(renamed, columns="id;weekday") == [[(2, 7)]]
    assert copies.run(stream(allow_source_column_rename="always")) == []


def test_two_tables_are_streams_of_one_query(
    spark: SparkSession, lake: Lake, table: Table, copies: Copies
) -> None:
    other = lake.create_table("s.o", "id BIGINT, day INT")
    other.append(ids(spark, 10, 12))

    def both() -> DataFrame:
        return table.read_stream(max_files_per_trigger=1).union(other.read_stream())

    first = copies.ids(both())
    other.append(ids(spark, 12, 13))
    table.append(ids(spark, 4, 5))

    assert first == [0, 1, 2, 3, 10, 11]
    assert copies.ids(both()) == [4, 12]


def test_one_frame_can_be_two_queries_of_which_one_ends_by_itself(
    spark: SparkSession, table: Table, copies: Copies, tmp_path: Path
) -> None:
    stream = table.read_stream()
    seen: list[int] = []
    place = str(tmp_path / "running")
    running = (
        stream.writeStream.foreachBatch(lambda batch, _: seen.extend(row.id for row in batch.collect()))
        .option("checkpointLocation", place)
        .start()
    )
    try:
        assert copies.ids(stream) == [0, 1, 2, 3]
        table.append(ids(spark, 4, 5))
        running.processAllAvailable()
        assert sorted(seen) == [0, 1, 2, 3, 4]
    finally:
        running.stop()


def test_a_stream_into_another_table_copies_each_row_once_s322(
    spark: SparkSession, lake: Lake, table: Table, tmp_path: Path
) -> None:
    """The last batch is repeated, as after a crash before Spark wrote down that it was done."""
    for _ in range(2):
        query = lake.write_stream(
            table.read_stream(max_files_per_trigger=1),
            "s.copy",
            checkpoint=tmp_path / "c",
            available_now=True,
        )
        query.awaitTermination()
        done = max(int(file.name) for file in (tmp_path / "c" / "commits").iterdir() if file.name.isdigit())
        for name in (f"{done}", f".{done}.crc"):
            (tmp_path / "c" / "commits" / name).unlink()
        table.append(ids(spark, 4, 5))

    lake.write_stream(
        table.read_stream(), "s.copy", checkpoint=tmp_path / "c", available_now=True
    ).awaitTermination()

    assert sorted(row.id for row in lake.table("s.copy").read().collect()) == [0, 1, 2, 3, 4, 4]


def test_a_batch_that_streams_its_own_target_is_no_blind_append(
    spark: SparkSession, table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = table.read_stream().where("id < 2").selectExpr("id + 1000 AS id", "day")

    table.write_stream(stream, checkpoint=tmp_path / "c", available_now=True).awaitTermination()

    written = next(entry for entry in table.log.history() if entry.info.operation == "STREAMING UPDATE")
    assert written.info.is_blind_append is False
    table.append(ids(spark, 1, 2))
    again = table.read_stream().where("id < 2").selectExpr("id + 1000 AS id", "day")
    before_commit(monkeypatch, table, lambda: table.append(ids(spark, 50, 51)))
    query = table.write_stream(again, checkpoint=tmp_path / "c", available_now=True)
    said = code_of(query.awaitTermination)
    assert "DELTA_CONCURRENT_APPEND" in said


def test_a_table_by_its_path_is_a_stream_too(spark: SparkSession, copies: Copies, tmp_path: Path) -> None:
    made = headgate.at_path(tmp_path / "t", columns="id BIGINT, day INT")
    made.append(ids(spark, 0, 2))

    assert copies.ids(made.read_stream()) == [0, 1]
    made.append(ids(spark, 2, 3))
    assert copies.ids(headgate.at_path(tmp_path / "t").read_stream()) == [2]


def test_a_lost_version_fails_a_batch_that_needs_it_and_none_that_was_done(
    spark: SparkSession, copies: Copies, tmp_path: Path
) -> None:
    made = headgate.at_path(tmp_path / "t", columns="id BIGINT, day INT")
    made.append(ids(spark, 0, 1))
    copies.ids(made.read_stream(starting_version=0))
    made.append(ids(spark, 1, 2))
    made.append(ids(spark, 2, 3))
    made.checkpoint()
    for version in (0, 1):
        (tmp_path / "t" / "_delta_log" / f"{version:020}.json").unlink()

    assert copies.ids(made.read_stream(starting_version=0)) == [1, 2]
    made.append(ids(spark, 3, 4))
    made.append(ids(spark, 4, 5))
    made.checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{4:020}.json").unlink()
    said = code_of(lambda: copies.ids(made.read_stream(starting_version=0)))
    assert "DELTA_MISSING_FILES_UNEXPECTED_VERSION" in said
    assert copies.ids(made.read_stream(starting_version=0, fail_on_data_loss=False)) == [4]


def test_options_are_known_by_the_names_of_both(table: Table) -> None:
    ours = {
        row.name
        for row in READ_OPTIONS
        if ReadKind.BATCH not in row.taken_by or ReadKind.STREAM in row.taken_by
    }

    assert ours == set(StreamReadKwargs.__annotations__)
    assert parse_read_options({"MAXFILESPERTRIGGER": "3", "startingVersion": "latest"}, ReadKind.STREAM) == {
        "max_files_per_trigger": 3,
        "starting_version": "latest",
    }
    with pytest.raises(UnsupportedFeature, match="schemaTrackingLocation"):
        parse_read_options({"schemaTrackingLocation": "/x"}, ReadKind.STREAM)
    with pytest.raises(InvalidRequest, match="ignoreDeletes"):
        parse_read_options({"ignoreDelets": "true"}, ReadKind.STREAM)
    with pytest.raises(InvalidRequest, match="latest"):
        table.read_stream(starting_version="newest")
