"""What does a session need to work with Headgate? Nothing: ``configure_spark_with_delta_pip`` adds no jar."""

from pyspark.sql import SparkSession

_PACKAGES = "spark.jars.packages"


def configure_spark_with_delta_pip(
    spark_session_builder: SparkSession.Builder, extra_packages: list[str] | None = None
) -> SparkSession.Builder:
    """Give the builder back, with the ``extra_packages`` that Spark shall fetch, if there are any.

    Headgate is Python alone, so there is no jar to fetch, and neither ``spark.sql.extensions`` nor
    ``spark.sql.catalog.spark_catalog`` need be set.
    """
    if not isinstance(spark_session_builder, SparkSession.Builder):
        raise TypeError(
            "configure_spark_with_delta_pip takes the builder of a session, SparkSession.builder, and not "
            f"{type(spark_session_builder).__name__}"
        )
    if not extra_packages:
        return spark_session_builder
    return spark_session_builder.config(_PACKAGES, ",".join(extra_packages))
