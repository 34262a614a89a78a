"""A walk through all that a lake does for its users, for lakes over any catalog."""

import pytest
from pyspark.sql import DataFrame, SparkSession

from headgate import Lake, Table
from headgate.errors import TableNotFound

COLUMNS = "id long, item string"


def rows(spark: SparkSession, *found: tuple[int, str]) -> DataFrame:
    return spark.createDataFrame(list(found), COLUMNS)


def ids(table: Table, spark: SparkSession, *, version: int | None = None) -> list[int]:
    return sorted(row.id for row in table.read(spark=spark, version=version).collect())


def assert_lake_works(lake: Lake, spark: SparkSession) -> None:
    """Made, written, read, changed, committed to together, listed, dropped and brought back."""
    orders, lines = lake.create_table("s.orders", COLUMNS), lake.create_table("s.lines", COLUMNS)
    orders.append(rows(spark, (1, "a"), (2, "b")))
    assert ids(lake.table("s.orders"), spark) == [1, 2]

    with lake.transaction() as tx:
        tx.table("s.orders").append(rows(spark, (3, "c")))
        tx.table("s.lines").append(rows(spark, (30, "c")))
    assert (ids(orders, spark), ids(lines, spark)) == ([1, 2, 3], [30])

    orders.delete("id = 2")
    orders.publish()
    assert ids(orders, spark) == [1, 3]
    assert ids(orders, spark, version=1) == [1, 2]
    assert [report.findings for report in lake.check()] == [(), ()]
    assert lake.worker().run_once(dry_run=True) is not None
    assert {event.table for event in lake.events()} == {"s.orders", "s.lines"}

    lake.drop_table("s.orders")
    assert [str(entry.name) for entry in lake.tables()] == ["s.lines"]
    with pytest.raises(TableNotFound):
        lake.table("s.orders")
    lake.undrop("s.orders")
    assert ids(lake.table("s.orders"), spark) == [1, 3]
