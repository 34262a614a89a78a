"""A moment of the history is the version it is of, wherever session and process say they are."""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import SparkSession

from headgate import Lake, Table
from headgate.errors import InvalidRequest, VersionNotFound
from headgate.spark.calls import moments
from tests.support.changed_tables import FEED, made

pytestmark = pytest.mark.spark

ZONE = "spark.sql.session.timeZone"
ZONES = ("UTC", "America/Los_Angeles", "Asia/Kolkata", "+13:00", "Pacific/Auckland")
PROCESSES = ("UTC", "America/New_York", "Pacific/Kiritimati")


@pytest.fixture
def at(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Sets the time zones of the process and of the session."""
    before = spark.conf.get(ZONE)

    def move(process: str, session: str) -> None:
        monkeypatch.setenv("TZ", process)
        time.tzset()
        spark.conf.set(ZONE, session)

    yield move
    spark.conf.set(ZONE, before)
    monkeypatch.undo()
    time.tzset()


def versions(table: Table) -> list[tuple[int, datetime, str]]:
    """Each version, its moment as PySpark gives it, and as the session writes it."""
    told = table.history().selectExpr("version", "timestamp", "CAST(timestamp AS STRING) AS text")
    return [(row.version, row.timestamp, row.text) for row in told.collect()]


@pytest.mark.parametrize("process", PROCESSES)
def test_the_moment_of_a_row_of_the_history_is_that_version_in_every_zone(
    spark: SparkSession, lake: Lake, at: Callable[[str, str], None], process: str
) -> None:
    table = made(lake, "s.t", "id BIGINT", FEED)
    for _ in range(2):
        table.append(spark.range(1))

    for session in ZONES:
        at(process, session)
        for version, moment, text in versions(table):
            for given in (moment, text, moment.isoformat() if process == session else text):
                assert table.read(timestamp=given).count() == version
            if version:
                found = table.changes(moment, text).select("_commit_version").collect()
                assert [row[0] for row in found] == [version]


def test_restores_and_clones_go_by_the_same_zones(
    spark: SparkSession, lake: Lake, at: Callable[[str, str], None]
) -> None:
    table = lake.create_table("s.t", "id BIGINT")
    for _ in range(3):
        table.append(spark.range(1))
    at("America/New_York", "Asia/Kolkata")
    (*_, (_, first, text), _) = versions(table)

    assert lake.clone(table, "s.by_datetime", timestamp=first).read().count() == 1
    assert lake.clone(table, "s.by_text", timestamp=text).read().count() == 1
    table.restore(timestamp=first)
    assert table.read().count() == 1
    table.restore(version=3)
    table.restore(timestamp=text)
    assert table.read().count() == 1
    with pytest.raises(VersionNotFound):
        table.restore(timestamp=first - timedelta(days=1))


def test_a_moment_that_comes_twice_a_year_is_the_one_that_was_given(
    spark: SparkSession, at: Callable[[str, str], None]
) -> None:
    at("America/New_York", "America/New_York")
    for hour in (5, 6):
        moment = datetime(2026, 11, 1, hour, 30, tzinfo=UTC)
        shown = spark.createDataFrame([(moment,)], "at TIMESTAMP").collect()[0].at

        assert (shown.hour, shown.tzinfo) == (1, None)
        assert moments.to_epoch_millis(shown) == moment.timestamp() * 1000
    told = spark.sql("SELECT unix_millis(TIMESTAMP '2026-11-01 01:30:00')").collect()[0][0]
    assert moments.to_epoch_millis("2026-11-01 01:30:00") == told
    skipped = spark.sql("SELECT unix_millis(TIMESTAMP '2026-03-08 02:30:00')").collect()[0][0]
    assert moments.to_epoch_millis("2026-03-08 02:30:00") == skipped


def test_a_zone_that_python_does_not_know_is_asked_for(
    spark: SparkSession, at: Callable[[str, str], None]
) -> None:
    at("UTC", "UTC+01:00:30")

    assert moments.to_epoch_millis("2026-01-31T00:00:00Z") == moments.to_epoch_millis(datetime(2026, 1, 31))
    with pytest.raises(InvalidRequest, match="write one behind it") as caught:
        moments.to_epoch_millis("2026-01-31")
    assert caught.value.code == "DELTA_TIMESTAMP_INVALID"
