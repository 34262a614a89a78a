"""The list of operations once more, on Spark Connect."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.cluster import operations

pytestmark = pytest.mark.spark


def test_every_operation_on_spark_connect(spark: SparkSession, tmp_path: Path) -> None:
    assert len(operations.run(spark, tmp_path)) == len(operations.OPERATIONS)
