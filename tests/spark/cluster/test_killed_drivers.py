"""A driver that is killed while the executors of a cluster write rows for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.chaos import job_kills
from tests.support import cluster as clusters
from tests.support.cluster import Cluster
from tests.support.waiting import until

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]
ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))


@pytest.mark.skipif(not ROUNDS, reason="only with HEADGATE_CHAOS_ROUNDS, which make chaos sets")
def test_a_driver_killed_while_executors_write(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    """Nothing of it is there, nothing is locked, and what its tasks left is deleted by VACUUM."""
    clusters.settled(cluster, spark)
    job_kills.prepare(spark, tmp_path / "writing")
    cluster.start_worker(2)  # the others are busy with the session of these tests

    ended = subprocess.run(
        [sys.executable, "-m", "tests.chaos.job_kills", cluster.url, str(tmp_path), "writing"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.split() == ["writing", "-9"], ended.stderr[-5_000:]
    until(lambda: not cluster.executors(2))
    cluster.kill_worker(2)
    assert job_kills.half_written(tmp_path / "writing")
    job_kills.judge(spark, tmp_path / "writing", job_kills.POINTS["writing"])
