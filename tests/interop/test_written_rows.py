"""Tables whose rows Headgate wrote with Spark: partitions of every type, mapped, evolved, clustered."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import headgate
from headgate import Table
from tests.support import duck

pytestmark = [pytest.mark.interop, pytest.mark.spark]

COLUMNS = (
    "id BIGINT, day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, price DECIMAL(12,4), part STRING, yes BOOLEAN"
)
VALUES = (
    "SELECT id, DATE'2024-02-29' AS day, TIMESTAMP'2024-01-02 03:04:05.678901Z' AS at, "
    "TIMESTAMP_NTZ'2024-01-02 03:04:05.6' AS wall, CAST(0.0001 AS DECIMAL(12,4)) AS price, "
    "CASE id WHEN 0 THEN 'ü/%= +' WHEN 1 THEN '' END AS part, id = 0 AS yes FROM range(3)"
)
ROWS = [
    (
        number, date(2024, 2, 29), datetime(2024, 1, 2, 3, 4, 5, 678901),
        datetime(2024, 1, 2, 3, 4, 5, 600000), Decimal("0.0001"), "ü/%= +" if number == 0 else None,
        number == 0,
    )
    for number in range(3)
]  # fmt: skip
MAPPED = {"delta.columnMapping.mode": "name"}


def partitioned(spark: SparkSession, path: Path, **properties: str) -> Table:
    names = [part.split()[0] for part in COLUMNS.split(", ")[1:]]
    return headgate.at_path(path, columns=COLUMNS, partition_by=names, properties=properties)


def clustered(spark: SparkSession, path: Path, **properties: str) -> Table:
    return headgate.at_path(path, columns=COLUMNS, cluster_by=["day", "id"], properties=properties)


def evolved(spark: SparkSession, path: Path, **properties: str) -> Table:
    asked = {**properties, "delta.feature.timestampNtz": "supported"}
    table = headgate.at_path(path, columns="id BIGINT, gone STRING", properties=asked)
    table.overwrite(spark.sql("SELECT 7L AS id, 'x' AS gone"))
    table.overwrite(spark.sql("SELECT 8L AS id"), overwrite_schema=True)
    table.overwrite(spark.sql(VALUES).limit(0), merge_schema=True)
    return table


KINDS: dict[str, Callable[..., Table]] = {
    "partitioned": partitioned, "clustered": clustered, "evolved": evolved
}  # fmt: skip


@pytest.mark.parametrize("mapped", [False, True], ids=["plain", "mapped"])
@pytest.mark.parametrize("kind", KINDS)
def test_others_read_the_same_rows(spark: SparkSession, tmp_path: Path, kind: str, mapped: bool) -> None:
    table = KINDS[kind](spark, tmp_path / "t", **(MAPPED if mapped else {}))

    table.append(spark.sql(VALUES))

    assert _sorted(table.read().toArrow().to_pylist()) == ROWS
    if not (mapped and kind == "partitioned"):
        assert sorted(by_duckdb(table)) == ROWS
    if not mapped:  # delta-rs does not know column mapping
        assert _sorted(DeltaTable(table.location).to_pyarrow_table().to_pylist()) == ROWS


def test_duckdb_reads_a_mapped_partition_column(spark: SparkSession, tmp_path: Path) -> None:
    """If it is the first column: of others DuckDB takes the value for null, whoever wrote the table."""
    table = headgate.at_path(
        tmp_path / "t", columns="day DATE, id BIGINT", partition_by=["day"], properties=MAPPED
    )

    table.append(spark.sql("SELECT DATE'2024-02-29' AS day, 1L AS id"))

    assert by_duckdb(table) == [(date(2024, 2, 29), 1)]


def by_duckdb(table: Table) -> list[tuple[Any, ...]]:
    with duck.connect() as connection:
        found = connection.sql(f"SELECT * FROM delta_scan('{table.location}')").fetchall()
    return [tuple(map(_without_zone, row)) for row in found]


def _sorted(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(map(_without_zone, row.values())) for row in rows)


def _without_zone(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return None if value == "" else value
