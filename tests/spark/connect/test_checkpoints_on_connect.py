"""Rows kept by a Spark Connect server: for how long, and who tells it."""

import gc
import weakref
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import CachedRemoteRelation

from headgate.spark.session import local_checkpoint

pytestmark = pytest.mark.spark


def by_name(spark: Any, name: str) -> DataFrame:
    """The rows that the server keeps under a name."""
    relation = CachedRemoteRelation(name, spark)
    relation._spark_session = None  # type: ignore[assignment]  # so that its end is not told
    return ConnectDataFrame(relation, spark)


def test_the_collector_calls_no_server_and_the_next_who_keeps_rows_does(spark: SparkSession) -> None:
    kept: Any = local_checkpoint.checkpoint_rows(spark.range(3))
    name, relation = kept._plan._relation_id, weakref.ref(kept._plan)
    derived = kept.where("id > 0")
    in_a_cycle: list[Any] = [kept]
    in_a_cycle.append(in_a_cycle)

    del kept, in_a_cycle
    gc.collect()
    assert derived.count() == 2
    del derived
    gc.collect()

    assert relation() is None
    assert by_name(spark, name).count() == 3
    assert local_checkpoint.checkpoint_rows(spark.range(1)).count() == 1
    with pytest.raises(PySparkException):
        by_name(spark, name).count()
