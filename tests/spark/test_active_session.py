"""What Headgate does in a function of foreachBatch leaves the active session what it was."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate

pytestmark = pytest.mark.spark


def test_a_batch_that_asks_for_a_history_does_not_make_its_session_everybodys(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Frames of few rows are made by createDataFrame, which would."""
    table = headgate.at_path(tmp_path / "table", columns="id BIGINT")
    sessions: list[bool] = []

    def look(batch: DataFrame, _: int) -> None:
        sessions.append(batch.sparkSession is spark)
        assert table.history(spark=batch.sparkSession).count() == 1

    before = SparkSession.active()
    stream = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    query = stream.writeStream.foreachBatch(look).option("checkpointLocation", str(tmp_path / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()

    assert sessions
    assert not any(sessions)
    assert SparkSession.active() is before
