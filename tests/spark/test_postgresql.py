"""A lake on PostgreSQL, used as anybody would."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from tests.support import postgresql


@pytest.mark.spark
def test_what_one_appends_another_reads(spark: SparkSession, tmp_path: Path) -> None:
    server = postgresql.server()
    with server.database() as name:
        url = server.url(name)
        with headgate.connect(url, warehouse=tmp_path / "warehouse") as ours, headgate.connect(url) as theirs:
            ours.create_schema("sales")
            orders = ours.create_table("sales.orders", "id BIGINT")
            orders.append(spark.range(3))
            seen = theirs.table("sales.orders")
            seen.append(spark.range(3, 5))

            rows = [row["id"] for row in orders.read(spark=spark).orderBy("id").collect()]
            versions = [row["version"] for row in seen.history().collect()]

    assert rows == [0, 1, 2, 3, 4]
    assert versions == [2, 1, 0]
