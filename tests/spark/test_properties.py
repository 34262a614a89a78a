"""Rows go into tables whose properties ask more of their writers, and others read them."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.errors import UnsupportedFeature
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.metadata.reserved_properties import RESERVED_PROPERTIES
from tests.support import duck
from tests.support.handmade import column, data_file, field, mapped, write_log

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
    version = table.set_properties({"delta.enableChangeDataFeed": "false", "team": "sales"})

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
    deleted = deletion_vectors.encode_inline(DeletedRows.from_rows([1, 3]))
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


def test_the_names_that_spark_reserves_are_reserved(spark: SparkSession) -> None:
    """S121"""
    jvm = cast("Any", spark)._jvm
    theirs = jvm.org.apache.spark.sql.connector.catalog.CatalogV2Util.TABLE_RESERVED_PROPERTIES()

    assert {theirs.apply(number) for number in range(theirs.size())} <= {
        "comment",
        *(row.name for row in RESERVED_PROPERTIES),
    }


def as_iceberg(location: Path, *features: str, **properties: str) -> headgate.Table:
    """A table by hand with rows that may widen, as a client writes it whose tables Iceberg reads too."""
    columns = [mapped("n", "integer", 1, "c1"), mapped("price", "decimal(10,2)", 2, "c2")]
    parts = [field("c1", pa.int32(), 1), field("c2", pa.decimal128(10, 2), 2)]
    rows = pa.table({"c1": [1], "c2": [Decimal("1.50")]}, schema=pa.schema(parts))
    add = data_file(location, "a.parquet", rows, stats='{"numRecords":1}')
    configuration = {"delta_columnMapping_mode": "name", "delta_columnMapping_maxColumnId": "2"}
    write_log(location, columns, [add], features=["columnMapping", "typeWidening"], writers=features,
              delta_enableTypeWidening="true", **configuration, **properties)  # fmt: skip
    return headgate.at_path(location)


WIDER = {"n": "DOUBLE", "price": "DECIMAL(12,4)"}


def widenings(spark: SparkSession, table: headgate.Table) -> Iterator[Callable[[], object]]:
    """Each way in which either column gets its wider type."""
    for name, wider in WIDER.items():
        rows = spark.range(1).selectExpr(f"CAST(2 AS {wider}) AS {name}")
        yield partial(table.widen_column, name, wider)
        yield partial(table.append, rows, merge_schema=True)
        yield partial(table.overwrite, rows, merge_schema=True)


@pytest.mark.parametrize("compatibility", ["V1", "V2"])
def test_a_table_that_iceberg_reads_too_keeps_its_types(
    spark: SparkSession, tmp_path: Path, compatibility: str
) -> None:
    """S308: Iceberg knows neither an integer that became a double nor another scale."""
    name = f"icebergCompat{compatibility}"
    table = as_iceberg(
        tmp_path,
        name,
        **{f"delta_enableI{name[1:]}": "true", "delta_universalFormat_enabledFormats": "iceberg"},
    )

    for widen in widenings(spark, table):
        with pytest.raises(UnsupportedFeature, match=name) as caught:
            widen()
        assert caught.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"

    assert headgate.at_path(tmp_path).version() == 0
    assert [path.name for path in (tmp_path / "_delta_log").glob("*.json")] == [f"{0:020d}.json"]
    assert table.read().dtypes == [("n", "int"), ("price", "decimal(10,2)")]
    assert table.read().collect() == [(1, Decimal("1.50"))]


def test_the_same_table_for_itself_widens_them(spark: SparkSession, tmp_path: Path) -> None:
    """S308: so it is Iceberg that they are kept for."""
    table = as_iceberg(tmp_path)

    table.widen_column("n", WIDER["n"])
    table.append(spark.range(1).selectExpr(f"CAST(2 AS {WIDER['price']}) AS price"), merge_schema=True)

    assert table.read().dtypes == [("n", "double"), ("price", "decimal(12,4)")]
