"""One JVM with Spark for many programs, one after the other: each may be killed, and the next goes on in it.

A program of Python that dies takes its lake, its sources and its sinks with it, and the query that asked it
ends; what stays is a warm JVM, so the next program begins in a moment.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tests.conftest import JAVA
from tests.support import waiting
from tests.support.streams import _session

_MOST_PROXIES = 100_000


@dataclass(frozen=True)
class SparkAddress:
    """How a program of this machine joins a JVM."""

    port: int
    secret: str


class SharedSpark:
    """A JVM, until it is closed."""

    def __init__(self) -> None:
        java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
        self._host = subprocess.Popen(
            [sys.executable, "-m", "tests.support.shared_spark"],
            cwd=Path(__file__).parents[2],
            env={**java, **os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        assert self._host.stdout is not None
        self.address = SparkAddress(**json.loads(self._host.stdout.readline()))

    def close(self) -> None:
        """The JVM ends with the program that began it."""
        self._host.communicate()


def join(address: SparkAddress, number: int) -> SparkSession:
    """The session of a JVM, once no query of an earlier program runs in it; ``number`` is nobody else's."""
    os.environ |= {"PYSPARK_GATEWAY_PORT": str(address.port), "PYSPARK_GATEWAY_SECRET": address.secret}
    gateway: Any = launch_gateway()
    # The JVM tells of objects that it needs no longer by their numbers, and means those of dead programs too.
    gateway.gateway_property.pool.next_id = number * _MOST_PROXIES
    scala = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    java = gateway.jvm.org.apache.spark.api.java.JavaSparkContext(scala)
    context = SparkContext(gateway=gateway, jsc=java, conf=SparkConf(_jconf=java.getConf()))
    session = SparkSession(context)
    waiting.until(lambda: not session._jsparkSession.streams().active())
    return session


def _main() -> None:
    gateway = _session().sparkContext._gateway
    assert gateway is not None
    parameters = gateway.gateway_parameters
    print(json.dumps({"port": parameters.port, "secret": parameters.auth_token}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _main()
