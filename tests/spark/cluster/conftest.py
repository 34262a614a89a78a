"""A session on a standalone cluster, in a process of its own: ``make cluster``."""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.conftest import JAVA, ON_CLUSTER
from tests.support import cluster as clusters
from tests.support.cluster import Cluster

collect_ignore_glob = [] if os.environ.get(ON_CLUSTER) else ["test_*.py"]

_SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "2s",
    "spark.speculation.quantile": "0.5",
}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if JAVA.exists():
        os.environ.setdefault("JAVA_HOME", JAVA.read_text().strip())
    with clusters.a_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="session")
def spark(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = clusters.connect(cluster, tmp_path_factory.mktemp("spark-warehouse"), _SPECULATION)
    yield session
    session.stop()
