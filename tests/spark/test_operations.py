"""The list of operations on a local session; ``connect`` and ``cluster`` beside this run it elsewhere."""

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.conftest import ON_CLUSTER
from tests.spark.cluster import operations

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not os.environ.get(ON_CLUSTER), reason="make cluster runs it, here and elsewhere"),
]


def test_every_operation_on_a_local_session(spark: SparkSession, tmp_path: Path) -> None:
    assert len(operations.run(spark, tmp_path)) == len(operations.OPERATIONS)
