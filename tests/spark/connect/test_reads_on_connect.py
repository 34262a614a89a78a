"""What rows read is known on Spark Connect too: their own table, and files that are gone or damaged."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import ConcurrentAppend, ConcurrentDeleteRead, FileDamaged, ObjectNotFound
from headgate.spark.scan import scan_marks
from tests.support.changed_tables import files, tuples

pytestmark = pytest.mark.spark


def test_rows_that_were_read_from_their_table_must_still_be_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(4))
    rows = table.read(spark=spark)
    made = [rows, rows.groupBy().count().selectExpr("count AS id"), spark.range(9).join(rows, "id")]
    table.delete("id = 1", spark=spark)

    for each in made:
        with pytest.raises((ConcurrentAppend, ConcurrentDeleteRead)):  # the rows beside it are copied
            table.append(each)
    table.append(table.read(version=1, spark=spark).where("id = 1"))
    assert tuples(table).count((1,)) == 1
    assert scan_marks.marks_in_plan(spark.range(3)) == ()


def test_a_file_that_is_gone_or_damaged_is_named(spark: SparkSession, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append(spark.range(4).coalesce(1))
    (path,) = files(table)
    (tmp_path / "t" / path).write_bytes(b"x" * 5000)

    with pytest.raises(FileDamaged, match=path):
        table.update({"id": "id + 1"}, spark=spark)
    (tmp_path / "t" / path).unlink()
    with pytest.raises(ObjectNotFound, match=path):
        table.append(table.read(spark=spark))
    with pytest.raises(ObjectNotFound, match=path), headgate.named_errors():
        table.read(spark=spark).collect()
