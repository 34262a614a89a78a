"""Rows go into tables whose properties ask more of their writers, and others read them."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.protocol import vectors
from headgate.protocol.vectors import DeletedRows
from tests.support import duck
from tests.support.handmade import column, data_file, write_log

pytestmark = pytest.mark.spark

ASKED = {
    "delta.enableDeletionVectors": "true",
    "delta.enableRowTracking": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.enableTypeWidening": "true",
    "delta.checkpointPolicy": "v2",
    "delta.checkpointInterval": "2",
}


def by_duckdb(path: Path) -> list[int]:
    with duck.connect() as connection:
        return [
            row[0] for row in connection.sql(f"SELECT id FROM delta_scan('{path}') ORDER BY id").fetchall()
        ]


@pytest.mark.parametrize("managed", [True, False], ids=["managed", "by path"])
def test_a_table_that_asks_for_much_is_written(spark: SparkSession, tmp_path: Path, managed: bool) -> None:
    if managed:
        lake = headgate.connect(tmp_path / "lake")
        lake.create_schema("s")
        table = lake.create_table("s.t", "id BIGINT", properties=ASKED)
    else:
        table = headgate.at_path(tmp_path / "t", columns="id BIGINT", properties=ASKED)

    table.append(spark.range(3))
    table.overwrite(spark.range(10, 14))
    table.append(spark.range(20, 21))
    version = table.set_properties({"delta.enableChangeDataFeed": "false", "owner": "sales"})

    assert version == 4
    assert table.properties().items() >= {**ASKED, "delta.enableChangeDataFeed": "false"}.items()
    found = table.read(row_ids=True).orderBy("id").collect()
    assert [row.id for row in found] == [10, 11, 12, 13, 20]
    assert len({row._row_id for row in found}) == 5
    table.checkpoint()
    if not managed:
        assert by_duckdb(tmp_path / "t") == [10, 11, 12, 13, 20]


def test_rows_of_a_table_with_deletion_vectors_are_added_to_and_replaced(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = pa.table({"id": pa.array(range(5), pa.int64())})
    deleted = vectors.inline(DeletedRows.of([1, 3]))
    add = data_file(tmp_path, "a.parquet", rows, vector=deleted, stats='{"numRecords":5,"tightBounds":false}')
    write_log(tmp_path, [column("id", "long")], [add], features=["deletionVectors"],
              delta_enableDeletionVectors="true")  # fmt: skip
    table = headgate.at_path(tmp_path)

    table.append(spark.range(10, 12))
    assert (
        by_duckdb(tmp_path) == [row.id for row in table.read().orderBy("id").collect()] == [0, 2, 4, 10, 11]
    )

    table.overwrite(spark.range(7, 8))
    assert by_duckdb(tmp_path) == [7]
    assert table.read(version=1).count() == 5
