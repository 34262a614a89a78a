"""What tests with other engines share: Delta Spark, started when a test first asks for it."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.support import delta_spark
from tests.support.delta_spark import DeltaSpark

FULL_LENGTH = "HEADGATE_TESTS_REFEREE"
CHOSEN = "HEADGATE_TESTS_HISTORIES"
INTERPRETED = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Queries are many, small and all different: to compile one takes longer than to run it."""


@pytest.fixture(scope="session")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeltaSpark]:
    asked = any(os.environ.get(name) for name in (FULL_LENGTH, CHOSEN))
    with delta_spark.started(tmp_path_factory.mktemp("delta-spark"), long=asked) as peer:
        yield peer


@pytest.fixture(scope="module")
def interpreting(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, which compiles nothing while it is with the tests of a file."""
    before = {key: spark.conf.get(key) for key in INTERPRETED}
    for key, value in INTERPRETED.items():
        spark.conf.set(key, value)
    yield spark
    for key, old in before.items():
        spark.conf.set(key, str(old))
