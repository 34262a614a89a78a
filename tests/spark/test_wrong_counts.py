"""Statistics of other writers that count too few rows: no row that nobody deleted is lost by them."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from tests.support.changed_tables import before_commit, tuples
from tests.support.handmade import column, data_file, write_log

pytestmark = pytest.mark.spark

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "v": pa.array([None, None, "c"], pa.string())})
TOO_FEW = '{"numRecords":2,"nullCount":{"v":2}}'
VECTORED = {"delta_enableDeletionVectors": "true"}


def counted_wrong(location: Path, **properties: str) -> Table:
    """A table with one file of three rows, whose statistics say two."""
    add = data_file(location, "a.parquet", ROWS, stats=TOO_FEW)
    columns = [column("id", "long"), column("v", "string")]
    write_log(location, columns, [add], features=["deletionVectors"], writers=["appendOnly"], **properties)
    return headgate.at_path(str(location))


@pytest.mark.parametrize("properties", [{}, VECTORED], ids=["copied", "hidden"])
def test_a_file_is_not_empty_because_as_many_rows_are_deleted_as_it_is_said_to_have(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = counted_wrong(tmp_path / "t", **properties)

    table.delete("id + 0 < 3")

    assert tuples(table) == [(3, "c")]


def test_nor_when_the_last_of_them_follow_one_another(spark: SparkSession, tmp_path: Path) -> None:
    table = counted_wrong(tmp_path / "t", **VECTORED)

    table.delete("id = 1")
    table.delete("id = 2")

    assert tuples(table) == [(3, "c")]


def test_nor_when_they_race(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = counted_wrong(tmp_path / "t", **VECTORED)
    other = headgate.at_path(table.location)
    before_commit(monkeypatch, table, lambda: other.delete("id = 1"))

    table.delete("id = 2")

    assert tuples(table) == [(3, "c")]


def test_an_update_and_a_merge_keep_the_row_that_is_not_counted(spark: SparkSession, tmp_path: Path) -> None:
    updated = counted_wrong(tmp_path / "u", **VECTORED)
    merged = counted_wrong(tmp_path / "m", **VECTORED)

    updated.update({"v": "'new'"}, where="id < 3")
    source = spark.sql("SELECT id FROM VALUES (1L), (2L) AS v(id)")
    merged.merge(source, "t.id = s.id").when_matched_delete().execute()

    assert tuples(updated) == [(1, "new"), (2, "new"), (3, "c")]
    assert tuples(merged) == [(3, "c")]


def test_as_many_nulls_as_rows_are_said_to_be_do_not_prove_that_all_are_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = counted_wrong(tmp_path / "t")

    assert table.delete("v IS NULL").metrics["numDeletedRows"] == 2

    assert tuples(table) == [(3, "c")]


def test_a_file_goes_whole_when_its_footer_agrees(spark: SparkSession, tmp_path: Path) -> None:
    table = counted_wrong(tmp_path / "t", **VECTORED)
    table.delete("id + 0 < 3")

    gone = table.delete("id + 0 = 3")

    assert (gone.metrics["numRemovedFiles"], gone.metrics["numAddedFiles"]) == (1, 0)
    assert tuples(table) == []
