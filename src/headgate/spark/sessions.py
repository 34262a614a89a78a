"""Which kind of Spark session something belongs to."""

from pyspark.sql import DataFrame, SparkSession

_CONNECT = "pyspark.sql.connect."


def is_connect(held: SparkSession | DataFrame) -> bool:
    """Whether this is a session or a DataFrame of Spark Connect, whose classes take gRPC to import."""
    return type(held).__module__.startswith(_CONNECT)


def active() -> SparkSession:
    """The active Spark session, or a new local one."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
