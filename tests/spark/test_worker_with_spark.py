"""A worker with Spark: the same rows in better files, while others append."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from headgate import Lake, Table, Thresholds, WorkerPolicy
from headgate.spark.optimize import rewrite_files
from headgate.table.maintenance.worker import TaskOutcome, TaskResult

pytestmark = pytest.mark.spark
ORDERED = WorkerPolicy(rearrange=Thresholds(small_files=3, unclustered_share=0.2, deleted_share=0.1))


def made(spark: SparkSession, lake: Lake, **asked: object) -> Table:
    """A table of three files of ten rows."""
    table = lake.create_table("s.t", "id BIGINT", **asked)  # type: ignore[arg-type]
    for start in range(0, 30, 10):
        table.append(spark.range(start, start + 10).coalesce(1))
    lake.permit("s.t", "data reorganisation")
    return table


def ids(table: Table) -> list[int]:
    return sorted(row.id for row in table.read().collect())


def row_work(results: tuple[TaskResult, ...]) -> list[tuple[str, TaskOutcome]]:
    return [
        (result.task, result.outcome) for result in results if result.task in ("optimize", "cluster", "purge")
    ]


def counting(spark: SparkSession) -> tuple[list[int], Callable[[], SparkSession]]:
    """What gives the session, and how often it was asked to."""
    asked: list[int] = []

    def session() -> SparkSession:
        asked.append(1)
        return spark

    return asked, session


def test_files_are_put_together_and_purged_and_then_spark_is_not_asked_for(
    spark: SparkSession, lake: Lake
) -> None:
    table = made(spark, lake, properties={"delta.enableDeletionVectors": "true"})
    asked, session = counting(spark)

    first = lake.worker(ORDERED, spark=session).run_once()
    table.delete("id IN (1, 2, 3, 4)")
    second = lake.worker(ORDERED, spark=session).run_once()
    assert len(asked) == 2
    third = lake.worker(ORDERED, spark=session).run_once()

    assert row_work(first) == [("optimize", TaskOutcome.DONE)]
    assert row_work(second) == [("purge", TaskOutcome.DONE)]
    assert (row_work(third), len(asked)) == ([], 2)
    assert ids(table) == [0, *range(5, 30)]
    assert table.log.snapshot().files.columns["deletion_vector"].null_count == 1


def test_a_clustered_table_is_clustered(spark: SparkSession, lake: Lake) -> None:
    table = made(spark, lake, cluster_by=["id"])

    first = lake.worker(ORDERED, spark=spark).run_once()
    second = lake.worker(ORDERED, spark=spark).run_once()

    assert row_work(first) == [("cluster", TaskOutcome.DONE)]
    assert row_work(second) == []
    assert ids(table) == list(range(30))
    assert [entry.info.operation for entry in table.log.history(limit=1)] == ["OPTIMIZE"]


def test_appends_during_an_optimize_all_land_and_a_dropped_table_is_left_alone(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(spark, lake)
    write = rewrite_files._write

    def meanwhile(act: Callable[[], object]) -> None:
        def then(*asked: object) -> object:
            written = write(*asked)  # type: ignore[arg-type]
            act()
            return written

        monkeypatch.setattr(rewrite_files, "_write", then)

    meanwhile(lambda: table.append(spark.range(100, 110).coalesce(1)))
    assert row_work(lake.worker(ORDERED, spark=spark).run_once()) == [("optimize", TaskOutcome.DONE)]
    assert ids(table) == [*range(30), *range(100, 110)]

    for start in (200, 210):
        table.append(spark.range(start, start + 10).coalesce(1))
    monkeypatch.setattr(rewrite_files, "_write", write)
    before = {entry.path for entry in table.log.store.list_from("") if entry.path.endswith(".parquet")}
    meanwhile(lambda: lake.drop_table("s.t"))
    assert row_work(lake.worker(ORDERED, spark=spark).run_once()) == []
    assert {e.path for e in table.log.store.list_from("") if e.path.endswith(".parquet")} == before
    lake.undrop("s.t")
    assert ids(lake.table("s.t")) == [*range(30), *range(100, 110), *range(200, 220)]


def test_the_command_starts_spark_when_something_is_due(spark: SparkSession, lake: Lake) -> None:
    made(spark, lake)
    lake.permit("s.t", "data reorganisation", thresholds=Thresholds(small_files=3))
    place = str(lake.address.target) if lake.address is not None else ""
    program = "from headgate.cli.main import app; app()"
    ran = [
        subprocess.run(
            [sys.executable, "-c", program, "worker", place, "--once", *flags],
            capture_output=True, text=True, check=False,
        ).stdout
        for flags in ([], ["--spark"], ["--spark"])
    ]  # fmt: skip

    assert "s.t  optimize: left, 3 small files; a worker with --spark does it\n" in ran[0]
    assert "s.t  optimize: done, version 4, 3 files became 1\n" in ran[1]
    assert "optimize" not in ran[2]
    assert ids(lake.table("s.t")) == list(range(30))
