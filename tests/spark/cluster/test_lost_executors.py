"""Workers die, tasks fail and jobs are cancelled: what was asked for happens once, or not at all."""

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import InvalidRequest
from headgate.spark.dml import rewrite
from tests.spark.cluster import slow
from tests.spark.cluster.operations import COLUMNS, MERGED, Rows, content, expected
from tests.spark.cluster.slow import numbers, pause, pause_on_worker
from tests.support import cluster as clusters
from tests.support.changed_tables import FEED, VECTORS
from tests.support.cluster import Cluster

pytestmark = pytest.mark.spark


@pytest.fixture
def table(lake: Lake, cluster: Cluster, spark: SparkSession) -> Table:
    """Ids 0 to 39."""
    clusters.settled(cluster, spark)
    made = lake.create_table("s.t", COLUMNS, properties={**VECTORS, **FEED})
    made.append(numbers(spark, 0, 40, "''"))
    return made


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def check(lake: Lake, table: Table, version: int, rows: Rows) -> None:
    """That the table is at this version, with just these rows; what failed has left nothing for long."""
    assert table.version() == version
    assert content(table.read()) == expected(rows)
    slow.check_leftovers(lake, table)


def test_a_worker_dies_while_rows_are_written(
    spark: SparkSession, cluster: Cluster, lake: Lake, table: Table, background: ThreadPoolExecutor
) -> None:
    """The other worker does its tasks again; what a task has finished waits until all are done."""
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("mapreduce.fileoutputcommitter.algorithm.version", "2")
    job: Future[object] = background.submit(table.append, numbers(spark, 100, 140, pause(60)))
    try:
        slow.wait_for_files(table, job, pattern="*/_temporary/0/task_*/*.parquet")
        cluster.kill_worker(0)

        assert job.result() == 2
        check(lake, table, 2, slow.rows(0, 40) | slow.rows(100, 140))
    finally:
        hadoop.unset("mapreduce.fileoutputcommitter.algorithm.version")
        job.exception()
        if 0 not in cluster.workers:
            cluster.start_worker(0)


def test_executors_die_with_rows_that_a_merge_had_computed(
    spark: SparkSession, cluster: Cluster, lake: Lake, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement starts over, inside a transaction too, and is told as one change."""
    carry_out, calls = rewrite.write_rewrite, []

    def without_executors(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 1:
            assert [cluster.kill_executors(number) for number in cluster.workers] == [1, 1]
        return carry_out(*given)

    monkeypatch.setattr(rewrite, "write_rewrite", without_executors)
    other = lake.create_table("s.other", COLUMNS)

    with lake.transaction() as tx:
        MERGED.run(tx.table("s.t"), spark)
        tx.table("s.other").append(tx.table("s.t").read(spark=spark))

    assert len(calls) == 2
    merged = MERGED.model(slow.rows(0, 40))
    check(lake, other, 1, merged)
    assert table.version() == 2 and content(table.read()) == expected(merged)
    kinds = [row["_change_type"] for row in table.changes(2, spark=spark).toArrow().to_pylist()]
    assert sorted(kinds) == sorted(
        ["delete"] * 2 + ["update_preimage", "update_postimage"] * 8 + ["insert"] * 10
    )


def test_tasks_that_fail_at_first_leave_no_row_twice(spark: SparkSession, lake: Lake, table: Table) -> None:
    table.append(numbers(spark, 100, 140, slow.fail_at_first("append")))
    again = slow.fail_at_first("update")
    table.update({"v": f"concat('w', id, {again})"}, "id < 10", spark=spark)

    changed = {key: f"w{key}" for key in range(10)}
    assert content(table.read()) == expected(slow.rows(0, 40) | slow.rows(100, 140) | changed)
    assert table.version() == 3


def test_tasks_that_always_fail_change_nothing(spark: SparkSession, lake: Lake, table: Table) -> None:
    bad = "CASE WHEN id = 137 THEN raise_error('never') ELSE '' END"

    for write in (table.append, table.overwrite):
        with pytest.raises(Exception, match="never"):
            write(numbers(spark, 100, 140, bad))
    with pytest.raises(Exception, match="never"), lake.transaction() as tx:
        tx.table("s.t").delete("id = 1", spark=spark)
        tx.table("s.t").append(numbers(spark, 100, 140, bad))

    check(lake, table, 1, slow.rows(0, 40))
    assert table.append(numbers(spark, 100, 140, "''")) == 2


def test_a_cancelled_job_changes_nothing(
    spark: SparkSession, lake: Lake, table: Table, background: ThreadPoolExecutor
) -> None:
    job: Future[object] = background.submit(table.append, numbers(spark, 100, 140, pause(200)))
    slow.wait_for_files(table, job)
    spark.sparkContext.cancelAllJobs()

    with pytest.raises(Exception, match="cancel"):
        job.result()
    check(lake, table, 1, slow.rows(0, 40))
    assert table.append(numbers(spark, 100, 140, "''")) == 2


def test_a_slow_task_that_is_tried_elsewhere_too_writes_once(
    spark: SparkSession, lake: Lake, table: Table
) -> None:
    """spark.speculation: what one worker takes minutes for, the other does at once."""
    start = time.monotonic()
    table.append(numbers(spark, 100, 104, pause_on_worker(0, 100_000), tasks=2))

    assert time.monotonic() - start < 100
    check(lake, table, 2, slow.rows(0, 40) | slow.rows(100, 104))


def test_rows_that_executors_wrote_elsewhere_are_not_committed(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that means another folder to each process, as a local one does on several machines."""
    of_the_driver = Path.cwd() / "t"  # Spark's, which was started here
    monkeypatch.chdir(tmp_path)
    table = headgate.at_path("/proc/self/cwd/t", columns=COLUMNS)

    try:
        with pytest.raises(InvalidRequest, match=r"written 40 rows into .* from here 0 of them"):
            table.append(numbers(spark, 0, 40, "''"))
    finally:
        shutil.rmtree(of_the_driver, ignore_errors=True)

    assert table.version() == 0
