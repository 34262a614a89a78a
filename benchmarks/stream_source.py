"""A table as a stream, beside a batch scan of the same rows; both go to Spark's sink that keeps nothing.

The stream takes all files in one batch. It pays for a checkpoint and a query that starts and ends.
"""

import uuid
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks import pairs, scan
from benchmarks.report import Result
from headgate import Table


def run(place: Path, *, quick: bool) -> Iterator[Result]:
    rows, files, rounds = (2_000, 2, 1) if quick else (8_000_000, 20, 3)
    spark = scan.session()
    try:
        table = scan.write_table(spark, place / "rows", rows, files)
        found = pairs.compare(
            lambda: _stream(table, place), lambda: _batch(table), rounds, warm_up=1, control=not quick
        )
        yield found.result("stream of a table", f"{rows:,} rows in {files} files", peer_name="batch")
    finally:
        spark.stop()


def _stream(table: Table, place: Path) -> None:
    stream: DataFrame = table.read_stream(max_files_per_trigger=1_000_000)
    checkpoint = str(place / uuid.uuid4().hex)
    query = stream.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()


def _batch(table: Table) -> None:
    table.read().write.format("noop").mode("overwrite").save()
