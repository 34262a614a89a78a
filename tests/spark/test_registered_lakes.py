"""A session knows the lakes that are registered with it; so do sessions that Spark clones from it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.catalog.ports.directory import TableName
from headgate.errors import InvalidRequest
from headgate.lake.lake import Lake
from headgate.registration.registered_lakes import find_lake, registered_lakes

pytestmark = pytest.mark.spark


@pytest.fixture
def lake(tmp_path: Path, spark: SparkSession) -> Iterator[Lake]:
    with headgate.connect(tmp_path / "lake") as opened:
        opened.create_schema("sales")
        yield opened
        opened.unregister(spark)


def test_a_table_is_found_by_two_and_by_three_names(lake: Lake, spark: SparkSession) -> None:
    lake.register(spark)

    for parts in (
        ("sales", "orders"),
        ("SALES", "orders"),
        ("main", "sales", "orders"),
        ("Main", "sales", "orders"),
    ):
        found = find_lake(spark, parts)
        assert found is not None
        assert found.lake is lake
        assert found.name == TableName(*parts[-2:])


@pytest.mark.parametrize(
    "parts", [("orders",), ("default", "orders"), ("other", "sales", "orders"), ("a", "b", "c", "d")]
)
def test_what_is_no_lakes_is_sparks(lake: Lake, spark: SparkSession, parts: tuple[str, ...]) -> None:
    lake.register(spark)

    assert find_lake(spark, parts) is None


def test_a_cloned_session_knows_the_lake_and_a_new_one_does_not(lake: Lake, spark: SparkSession) -> None:
    lake.register(spark, "shop")
    cloned = SparkSession(spark.sparkContext, spark._jsparkSession.cloneSession())

    assert dict(registered_lakes(cloned)) == {"shop": lake}
    assert registered_lakes(spark.newSession()) == {}


def test_of_two_lakes_with_a_schema_the_first_has_it(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    with headgate.connect(tmp_path / "archive") as archive:
        archive.create_schema("sales")
        archive.create_schema("old")
        lake.register(spark)
        archive.register(spark, "archive")

        owners = [
            find_lake(spark, parts) for parts in (("sales", "t"), ("old", "t"), ("archive", "sales", "t"))
        ]
        assert [each.lake for each in owners if each] == [lake, archive, archive]
        archive.unregister(spark)
        assert find_lake(spark, ("old", "t")) is None


def test_a_lake_has_one_name_at_a_time(lake: Lake, spark: SparkSession) -> None:
    lake.register(spark)
    lake.register(spark, "other")

    assert list(registered_lakes(spark)) == ["other"]


def test_a_name_that_sql_could_not_say_is_refused(lake: Lake, spark: SparkSession) -> None:
    with pytest.raises(InvalidRequest, match="cannot be the name of a lake"):
        lake.register(spark, "a lake")


def test_schemas_and_tables_can_be_asked_for(lake: Lake) -> None:
    lake.create_schema("empty")
    lake.create_table("sales.orders", "id BIGINT")

    assert lake.schemas() == ("empty", "sales")
    assert lake.table_exists("sales.orders")
    assert not lake.table_exists("sales.nothing")
    assert not lake.table_exists("nowhere.orders")
    assert lake.drop_schema("empty")
    assert not lake.drop_schema("empty")
