"""What the whole run shares: one small Spark session, started when a test first asks for it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

_JAVA = Path(sys.prefix) / "java-home"
_SMALL = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.log.level": "OFF",  # jobs that fail on purpose would fill the screen
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark session of the run; tests must leave its configuration as it was."""
    if _JAVA.exists():
        os.environ.setdefault("JAVA_HOME", _JAVA.read_text().strip())
    os.environ.setdefault("LC_ALL", "C.UTF-8")  # Java names files in the encoding of the locale
    builder = SparkSession.builder.master("local[2]").appName("headgate-tests")
    for name, value in _SMALL.items():
        builder = builder.config(name, value)
    warehouse = tmp_path_factory.mktemp("spark-warehouse")
    session = builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
    yield session
    session.stop()
