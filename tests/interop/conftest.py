"""What tests with other engines share: Delta Spark, started when a test first asks for it."""

from collections.abc import Iterator

import pytest

from tests.support import delta_spark
from tests.support.delta_spark import DeltaSpark


@pytest.fixture(scope="session")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeltaSpark]:
    with delta_spark.started(tmp_path_factory.mktemp("delta-spark")) as peer:
        yield peer
