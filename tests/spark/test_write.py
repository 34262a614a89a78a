"""Appends and overwrites: what they refuse, what they leave behind, and who wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import (
    CommitUnknown,
    ConcurrentAppend,
    ConstraintViolated,
    HeadgateError,
    InvalidRequest,
    MetadataChanged,
    SchemaMismatch,
)
from headgate.spark.data_files import data_file_writer
from headgate.spark.data_files.data_file_writer import WrittenFiles
from headgate.spark.parquet import parquet_options
from tests.support import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def table(lake: Lake) -> Table:
    return lake.create_table("s.t", "id BIGINT")


def data_files(table: Table) -> set[str]:
    root = Path(table.location)
    return {str(path.relative_to(root)) for path in root.rglob("*.parquet")}


def live_files(table: Table) -> set[str]:
    return set(table.log.snapshot().files.columns["path"].to_pylist())


def before_commit(monkeypatch: pytest.MonkeyPatch, table: Table, act: Callable[[], object]) -> None:
    """Let ``act`` happen once the table's files are written and before they are committed."""
    commit = table.log.commit

    def delayed(change: object, *, base: object) -> object:
        act()
        return commit(change, base=base)  # type: ignore[arg-type]  # passed through as they came

    monkeypatch.setattr(table.log, "commit", delayed)


def test_an_append_says_what_it_wrote(spark: SparkSession, table: Table) -> None:
    assert table.append(spark.range(5).coalesce(1)) == 1

    (add,) = table.log.snapshot().files.columns.to_pylist()
    info = table.log.history()[0].info
    assert info.operation == "WRITE"
    assert info.operation_parameters == {"mode": "Append", "partitionBy": "[]"}
    assert info.operation_metrics == {
        "numFiles": "1", "numOutputRows": "5", "numOutputBytes": str(add["size"])
    }  # fmt: skip
    assert info.is_blind_append is True


def test_an_append_of_no_rows_is_a_version_without_files(spark: SparkSession, table: Table) -> None:
    assert table.append(spark.range(0)) == 1

    assert live_files(table) == data_files(table) == set()
    assert table.read().count() == 0


def test_files_without_rows_are_not_kept(spark: SparkSession, table: Table) -> None:
    table.append(spark.range(0, 8, 1, 4).where("id = 7"))

    assert len(data_files(table)) == 1
    assert live_files(table) == data_files(table)


def test_overwrite_replaces_all_rows_and_keeps_the_past(spark: SparkSession, table: Table) -> None:
    table.append(spark.range(3))

    assert table.overwrite(table.read().selectExpr("id + 10 AS id")) == 2

    assert rows.of_frame(table.read()) == [{"id": 10}, {"id": 11}, {"id": 12}]
    assert rows.of_frame(table.read(version=1)) == [{"id": 0}, {"id": 1}, {"id": 2}]
    assert table.log.history()[0].info.operation_parameters == {"mode": "Overwrite", "partitionBy": "[]"}


def test_eight_threads_append_and_all_rows_land(spark: SparkSession, lake: Lake, table: Table) -> None:
    def write(number: int) -> int:
        return lake.table("s.t").append(spark.range(number * 10, number * 10 + 10, 1, 1))

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(write, range(8)))

    assert sorted(versions) == list(range(1, 9))
    assert [row["id"] for row in rows.of_frame(table.read())] == list(range(80))


def test_of_two_overwrites_one_wins_and_the_losers_files_are_gone(
    spark: SparkSession, lake: Lake, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.append(spark.range(3))
    rival = lake.table("s.t")
    before_commit(monkeypatch, table, lambda: rival.overwrite(spark.range(100, 101)))

    with pytest.raises(ConcurrentAppend):
        table.overwrite(spark.range(200, 201))

    assert rows.of_frame(table.read()) == [{"id": 100}]
    assert table.version() == 2
    assert data_files(table) == live_files(table) | set(
        rival.log.snapshot(version=1).files.columns["path"].to_pylist()
    )


def test_files_stay_when_nobody_knows_whether_they_were_committed(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(change: object, *, base: object) -> int:
        raise CommitUnknown("no answer")

    monkeypatch.setattr(table.log, "commit", unknown)

    with pytest.raises(CommitUnknown):
        table.append(spark.range(1))

    assert len(data_files(table)) == 1


def test_data_files_are_durable_before_they_are_proposed(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled: list[tuple[set[str], set[str]]] = []
    monkeypatch.setattr(
        data_file_writer,
        "sync_files",
        lambda location, paths: settled.append((set(paths), live_files(table))),
    )

    table.append(spark.range(4).repartition(2))

    assert settled == [(live_files(table), set())]
    assert len(live_files(table)) == 2


def test_an_append_that_missed_a_change_of_the_table_starts_over(spark: SparkSession, tmp_path: Path) -> None:
    stale = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    other = headgate.at_path(tmp_path / "t")
    other.add_columns("name STRING")

    assert stale.append(spark.range(1)) == 2

    assert data_files(stale) == live_files(stale)
    assert stale.read().collect() == [(0, None)]
    other.add_feature("deletionVectors")
    assert stale.append(spark.range(1)) == 4


def test_an_append_that_misses_one_change_after_another_is_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = headgate.at_path(tmp_path / "t", columns="id BIGINT"), headgate.at_path(tmp_path / "t")
    write_files, turns = data_file_writer.write_files, count()

    def interrupted(*given: Any, **named: Any) -> WrittenFiles:
        other.add_columns(f"c{next(turns)} STRING")
        return write_files(*given, **named)

    monkeypatch.setattr(data_file_writer, "write_files", interrupted)

    with pytest.raises(MetadataChanged):
        table.append(spark.range(1))

    assert next(turns) == 2
    assert data_files(table) == set()


def test_columns_come_beside_a_field_that_another_client_made_not_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    headgate.at_path(tmp_path / "t", columns="id BIGINT NOT NULL, s STRUCT<a: INT>")
    zero = tmp_path / "t" / "_delta_log" / f"{0:020d}.json"
    named = r"{\"name\":\"a\",\"type\":\"integer\",\"nullable\":"
    assert f"{named}true" in zero.read_text()
    zero.write_text(zero.read_text().replace(f"{named}true", f"{named}false"))
    table = headgate.at_path(tmp_path / "t")

    table.append(spark.sql("SELECT 1L id, named_struct('a', 2) s, 3 x"), merge_schema=True)
    source = spark.sql("SELECT 1L id, named_struct('a', 4) s, 3 x, 5 y")
    table.merge(source, "t.id = s.id").with_schema_evolution().when_matched_update_all().execute()

    assert table.read().collect() == [(1, (4,), 3, 5)]
    with pytest.raises(ConstraintViolated, match=r"'s\.a' is NOT NULL"):
        table.append(spark.sql("SELECT 2L id, named_struct('a', CAST(NULL AS INT)) s"))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1 AS id", "implicit_casts=True"),
        ("SELECT 'x' AS id", "No option merges these: cast it"),
        ("SELECT 1L AS id, 2 AS other", "not in the table"),
        ("SELECT 1L AS id, 2L AS ID", "more than one column"),
    ],
    ids=["castable", "type", "unknown column", "twice"],
)
def test_rows_that_do_not_fit_are_refused(
    spark: SparkSession, table: Table, query: str, message: str
) -> None:
    with pytest.raises(SchemaMismatch, match=message):
        table.append(spark.sql(query))

    assert table.version() == 0
    assert data_files(table) == set()


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT IF(id = 3, NULL, id) AS id, array(1) AS items FROM range(5)", "id"),
        ("SELECT id, array(1, IF(id = 3, NULL, 2)) AS items FROM range(5)", "items.element"),
    ],
    ids=["column", "inside an array"],
)
def test_a_null_where_none_may_be_fails_the_write(
    spark: SparkSession, lake: Lake, query: str, column: str
) -> None:
    schema = spark.sql("SELECT 1L AS id, array(1) AS items").schema
    table = lake.create_table("s.strict", schema)
    table.append(spark.sql("SELECT 1L AS id, array(1) AS items"))

    with pytest.raises(ConstraintViolated, match=f"'{column}' is NOT NULL") as failure:
        table.append(spark.sql(query))

    assert failure.value.code == "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    assert data_files(table) == live_files(table)
    assert rows.of_frame(table.read()) == [{"id": 1, "items": [1]}]


def test_a_failing_query_is_told_as_spark_tells_it(spark: SparkSession, table: Table) -> None:
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as failure:
        table.append(spark.sql("SELECT id DIV (id - 3) AS id FROM range(5)"))

    assert not isinstance(failure.value, HeadgateError)
    assert data_files(table) == set()
    assert table.version() == 0


def test_a_session_setting_that_a_write_needs_is_put_back(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "spark.sql.parquet.outputTimestampType"
    before = spark.conf.get(name)
    monkeypatch.setattr(parquet_options, "_honours_write_options", lambda version: False)

    table.append(spark.range(1))

    assert spark.conf.get(name) == before


def test_an_append_only_table_takes_appends_only(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    headgate.at_path(path, columns="id BIGINT")
    zero = path / "_delta_log" / f"{0:020d}.json"
    zero.write_text(
        zero.read_text().replace('"configuration":{}', '"configuration":{"delta.appendOnly":"true"}')
    )
    table = headgate.at_path(path)

    with pytest.raises(InvalidRequest) as refusal:
        table.overwrite(spark.range(1))

    assert refusal.value.code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    assert table.append(spark.range(1)) == 1
