"""What the whole run shares: one small Spark session, started when a test first asks for it."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from tests.support import jvm, short_run
from tests.support.migrated_database import ABOUT_NEW_DATABASES, remembered_schema

# How long an example takes says how busy the machine is, not whether the code is right.
# The suite is run often, so it asks for few examples; HEADGATE_TESTS_EXAMPLES=1000 has it ask for more.
_EXAMPLES = os.environ.get("HEADGATE_TESTS_EXAMPLES", "15" if short_run.SHORT in os.environ else "30")
settings.register_profile(
    "headgate",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    max_examples=int(_EXAMPLES),
)
settings.load_profile("headgate")
jvm.start_quickly()

pytest_plugins = ["tests.support.time_by_file"]
pytest_collection_modifyitems = short_run.pytest_collection_modifyitems

ON_CONNECT = "HEADGATE_TESTS_ON_CONNECT"
ON_CLUSTER = "HEADGATE_TESTS_ON_CLUSTER"
"""Set it, and the session is one of Spark Connect, with a server of its own."""

JAVA = Path(sys.prefix) / "java-home"
_SMALL = {
    "spark.driver.memory": "1g",
    "spark.log.level": "OFF",  # jobs that fail on purpose would fill the screen
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
}


@pytest.fixture(autouse=True, scope="module")
def _new_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """New databases get their schema in one go, but where they are what a suite is about."""
    is_about_them = request.module.__name__.rpartition(".")[2] in ABOUT_NEW_DATABASES
    with nullcontext() if is_about_them else remembered_schema():
        yield


@pytest.fixture(autouse=True, scope="module")
def _logging_as_it_was() -> Iterator[None]:
    """A command that serves sets up the logs of its process, which here is that of all tests."""
    loggers = [logging.getLogger(name) for name in (None, "headgate")]
    before = [(logger, logger.handlers[:], logger.level) for logger in loggers]
    yield
    for logger, handlers, level in before:
        logger.handlers[:] = handlers
        logger.setLevel(level)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark session of the run; tests must leave its configuration as it was."""
    if JAVA.exists():
        os.environ.setdefault("JAVA_HOME", JAVA.read_text().strip())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark's workers need this environment too
    os.environ.setdefault("LC_ALL", "C.UTF-8")  # Java names files in the encoding of the locale
    connect = bool(os.environ.get(ON_CONNECT))
    builder = SparkSession.builder.remote("local[2]") if connect else SparkSession.builder.master("local[2]")
    values = {**_SMALL, "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse"))}
    for name, value in values.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a server takes some of these only when it starts, and so it did
        session = builder.appName("headgate-tests").getOrCreate()
    yield session
    session.stop()
