"""A lake over a catalog that knows no database: nothing above the catalog can tell the difference."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Lake
from headgate.catalog.targets import CatalogTarget
from headgate.errors import InvalidRequest, TableNotFound
from headgate.plugins import catalogs
from tests.support.minimal_catalog import MinimalCatalog

pytestmark = pytest.mark.spark

COLUMNS = "id long, item string"


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    """A lake at an address that this program has an opener for."""

    def opened(target: CatalogTarget) -> MinimalCatalog:
        assert target.place == "minimal://here"
        return MinimalCatalog(str(tmp_path / "warehouse"))

    catalogs.register("minimal", opened)
    try:
        with headgate.connect("minimal://here") as found:
            found.create_schema("s")
            yield found
    finally:
        catalogs.unregister("minimal")


def rows(spark: SparkSession, *found: tuple[int, str]) -> DataFrame:
    return spark.createDataFrame(list(found), COLUMNS)


def ids(table: headgate.Table, spark: SparkSession) -> list[int]:
    return sorted(row.id for row in table.read(spark=spark).collect())


def test_a_lake_works_with_any_catalog(lake: Lake, spark: SparkSession) -> None:
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
    assert ids_at(orders, spark, 1) == [1, 2]
    assert [report.findings for report in lake.check()] == [(), ()]
    assert lake.worker().run_once(dry_run=True) is not None
    assert {event.table for event in lake.events()} == {"s.orders", "s.lines"}

    lake.drop_table("s.orders")
    assert [str(entry.name) for entry in lake.tables()] == ["s.lines"]
    with pytest.raises(TableNotFound):
        lake.table("s.orders")
    lake.undrop("s.orders")
    assert ids(lake.table("s.orders"), spark) == [1, 3]


def test_a_transaction_over_two_tables_is_all_or_nothing(lake: Lake, spark: SparkSession) -> None:
    for name in ("s.one", "s.two"):
        lake.create_table(name, COLUMNS)

    class Changed(Exception):
        pass

    with pytest.raises(Changed), lake.transaction() as tx:
        tx.table("s.one").append(rows(spark, (1, "a")))
        raise Changed

    assert ids(lake.table("s.one"), spark) == ids(lake.table("s.two"), spark) == []


def test_an_address_that_nobody_opens_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="not elsewhere://"):
        headgate.connect("elsewhere://here")


def ids_at(table: headgate.Table, spark: SparkSession, version: int) -> list[int]:
    return sorted(row.id for row in table.read(spark=spark, version=version).collect())
