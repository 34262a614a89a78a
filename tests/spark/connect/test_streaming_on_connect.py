"""Streams into tables on Spark Connect, where the batches are written by a process of the server."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate.errors import InvalidRequest, SchemaMismatch
from tests.support import streams

pytestmark = pytest.mark.spark


def ended(start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """The query, once it is over; Spark gives the process ten seconds to begin, and a busy machine more."""
    for _ in range(3):
        try:
            query = start()
        except PySparkException as exc:
            if "failed to connect back" not in str(exc):
                raise
        else:
            query.awaitTermination()
            return query
    pytest.skip("the machine is too busy for the process that writes batches to begin in time")


def test_the_server_writes_each_batch_once(spark: SparkSession, tmp_path: Path) -> None:
    source = streams.feed(tmp_path / "source", streams.ids(0, 4), streams.ids(4, 6))
    stream = streams.of(spark, source)
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("s")

        def start() -> StreamingQuery:
            return lake.write_stream(stream, "s.new", checkpoint=tmp_path / "c", available_now=True)

        query = ended(start)
        streams.forget(tmp_path / "c", 1)
        streams.feed(source, streams.ids(6, 8))
        assert ended(start).id == query.id

        table = lake.table("s.new")
        assert sorted(row["id"] for row in table.read().collect()) == list(range(8))
        assert table.version() == 2 and table.log.snapshot().state.txns[query.id].version == 2
        with pytest.raises(SchemaMismatch, match="'note' is not in the table"):
            table.write_stream(stream.selectExpr("id", "'x' AS note"), checkpoint=tmp_path / "d")


def test_a_batch_does_not_know_its_query_and_wants_a_name(spark: SparkSession, tmp_path: Path) -> None:
    """The process of the server unpickles the writer and calls it; here this process does."""
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    nameless, named = (
        pickle.loads(pickle.dumps(writer))
        for writer in (table.batch_writer(), table.batch_writer(app_id="load"))
    )

    with pytest.raises(InvalidRequest, match="give the writer an app_id"):
        nameless(spark.range(4), 0)
    with pytest.raises(InvalidRequest, match="Spark Connect"):
        headgate.query_id(spark.range(4))
    for _ in range(2):
        named(spark.range(4), 0)

    assert table.version() == 1 and table.read().count() == 4
    assert table.log.snapshot().state.txns["load"].version == 0
