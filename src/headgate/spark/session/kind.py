"""Which kind of Spark session something belongs to."""

from pyspark.sql import DataFrame, SparkSession

_CONNECT = "pyspark.sql.connect."


def is_connect(held: SparkSession | DataFrame) -> bool:
    """Whether this is a session or a DataFrame of Spark Connect, whose classes take gRPC to import."""
    return type(held).__module__.startswith(_CONNECT)


def has_executors(spark: SparkSession) -> bool:
    """Whether rows are read and written by other processes than the driver, often on other machines."""
    master = spark.conf.get("spark.master", None) or "local"
    return master != "local" and not master.startswith("local[")


def active_session() -> SparkSession:
    """The active Spark session, or a new local one."""
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
