"""Clients of Spark Connect that are interrupted or killed: what they were at happens once, or not at all."""

import os
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headgate import Lake
from tests.chaos import job_kills
from tests.spark.cluster import slow
from tests.spark.cluster.operations import COLUMNS, content, expected

pytestmark = pytest.mark.spark
ROOT = Path(__file__).parents[3]
POINTS = ("writing", "reserved", "before-feed", "before-commit", "group-ratified")


def test_an_interrupted_write_changes_nothing(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", COLUMNS)
    table.append(slow.numbers(spark, 0, 10, "''"))

    with ThreadPoolExecutor(1) as pool:
        job: Future[object] = pool.submit(table.append, slow.numbers(spark, 100, 140, slow.pause(100)))
        slow.wait_for_files(table, job)
        spark.interruptAll()
        with pytest.raises(Exception, match=r"(?i)cancel|interrupt"):
            job.result()

    assert table.version() == 1 and content(table.read()) == expected(slow.rows(0, 10))
    assert table.append(slow.numbers(spark, 100, 140, "''")) == 2
    slow.check_leftovers(lake, table)


def test_a_client_killed_between_its_jobs_and_its_commit(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing of it is there or all of it, and the next one can do it; ``make chaos`` has more points."""
    points = [job_kills.POINTS[name] for name in POINTS]
    for name in POINTS:
        job_kills.prepare(spark, tmp_path / name)
    token = os.environ.get("SPARK_CONNECT_AUTHENTICATE_TOKEN")
    session = f"sc://{spark.client._builder.endpoint}/" + (f";token={token}" if token else "")
    own = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_REMOTE"}

    ended = subprocess.run(
        [sys.executable, "-m", "tests.chaos.job_kills", session, str(tmp_path), *POINTS],
        cwd=ROOT,
        env=own,
        capture_output=True,
        text=True,
        check=True,
    )

    assert dict(line.split() for line in ended.stdout.splitlines()) == dict.fromkeys(POINTS, "-9"), (
        ended.stderr[-5_000:]
    )
    for point in points:
        job_kills.await_jobs(tmp_path / point.name)
        job_kills.judge(spark, tmp_path / point.name, point)
