"""How is a method of PySpark called that ``sql.session.spark_patches`` has replaced? As what it was before.

What Spark cannot do without Delta's jars it says at length, and by the name of a class that is missing;
whoever is in a session that knows a lake meant a table of the lake, and is told how to name it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from headgate.errors import InvalidRequest
from headgate.registration import registered_lakes

PATCH_MARK = "__headgate_patched__"
"""What a function has that takes the place of a method of PySpark."""
_NO_DELTA = re.compile(r"\[DATA_SOURCE_NOT_FOUND\][^.]*: delta\b", re.IGNORECASE)


def spark_sql(spark: SparkSession, text: str, args: Any, frames: Mapping[str, Any]) -> DataFrame:
    """``spark.sql`` as Spark has it."""
    method = type(spark).sql
    if hasattr(method, PATCH_MARK):
        method = method.__wrapped__  # type: ignore[attr-defined]  # what functools.wraps remembers
    with explained_delta_source(spark):
        return method(spark, text, args, **frames)


@contextmanager
def explained_delta_source(spark: SparkSession) -> Iterator[None]:
    """Say of a Delta table that Spark is to make in a schema of its own where such a table belongs."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as failure:
        lakes = registered_lakes.registered_lakes(spark)
        if not lakes or _NO_DELTA.search(str(failure)) is None:
            raise
        name = next(iter(lakes))
        raise InvalidRequest(
            "the schema is none of the lake's, so the statement is Spark's, which cannot write Delta without "
            f"Delta's jars: say USE {name} first, so that CREATE SCHEMA s makes one of the lake, or call it "
            f"by its whole name, CREATE SCHEMA {name}.s; s.t is then a table of the lake",
            code="DATA_SOURCE_NOT_FOUND",
        ) from failure
