"""How is a frame made of rows of the driver, without its session becoming that of the whole process?

``createDataFrame`` of classic Spark makes its session the active one, for Python on every thread. In a
function of ``foreachBatch`` that is a session which Spark cloned for the query: whoever asked for the active
session afterwards would work with it, and with its settings. So what was active before is active again.
"""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headgate.spark.session import kind


def local_frame(spark: SparkSession, rows: Any, schema: StructType | None = None) -> DataFrame:
    """The frame of these rows: an Arrow table, or a list with the columns that ``schema`` has."""
    if kind.is_connect(spark):
        return spark.createDataFrame(rows, schema)
    before = SparkSession._activeSession
    try:
        return spark.createDataFrame(rows, schema)
    finally:
        if before is not None:
            SparkSession._activeSession = before
