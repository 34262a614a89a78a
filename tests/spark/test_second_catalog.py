"""A lake over a catalog that knows no database: nothing above the catalog can tell the difference."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.catalog.targets import CatalogTarget
from headgate.errors import InvalidRequest
from headgate.plugins import catalogs
from tests.support.lake_walk import COLUMNS, assert_lake_works, ids, rows
from tests.support.minimal_catalog import MinimalCatalog

pytestmark = pytest.mark.spark


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


def test_a_lake_works_with_any_catalog(lake: Lake, spark: SparkSession) -> None:
    assert_lake_works(lake, spark)


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
