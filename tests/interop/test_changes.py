"""The change data feed, with deltalake as the referee and over commits that nobody published yet."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate.errors import InvalidRequest, VersionNotFound
from headgate.protocol import names
from headgate.protocol.actions import Version
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
        assert not (Path(table.location) / names.published(Version(1))).exists()


def test_the_feed_of_a_table_with_deletion_vectors(spark: SparkSession) -> None:
    place = corpora.ROOT / "kernelrs_data" / "cdf-table-with-dv"
    if not place.exists():
        pytest.skip("the corpora are not here")
    table = headgate.at_path(place)

    found = [row[0] for row in table.changes(0).select("_change_type").collect()]

    assert {"insert", "delete"} <= set(found)
    assert found.count("insert") - found.count("delete") == table.read().count()
