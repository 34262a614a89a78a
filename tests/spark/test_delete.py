"""DELETE: which files it opens and which it rewrites, what others see, and who wins."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headgate import Lake, Table
from headgate.errors import (
    CommitUnknown,
    ConcurrentAppend,
    ConcurrentDeleteDelete,
    InvalidRequest,
    StorageUnavailable,
)
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


@pytest.fixture
def vectored(spark: SparkSession, lake: Lake) -> Table:
    """Ids 0 to 99 in two files."""
    table = made(lake, "s.t", "id BIGINT, v STRING", VECTORS)
    table.append(spark.range(0, 100, 1, 2).selectExpr("id", "if(id = 50, null, concat('v', id)) v"))
    return table


def ids(table: Table) -> list[int]:
    return [row[0] for row in tuples(table)]


def test_few_rows_are_hidden_more_are_rewritten_all_are_removed(vectored: Table) -> None:
    before = set(files(vectored))

    first = vectored.delete("id in (3, 4)")
    second = vectored.delete(F.col("id") == 5)
    assert set(files(vectored)) == before
    assert first.metrics["numDeletionVectorsAdded"] == second.metrics["numDeletionVectorsUpdated"] == 1
    assert (first.metrics["numDeletedRows"], second.metrics["numDeletedRows"]) == (2, 1)
    assert ids(vectored) == [0, 1, 2, *range(6, 100)]

    most = vectored.delete("id between 6 and 47")
    assert (most.metrics["numCopiedRows"], most.metrics["numDeletionVectorsRemoved"]) == (5, 1)
    assert len(set(files(vectored)) - before) == 1

    rest = vectored.delete("id % 2 < 2 and id < 50")
    assert (rest.metrics["numDeletedRows"], rest.metrics["numAddedFiles"]) == (5, 0)
    assert ids(vectored) == list(range(50, 100))


def test_what_history_says_is_what_the_call_returned(vectored: Table) -> None:
    result = vectored.delete("id = 1")

    info = vectored.log.history()[0].info
    assert info is not None
    assert (info.operation, info.operation_parameters) == ("DELETE", {"predicate": '["id = 1"]'})
    assert info.operation_metrics == {name: str(value) for name, value in result.metrics.items()}
    assert info.is_blind_append is False


def test_a_condition_that_is_null_is_not_true(vectored: Table) -> None:
    assert vectored.delete("v <> 'v7'").metrics["numDeletedRows"] == 98

    assert tuples(vectored) == [(7, "v7"), (50, None)]


def test_nothing_to_delete_is_no_version(vectored: Table) -> None:
    before = vectored.version()

    assert vectored.delete("id > 1000").version == vectored.delete("id = 1 and v = 'x'").version == before
    assert vectored.version() == before


def test_whole_files_go_without_being_opened(spark: SparkSession, lake: Lake) -> None:
    """By their partitions, or by what their statistics prove."""
    table = made(lake, "s.t", "id BIGINT, p INT", partition_by=["p"])
    table.append(spark.range(0, 40, 1, 2).selectExpr("id", "cast(id % 2 as int) p"))
    for path in on_disk(table):
        (Path(table.location) / path).unlink()

    gone = table.delete("p = 1")
    assert (gone.metrics["numDeletedRows"], gone.metrics["numRemovedFiles"]) == (20, 2)
    assert table.delete("id < 20 and p < 5").metrics["numDeletedRows"] == 10
    assert table.delete().metrics["numDeletedRows"] == 10
    assert files(table) == {}


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("to_date(ts) >= '2024-07-02'", [1]),
        ("to_date(ts) <> '2024-07-02'", [2]),
        ("price <> 1.5D", [1]),
    ],
)
def test_a_file_goes_unopened_only_if_spark_would_select_its_every_row(
    spark: SparkSession, lake: Lake, condition: str, left: list[int]
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        table = made(lake, "s.t", "id BIGINT, ts TIMESTAMP, price DECIMAL(10,2)")
        rows = "(1, '2024-07-01 23:00:00', 1.50), (2, '2024-07-02 01:00:00', 2), (3, '2024-07-03', 3)"
        table.append(
            spark.sql(f"SELECT id, CAST(ts AS TIMESTAMP) ts, price FROM VALUES {rows} AS v(id, ts, price)")
            .selectExpr("CAST(id AS BIGINT) id", "ts", "CAST(price AS DECIMAL(10,2)) price")
            .coalesce(1)
        )

        table.delete(condition)

        assert ids(table) == left
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize(
    ("setting", "condition"),
    [
        ("spark.sql.ansi.doubleQuotedIdentifiers", 'v = "same"'),
        ("spark.sql.parser.escapedStringLiterals", r"v = 'a\tb'"),
    ],
)
def test_a_condition_means_what_it_means_in_the_session(
    spark: SparkSession, lake: Lake, setting: str, condition: str
) -> None:
    table = made(lake, "s.t", "v STRING, same STRING")
    table.append(spark.createDataFrame([(r"a\tb", r"a\tb")], "v STRING, same STRING"))
    spark.conf.set(setting, "true")
    try:
        table.delete(condition)

        assert table.read().count() == 0
    finally:
        spark.conf.unset(setting)


@pytest.mark.parametrize(
    ("setting", "value", "condition", "left"),
    [
        ("spark.sql.ansi.enabled", "false", "id = 16777216F", [2]),
        ("spark.sql.ansi.enabled", "false", "day IS DISTINCT FROM 'x'", [16777217]),
        ("spark.sql.timestampType", "TIMESTAMP_NTZ", "wall = '2024-01-02 00:00:00+05:00'::timestamp", [2]),
    ],
)
def test_a_literal_is_what_the_session_makes_of_it(
    spark: SparkSession, lake: Lake, setting: str, value: str, condition: str, left: list[int]
) -> None:
    table = made(lake, "s.t", "id INT, day DATE, wall TIMESTAMP_NTZ")
    null_day = "16777217, CAST(NULL AS DATE), TIMESTAMP_NTZ'2024-01-02'"
    for row in (null_day, "2, DATE'2024-01-02', TIMESTAMP_NTZ'2024-01-03'"):
        table.append(spark.sql(f"SELECT * FROM VALUES ({row}) AS v(id, day, wall)"))
    before = spark.conf.get(setting)
    spark.conf.set(setting, value)
    try:
        table.delete(condition)

        assert ids(table) == left
    finally:
        spark.conf.set(setting, before)


@pytest.mark.parametrize("switches", [FEED, VECTORS | FEED], ids=["rewritten", "hidden"])
def test_the_feed_has_the_deleted_rows(spark: SparkSession, lake: Lake, switches: dict[str, str]) -> None:
    table = made(lake, "s.t", "id BIGINT", switches)
    table.append(spark.range(0, 20, 1, 2))

    version = table.delete("id < 12").version

    assert changes(table, version) == [("delete", number) for number in range(12)]
    assert table.delete().metrics["numAddedChangeFiles"] == 0
    assert changes(table, version + 1) == [("delete", number) for number in range(12, 20)]


def test_rows_keep_their_ids_when_others_are_deleted(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.t", "id BIGINT", TRACKED)
    table.append(spark.range(0, 10, 1, 1))
    before = {row.id: tuple(row) for row in table.read(row_ids=True).collect()}

    table.delete("id = 0")

    assert {row.id: tuple(row) for row in table.read(row_ids=True).collect()} == {
        number: row for number, row in before.items() if number
    }


def test_an_append_only_table_keeps_its_rows(spark: SparkSession, lake: Lake) -> None:
    """S255"""
    table = made(lake, "s.t", "id BIGINT", {"delta.appendOnly": "true"})
    table.append(spark.range(3))

    with pytest.raises(InvalidRequest, match="DELTA_CANNOT_MODIFY_APPEND_ONLY"):
        table.delete("id = 1")


def test_deletes_of_different_rows_of_one_file_both_land(
    vectored: Table, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = lake.table("s.t")
    before_commit(monkeypatch, vectored, lambda: other.delete("id = 2"))

    vectored.delete("id = 1")

    assert ids(vectored) == [0, *range(3, 100)]
    first = files(vectored)
    assert sorted(
        row["deletion_vector"]["cardinality"] for row in first.values() if row["deletion_vector"]
    ) == [2]


def test_of_two_deletes_of_one_row_one_lands_and_the_other_leaves_nothing(
    vectored: Table, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = lake.table("s.t")
    before_commit(monkeypatch, vectored, lambda: other.delete("id between 1 and 40 and id % 3 = 1"))
    before = on_disk(vectored)

    with pytest.raises(ConcurrentDeleteDelete):
        vectored.delete("id between 2 and 45 and id % 2 = 0")

    assert len(ids(vectored)) == 86
    assert {row["deletion_vector"] is None for row in files(vectored).values()} == {True, False}
    assert len(on_disk(vectored) - before) <= 1  # the winner's vector


def test_an_append_of_rows_it_would_have_deleted_is_a_conflict_and_another_is_not(
    spark: SparkSession, vectored: Table, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S227, by rows where there are no partitions."""
    other = lake.table("s.t")
    before_commit(
        monkeypatch, vectored, lambda: other.append(spark.range(200, 203).selectExpr("id", "'n' v"))
    )
    vectored.delete("v = 'v9'")

    before_commit(
        monkeypatch, vectored, lambda: other.append(spark.range(300, 303).selectExpr("id", "'v10' v"))
    )
    with pytest.raises(ConcurrentAppend):
        vectored.delete("v = 'v10'")

    assert {10, 200, 301} <= set(ids(vectored))
    assert 9 not in ids(vectored)


def test_files_stay_if_nobody_can_say_whether_they_were_committed(
    vectored: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(change: object, *, base: object) -> object:
        raise CommitUnknown("no answer", txn_id="x", target=9)

    monkeypatch.setattr(vectored.log, "commit", lost)
    before = on_disk(vectored)

    with pytest.raises(CommitUnknown):
        vectored.delete("id % 2 = 0 or id < 40")

    assert len(on_disk(vectored) - before) >= 1


def test_a_failure_while_writing_leaves_nothing(vectored: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, data: object) -> None:
        raise StorageUnavailable("the disk is full", path=path, operation="put")

    before, version = on_disk(vectored), vectored.version()
    monkeypatch.setattr(vectored.log.store, "put", full)
    with pytest.raises(StorageUnavailable):
        vectored.delete("(id < 50 and id > 5) or (id > 50 and hash(id) % 3 = 0)")
    monkeypatch.undo()

    assert on_disk(vectored) == before
    assert vectored.version() == version
