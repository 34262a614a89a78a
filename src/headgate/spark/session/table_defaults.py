"""Which properties does a Spark session give to new tables that do not say otherwise?

Those that Delta users set as ``spark.databricks.delta.properties.defaults.…``.
"""

from collections.abc import Mapping

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from headgate.protocol.features.coordinated_commits import SESSION_DEFAULT_PREFIX
from headgate.protocol.metadata import session_defaults
from headgate.spark.session import kind


def default_properties(spark: SparkSession | None = None) -> Mapping[str, str]:
    """The defaults of a session, by the names of properties; of the active one, if there is one."""
    found = spark or _active_session()
    if found is None or not _has_any(found):
        return {}
    return session_defaults.default_properties(found.conf.getAll)


def _active_session() -> SparkSession | None:
    try:
        return SparkSession.active()
    except PySparkRuntimeError:  # there is none, and none is started for this
        return None


def _has_any(spark: SparkSession) -> bool:
    """Whether to ask at all: classic Spark tells its settings one by one, a millisecond each."""
    if kind.is_connect(spark):
        return True
    return SESSION_DEFAULT_PREFIX in spark._jsparkSession.conf().getAllAsJava().toString()
