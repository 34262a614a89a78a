"""Whoever streams into a table and is killed, at any moment and again and again, writes each batch once."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructType

import headgate
from headgate import identity_column
from headgate.errors import TableNotFound
from tests.spark.cluster.operations import check_numbers
from tests.support import postgresql, streams

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0")) // 20
BATCHES, ROWS = 6, 50

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not ROUNDS, reason="takes minutes: make chaos"),
]


@contextmanager
def a_lake(kind: str, folder: Path) -> Iterator[Path | str]:
    """What to connect to: a folder, or a database that knows its warehouse."""
    if kind == "sqlite":
        yield folder / "lake"
        return
    server = postgresql.server()
    with server.database() as name:
        url = server.url(name)
        headgate.connect(url, warehouse=folder / "warehouse").close()
        yield url


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_again_and_again_a_stream_writes_each_batch_once(
    spark: SparkSession, tmp_path: Path, seed: int, kind: str
) -> None:
    """And the rows have numbers of their own, if the table gives them any."""
    chance, checkpoint = random.Random(seed), tmp_path / "c"
    batches = [streams.ids(start, start + ROWS) for start in range(0, BATCHES * ROWS, ROWS)]
    source = streams.feed(tmp_path / "source", *batches)
    numbered = chance.random() < 0.5  # else the first batch makes the table
    with a_lake(kind, tmp_path) as lake:
        _prepare(lake, numbered=numbered)
        for number in sorted(chance.choices(range(BATCHES), k=2)):
            point = chance.choice([streams.BEFORE, streams.AFTER])
            if number >= _next(lake):
                streams.run_and_die(lake, source, checkpoint, point, number)
                assert _next(lake) == number + (point == streams.AFTER)
        streams.run_and_kill(lake, source, checkpoint, after_s=chance.uniform(2, 12))
        with headgate.connect(lake) as opened:
            stream = streams.of(spark, source)
            query = opened.write_stream(stream, "s.t", checkpoint=checkpoint, available_now=True)
            query.awaitTermination()

            table = opened.table("s.t")
            assert sorted(row["id"] for row in table.read().collect()) == list(range(BATCHES * ROWS))
            written = [entry for entry in table.log.history() if entry.info.operation == "STREAMING UPDATE"]
            epochs = [entry.info.operation_parameters["epochId"] for entry in written]  # type: ignore[index]
            assert epochs == [str(number) for number in reversed(range(BATCHES))]
            if numbered:
                check_numbers(table, spark)
            (report,) = opened.check("s.t")
            assert report.is_clean


def _prepare(lake: Path | str, *, numbered: bool) -> None:
    with headgate.connect(lake) as opened:
        opened.create_schema("s")
        if numbered:
            columns = StructType().add("id", LongType()).add("writer", StringType())
            opened.create_table("s.t", columns.add(identity_column("n")))


def _next(lake: Path | str) -> int:
    """The number of the first batch that the table has not."""
    with headgate.connect(lake) as opened:
        try:
            txns = opened.table("s.t").log.snapshot().state.txns.values()
        except TableNotFound:
            return 0
        return max((txn.version + 1 for txn in txns), default=0)
