"""The change data feed, with deltalake as the referee and over commits that nobody published yet."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate.errors import InvalidRequest, VersionNotFound
from headgate.protocol.actions import AddFile, EpochMillis, RemoveFile, Version
from headgate.protocol.log import codec, deletion_vectors, file_names
from headgate.protocol.log.deletion_vectors import DeletedRows
from tests.support import corpora

pytestmark = [pytest.mark.spark, pytest.mark.interop]

FEED = {"delta.enableChangeDataFeed": "true"}


def made_by_deltalake(folder: Path) -> str:
    """Appends, an overwrite, an update and a delete by another engine; changes recorded where it does so."""
    place = str(folder)
    write_deltalake(place, frame([1, 2, 3]), configuration=FEED)
    write_deltalake(place, frame([4, 5]), mode="append")
    DeltaTable(place).update(predicate="id = 2", new_values={"name": "'changed'"})
    DeltaTable(place).delete("id = 5")
    write_deltalake(place, frame([9]), mode="overwrite")
    return place


def frame(ids: list[int]) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array([f"n{id_}" for id_ in ids])})


def shown(found: DataFrame) -> list[tuple[Any, ...]]:
    rows = found.select("id", "name", "_change_type", "_commit_version").collect()
    return sorted(tuple(row) for row in rows)


def theirs(place: str, start: int, end: int) -> list[tuple[Any, ...]]:
    feed = pa.table(DeltaTable(place).load_cdf(starting_version=start, ending_version=end))
    columns = ("id", "name", "_change_type", "_commit_version")
    return sorted(tuple(row[name] for name in columns) for row in feed.to_pylist())


@pytest.mark.parametrize(("start", "end"), [(0, 4), (0, 0), (1, 2), (2, 3), (4, 4)])
def test_the_feed_is_what_deltalake_says(spark: SparkSession, tmp_path: Path, start: int, end: int) -> None:
    place = made_by_deltalake(tmp_path / "t")

    assert shown(headgate.at_path(place).changes(start, end)) == theirs(place, start, end)


def test_moments_are_versions_too(spark: SparkSession, tmp_path: Path) -> None:
    """S045, S046"""
    place = made_by_deltalake(tmp_path / "t")
    table = headgate.at_path(place)
    stamps = [datetime.fromtimestamp(entry.timestamp / 1000, UTC) for entry in table.log.history()][::-1]

    found = table.changes(stamps[1], stamps[2])

    assert shown(found) == theirs(place, 1, 2)
    assert {row[0] for row in found.select("_commit_timestamp").distinct().collect()} <= {
        stamp.replace(tzinfo=None) for stamp in stamps
    }
    with pytest.raises(VersionNotFound, match="after the latest"):
        table.changes(datetime(2999, 1, 1, tzinfo=UTC))
    with pytest.raises(VersionNotFound, match="before the earliest"):
        table.changes(0, datetime(1999, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(("start", "end"), [(3, 1), (-1, 2)])
def test_a_range_that_makes_no_sense_is_refused(tmp_path: Path, start: int, end: int) -> None:
    """S044"""
    place = made_by_deltalake(tmp_path / "t")

    with pytest.raises(InvalidRequest) as caught:
        headgate.at_path(place).changes(start, end)
    assert caught.value.code == "DELTA_INVALID_CDC_RANGE"


def test_without_the_feed_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "t"), frame([1]))

    with pytest.raises(InvalidRequest) as caught:
        headgate.at_path(tmp_path / "t").changes(0)
    assert caught.value.code == "DELTA_MISSING_CHANGE_DATA"


def test_changes_of_commits_that_nobody_published_yet(spark: SparkSession, tmp_path: Path) -> None:
    settings = headgate.Settings(publish=headgate.Publish.ON_DEMAND)
    with headgate.connect(tmp_path, settings=settings) as lake:
        lake.create_schema("s")
        table = lake.create_table("s.t", "id BIGINT, name STRING")
        table.set_properties(FEED)
        table.append(spark.createDataFrame([(1, "a"), (2, "b")], "id BIGINT, name STRING"))
        table.overwrite(spark.createDataFrame([(3, "c")], "id BIGINT, name STRING"))

        assert shown(table.changes(1)) == [
            (1, "a", "delete", 3), (1, "a", "insert", 2), (2, "b", "delete", 3), (2, "b", "insert", 2),
            (3, "c", "insert", 3),
        ]  # fmt: skip
        assert not (Path(table.location) / file_names.published_path(Version(1))).exists()


@pytest.mark.parametrize("mode", ["none", "name"])
def test_rows_keep_their_values_when_the_partitioning_changes(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    """The value of a column is in the log for some files, and in the file for others."""
    properties = {**FEED, "delta.columnMapping.mode": mode}
    place, columns = tmp_path / "t", "id BIGINT, name STRING"
    table = headgate.at_path(place, columns=columns, properties=properties, partition_by=["name"])
    table.append(spark.createDataFrame([(1, "a")], columns))
    replaced = spark.createDataFrame([(2, "b")], columns)
    table.overwrite(replaced, overwrite_schema=True, partition_by=["id"])

    assert shown(table.changes(0)) == [
        (1, "a", "delete", 2), (1, "a", "insert", 1), (2, "b", "insert", 2)
    ]  # fmt: skip


def test_a_partition_value_that_is_left_out_is_null_whatever_the_file_stores(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Delta Spark leaves null values out of removes, and stores an empty text in the file."""
    table = headgate.at_path(
        tmp_path / "t", columns="id BIGINT, name STRING", properties=FEED, partition_by=["name"]
    )
    file = tmp_path / "t" / "a.parquet"
    pq.write_table(pa.table({"id": [1], "name": [""]}), file)
    size, said = file.stat().st_size, {"dataChange": True, "partitionValues": {}}
    added = {"add": {"path": "a.parquet", "size": size, "modificationTime": 0, **said}}
    removed = {"remove": {"path": "a.parquet", "size": size, "extendedFileMetadata": True, **said}}
    for version, action in enumerate((added, removed), start=1):
        (tmp_path / "t" / file_names.published_path(Version(version))).write_bytes(
            msgspec.json.encode(action)
        )

    rows = table.changes(0).select("id", "name", "_change_type").collect()

    assert sorted(map(tuple, rows), key=str) == [(1, None, "delete"), (1, None, "insert")]


def test_values_are_not_read_as_those_of_another_type(spark: SparkSession, tmp_path: Path) -> None:
    """Spark would read 7.00 as 700."""
    table = headgate.at_path(tmp_path / "t", columns="price DECIMAL(10, 2)", properties=FEED)
    table.append(spark.sql("SELECT CAST(7 AS DECIMAL(10, 2)) AS price"))
    table.overwrite(spark.sql("SELECT 8L AS price"), overwrite_schema=True)
    table.append(spark.sql("SELECT 9L AS price"))

    for start in (0, 1, 2):
        with pytest.raises(InvalidRequest, match="'price' changes from decimal") as caught:
            table.changes(start)
        assert caught.value.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
    assert [[int(row[0]) for row in table.changes(*some).collect()] for some in ((0, 1), (3,))] == [[7], [9]]


def test_a_file_that_was_removed_without_its_partition_values_is_not_guessed_at(tmp_path: Path) -> None:
    table = headgate.at_path(
        tmp_path / "t", columns="id BIGINT, name STRING", properties=FEED, partition_by=["name"]
    )
    gone = codec.encode((RemoveFile(path="name=a/1.parquet", data_change=True),))
    (tmp_path / "t" / file_names.published_path(Version(1))).write_bytes(gone)

    with pytest.raises(InvalidRequest, match="partition values") as caught:
        table.changes(0)
    assert caught.value.code == "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"


def test_rows_come_back_to_a_file_of_which_nobody_said_how_many_it_has(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A file must have statistics only while it has a deletion vector."""
    properties = {**FEED, "delta.enableDeletionVectors": "true"}
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT, name STRING", properties=properties)
    part = tmp_path / "t" / "a.parquet"
    pq.write_table(frame([1, 2, 3]), part)
    bare = AddFile(
        path=part.name,
        partition_values={},
        size=part.stat().st_size,
        modification_time=EpochMillis(1),
        data_change=True,
    )
    marked = msgspec.structs.replace(
        bare,
        deletion_vector=deletion_vectors.encode_inline(DeletedRows.from_rows([1])),
        stats='{"numRecords":3}',
    )
    gone = RemoveFile(path=part.name, data_change=True)
    for version, actions in enumerate([(bare,), (gone, marked)], 1):
        (tmp_path / "t" / file_names.published_path(Version(version))).write_bytes(codec.encode(actions))
    table.restore(version=1)

    assert shown(table.changes(2)) == [(2, "n2", "delete", 2), (2, "n2", "insert", 3)]


def test_the_feed_of_a_table_with_deletion_vectors(spark: SparkSession) -> None:
    place = corpora.ROOT / "kernelrs_data" / "cdf-table-with-dv"
    if not place.exists():
        pytest.skip("the corpora are not here")
    table = headgate.at_path(place)

    found = [row[0] for row in table.changes(0).select("_change_type").collect()]

    assert {"insert", "delete"} <= set(found)
    assert found.count("insert") - found.count("delete") == table.read().count()
