"""The session of the shop."""

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession


def open_session() -> SparkSession:
    """A session on this machine."""
    return configure_spark_with_delta_pip(SparkSession.builder.appName("shop")).getOrCreate()


def prepare(spark: SparkSession) -> None:
    """Have the session know where the tables of the shop are."""
    spark.sql("CREATE SCHEMA IF NOT EXISTS shop")
