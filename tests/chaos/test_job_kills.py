"""Drivers and executors of Spark killed over and over; the short versions are in ``tests/spark``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.chaos import job_kills
from tests.conftest import JAVA, ON_CLUSTER

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0"))
ROOT = Path(__file__).parents[2]
_PROGRAMS = ("test_killed_drivers.py", "test_random_kills.py")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not ROUNDS, reason="only with HEADGATE_CHAOS_ROUNDS, which make chaos sets"),
]


@pytest.mark.parametrize("point", job_kills.POINTS.values(), ids=job_kills.POINTS.keys())
def test_a_driver_killed_between_its_jobs_and_its_commit(
    spark: SparkSession, tmp_path: Path, point: job_kills.Point
) -> None:
    """A driver of its own each time, with its JVM; starting one takes most of it."""
    for number in range(max(1, ROUNDS // 50)):
        folder = tmp_path / str(number)
        job_kills.prepare(spark, folder / point.name)

        ended = subprocess.run(
            [sys.executable, "-m", "tests.chaos.job_kills", "local[2]", str(folder), point.name],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )

        assert ended.stdout.split() == [point.name, "-9"], ended.stderr[-5_000:]
        job_kills.judge(spark, folder / point.name, point)


def test_drivers_and_executors_of_a_cluster_killed(tmp_path: Path) -> None:
    java = {"JAVA_HOME": JAVA.read_text().strip()} if JAVA.exists() else {}
    programs = [ROOT / "tests" / "spark" / "cluster" / name for name in _PROGRAMS]
    options = ["-q", "-s", "-p", "no:cacheprovider", "--timeout", "0", "--basetemp", str(tmp_path / "run")]

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *map(str, programs)],
        cwd=ROOT,
        env={**java, **os.environ, ON_CLUSTER: "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    print(ran.stdout[-2_000:])
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    assert "0 lost, 0 doubled" in ran.stdout
