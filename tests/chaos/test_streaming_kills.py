"""Whoever streams into a table and is killed, at any moment and again and again, writes each batch once."""

import os
import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import TableNotFound
from tests.support import streams

ROUNDS = int(os.environ.get("HEADGATE_CHAOS_ROUNDS", "0")) // 20
BATCHES, ROWS = 6, 50

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(not ROUNDS, reason="takes minutes: make chaos"),
]


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_again_and_again_a_stream_writes_each_batch_once(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    chance, lake, checkpoint = random.Random(seed), tmp_path / "lake", tmp_path / "c"
    batches = [streams.ids(start, start + ROWS) for start in range(0, BATCHES * ROWS, ROWS)]
    source = streams.feed(tmp_path / "source", *batches)
    with headgate.connect(lake) as opened:
        opened.create_schema("s")
        if chance.random() < 0.5:  # else the first batch makes it
            opened.create_table("s.t", streams.IDS)

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
        (report,) = opened.check("s.t")
        assert report.is_clean


def _next(lake: Path) -> int:
    """The number of the first batch that the table has not."""
    with headgate.connect(lake) as opened:
        try:
            txns = opened.table("s.t").log.snapshot().state.txns.values()
        except TableNotFound:
            return 0
        return max((txn.version + 1 for txn in txns), default=0)
