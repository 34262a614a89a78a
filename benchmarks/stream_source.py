"""A table as a stream, beside a batch scan of the same rows; both go to Spark's sink that keeps nothing.

The stream takes all files in one batch. It pays for a checkpoint and a query that starts and ends; what that
takes of Spark alone, a stream of its own out of an empty folder tells. Beside other work the CPU time of the
tasks is the better measure.
"""

import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks import pairs, scan
from benchmarks.report import Result
from benchmarks.task_cpu import TaskCpu
from headgate import Table


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, files, rounds = (2_000, 2, 1) if quick else (24_000_000, 20, 3)
    spark = scan.session()
    try:
        table = scan.write_table(spark, place / "rows", rows, files)
        stream, batch = TaskCpu(spark, lambda: _stream(table, place)), TaskCpu(spark, lambda: _batch(table))
        found = pairs.compare(stream, batch, rounds, warm_up=1, control=not quick)
        idle = min(_idle(table, place) for _ in range(rounds))
        yield found.result(
            "stream of a table",
            f"{rows:,} rows in {files} files",
            f"CPU of the tasks: {stream.middle:.2f} s, of a batch {batch.middle:.2f} s, "
            f"{batch.middle / stream.middle:.2f}×",
            f"Spark's own stream out of an empty folder: {idle:.2f} s",
            peer_name="batch",
        )
    finally:
        spark.stop()


def _stream(table: Table, place: Path) -> None:
    _run(table.read_stream(max_files_per_trigger=1_000_000), place)


def _idle(table: Table, place: Path) -> float:
    """The seconds of a query of Spark's own that has nothing to read."""
    empty = place / "empty"
    empty.mkdir(exist_ok=True)
    rows = table.read()
    began = time.perf_counter()
    _run(rows.sparkSession.readStream.schema(rows.schema).parquet(str(empty)), place)
    return time.perf_counter() - began


def _run(stream: DataFrame, place: Path) -> None:
    checkpoint = str(place / uuid.uuid4().hex)
    query = stream.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()


def _batch(table: Table) -> None:
    table.read().write.format("noop").mode("overwrite").save()
