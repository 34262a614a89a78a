"""Changes that arrive as files: each batch is merged into the orders."""

from pathlib import Path

from orders import upsert
from pyspark.sql import SparkSession

COLUMNS = "id BIGINT, customer STRING, amount BIGINT"


def follow(spark: SparkSession, arriving: Path, checkpoint: Path) -> None:
    """Merge what has arrived, and end."""
    query = (
        spark.readStream.schema(COLUMNS)
        .json(str(arriving))
        .writeStream.foreachBatch(lambda batch, number: upsert(batch) and None)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
