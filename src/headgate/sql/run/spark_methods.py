"""How is a method of PySpark called that ``sql.session.doors`` has replaced? As what it was before."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

DOOR = "__headgate_door__"
"""What a function has that takes the place of a method of PySpark."""


def spark_sql(spark: SparkSession, text: str, args: Any, frames: Mapping[str, Any]) -> DataFrame:
    """``spark.sql`` as Spark has it."""
    method = type(spark).sql
    if hasattr(method, DOOR):
        method = method.__wrapped__  # type: ignore[attr-defined]  # what functools.wraps remembers
    return method(spark, text, args, **frames)
