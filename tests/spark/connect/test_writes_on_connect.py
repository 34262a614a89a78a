"""Writes through a Spark Connect server: partitions, mapped columns, checks and replacements."""

from datetime import datetime

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from headgate import Lake
from headgate.errors import ConstraintViolated, InvalidRequest, SchemaMismatch
from tests.support import rows

pytestmark = pytest.mark.spark


def test_partitions_and_mapped_columns(spark: SparkSession, lake: Lake) -> None:
    query = (
        "SELECT id, TIMESTAMP'2024-01-02 03:04:05.678' AS at, IF(id = 0, 'ä/%', NULL) AS part, "
        "named_struct('x', id) AS s FROM range(3)"
    )
    table = lake.write(
        spark.sql(query),
        "s.t",
        partition_by=["part", "at"],
        properties={"delta.columnMapping.mode": "name"},
        optimize_write=True,
    )

    table.append(spark.sql("SELECT 9L AS id, named_struct('y', 'new', 'X', 1L) AS s"), merge_schema=True)

    found = rows.of_frame(table.read())
    assert [(row["id"], row["part"], row["s"]) for row in found] == [
        (0, "ä/%", {"x": 0, "y": None}),
        (1, None, {"x": 1, "y": None}),
        (2, None, {"x": 2, "y": None}),
        (9, None, {"x": 1, "y": "new"}),
    ]
    assert found[0]["at"].replace(tzinfo=None) == datetime(2024, 1, 2, 3, 4, 5, 678_000)


def test_rows_are_checked_and_shown(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT, part STRING", partition_by=["part"])
    frame = spark.sql("SELECT id, IF(id < 2, 'a', 'b') AS part FROM range(4)")
    table.append(frame)

    with pytest.raises(ConstraintViolated, match="part = b") as caught:
        table.overwrite(frame, replace_where="part = 'a'")
    with pytest.raises(SchemaMismatch):
        table.append(frame.withColumn("more", F.lit(1)))
    with pytest.raises(InvalidRequest, match="nothing"):  # the plan that Spark quotes has the rule in it
        table.overwrite(frame, replace_where="nothing = 1")
    table.overwrite(frame.where("id = 1"), replace_where=F.col("part") == "a")
    table.overwrite(frame.where("id = 2"), replace_where="id > 1")

    assert caught.value.code == "DELTA_REPLACE_WHERE_MISMATCH"
    assert [row["id"] for row in rows.of_frame(table.read())] == [1, 2]
