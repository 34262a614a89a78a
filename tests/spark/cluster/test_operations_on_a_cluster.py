"""The list of operations on a real cluster, whose executors have no Python and share only the tables."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.cluster import operations
from tests.support.cluster import WORKER

pytestmark = pytest.mark.spark


def test_both_workers_take_part_and_neither_has_python(spark: SparkSession) -> None:
    told = f"reflect('java.lang.System', 'getenv', '{WORKER}')"
    slow = "reflect('java.lang.Thread', 'sleep', 300L)"

    df = spark.range(0, 2, 1, 2).selectExpr(f"{told} AS worker", "id", f"{slow} AS slept")

    assert {row["worker"] for row in df.toArrow().to_pylist()} == {"0", "1"}
    with pytest.raises(Exception, match="Cannot run program"):
        spark.sparkContext.parallelize([1], 1).map(lambda one: one + 1).collect()


def test_every_operation_on_a_cluster(spark: SparkSession, tmp_path: Path) -> None:
    assert len(operations.run(spark, tmp_path)) == len(operations.OPERATIONS)
