"""Rows that take their time or fail, without Python on executors, and what their jobs leave on disk."""

from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headgate import Lake, Table
from tests.spark.cluster.operations import Rows
from tests.support.changed_tables import files, on_disk
from tests.support.cluster import WORKER
from tests.support.waiting import until

_HALF_WRITTEN = "**/_temporary/**/*.parquet"
_AT_FIRST = "CASE WHEN id % 10 = 7 AND {first} THEN raise_error('the first attempt') ELSE '' END"
_FIRST = "reflect('java.lang.System', 'setProperty', concat('{mark}', spark_partition_id()), 'x') = 'null'"


def pause(milliseconds: int) -> str:
    """Nothing, after a while."""
    return f"left(reflect('java.lang.Thread', 'sleep', {milliseconds}L), 0)"


def pause_on_worker(number: int, milliseconds: int) -> str:
    """Nothing, on one worker after a while."""
    here = f"reflect('java.lang.System', 'getenv', '{WORKER}') = '{number}'"
    return f"CASE WHEN {here} THEN {pause(milliseconds)} ELSE '' END"


def fail_at_first(mark: str) -> str:
    """Nothing, but an error in each executor's first attempt at each task, some rows into it."""
    return _AT_FIRST.format(first=_FIRST.format(mark=mark))


def numbers(spark: SparkSession, start: int, stop: int, also: str, *, tasks: int = 4) -> DataFrame:
    """Rows ``v<id>``, each after ``also`` has been computed."""
    rows = spark.range(start, stop, 1, tasks)
    return rows.selectExpr("id", "CAST(id % 3 AS INT) AS p", f"concat('v', id, {also}) AS v")


def rows(start: int, stop: int) -> Rows:
    """What ``numbers`` are."""
    return {key: f"v{key}" for key in range(start, stop)}


def half_written(table: Table) -> list[Path]:
    """The files of tasks that are not finished."""
    return list(Path(table.location).glob(_HALF_WRITTEN))


def wait_for_files(table: Table, job: Future[object], pattern: str = _HALF_WRITTEN) -> None:
    """Return as soon as a task of the job writes rows, or has files of another pattern."""
    there = Path(table.location)
    until(lambda: job.done() or any(there.glob(pattern)))
    assert not job.done(), job.result()


def check_leftovers(lake: Lake, table: Table) -> None:
    """VACUUM deletes whatever no version needs, and then every file there is belongs to the table."""
    lake.permit(table.name, "data cleanup")
    table.vacuum(timedelta(0), enforce_retention=False)
    needed = {path for path in on_disk(table) if not path.startswith("_delta_log/")}
    assert needed == set(files(table))
    (report,) = lake.check(table.name)
    assert report.is_clean, report.findings
