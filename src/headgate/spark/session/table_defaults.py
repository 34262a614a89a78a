"""Which properties does a Spark session give to new tables that do not say otherwise?

Those that Delta users set as ``spark.databricks.delta.properties.defaults.…``.
"""

from collections.abc import Mapping

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from headgate.protocol.features.coordinated_commits import DEFAULTS
from headgate.protocol.metadata import session_defaults
from headgate.spark.session import kind


def of_session(spark: SparkSession | None = None) -> Mapping[str, str]:
    """The defaults of a session, by the names of properties; of the active one, if there is one."""
    found = spark or _known()
    if found is None or not _has_any(found):
        return {}
    return session_defaults.properties_of(found.conf.getAll)


def _known() -> SparkSession | None:
    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # there is none, and none is started for this
        return None


def _has_any(spark: SparkSession) -> bool:
    """Whether to ask at all: classic Spark tells its settings one by one, a millisecond each."""
    if kind.is_connect(spark):
        return True
    return DEFAULTS in spark._jsparkSession.conf().getAllAsJava().toString()
