"""The Spark session of the commands that need one: small, local, and quiet."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest

_QUIET = """\
status = error
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
# Spark announces that it changes the log level unless its gateway has the root's.
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""
_SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # a JVM of a minute earns no optimiser
_CONFIGURATION = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
}


@contextmanager
def local_session(java_options: str = _SHORT_LIVED) -> Iterator[SparkSession]:
    """A session on this machine, stopped afterwards."""
    with tempfile.TemporaryDirectory(prefix="headgate-") as scratch:
        spark = _start(Path(scratch), java_options)
        try:
            yield spark
        finally:
            spark.stop()


@contextmanager
def lazy_session() -> Iterator[Callable[[], SparkSession]]:
    """What gives a session on this machine, started by the first who asks and stopped when all are done."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(local_session(java_options="")))


def _start(scratch: Path, java_options: str) -> SparkSession:
    quiet, said = scratch / "log4j2.properties", scratch / "spark.log"
    quiet.write_text(_QUIET)
    builder = SparkSession.builder.master("local[*]").appName("headgate")
    for key, value in _CONFIGURATION.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
    options = f"{java_options} -Dlog4j2.configurationFile={quiet.as_uri()}"
    builder = builder.config("spark.driver.extraJavaOptions", options)
    try:
        with _stderr_into(said):
            return builder.getOrCreate()
    except (PySparkException, OSError) as exc:
        raise InvalidRequest(
            "Spark did not start; it needs Java 17 or newer, on the PATH or where JAVA_HOME says: "
            + (said.read_text(errors="replace").strip() or str(exc)),
            code="HEADGATE_SPARK_DID_NOT_START",
        ) from exc


@contextmanager
def _stderr_into(path: Path) -> Iterator[None]:
    """Send the file descriptor elsewhere: Java's first words go past any logger."""
    kept = os.dup(2)
    try:
        with path.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
