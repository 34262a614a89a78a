"""Properties that a Spark session gives to new tables, as Delta's users set them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake
from headgate.errors import InvalidRequest
from headgate.protocol.features.coordinated_commits import CURRENT, SESSION_DEFAULT_PREFIX
from headgate.spark.session import table_defaults

pytestmark = pytest.mark.spark

FEED, VECTORS = "delta.enableChangeDataFeed", "delta.enableDeletionVectors"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, with defaults for tables; afterwards without."""
    spark.conf.set(f"{SESSION_DEFAULT_PREFIX}enableChangeDataFeed", "true")
    spark.conf.set(f"{SESSION_DEFAULT_PREFIX}enableDeletionVectors", "true")
    yield spark
    for name in [name for name in spark.conf.getAll if name.startswith(SESSION_DEFAULT_PREFIX)]:
        spark.conf.unset(name)


def test_a_session_without_defaults_has_none(spark: SparkSession) -> None:
    assert table_defaults.default_properties() == table_defaults.default_properties(spark) == {}


def test_every_way_to_make_a_table_asks_the_session(
    session: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    """S116: and what the maker says wins."""
    rows = session.range(3)
    says = {VECTORS: "false"}
    made = [
        lake.create_table("s.a", "id BIGINT", properties=says),
        lake.write(rows, "s.b", properties=says),
        lake.replace_table("s.c", rows=rows, or_create=True, properties=says),
        headgate.at_path(tmp_path / "d", columns="id BIGINT", properties=says),
        headgate.write_path(rows, tmp_path / "e", properties=says),
    ]
    with lake.transaction() as tx:
        tx.create_table("s.f", "id BIGINT", properties=says)
    rows.coalesce(1).write.parquet(str(tmp_path / "g"))

    for table in (*made, lake.table("s.f")):
        assert {FEED: "true", VECTORS: "false"}.items() <= dict(table.properties()).items()
    assert headgate.convert(tmp_path / "g").properties() == {FEED: "true", VECTORS: "true"}
    assert lake.replace_table("s.a", "id BIGINT").properties()[VECTORS] == "true"


def test_a_default_that_nobody_can_follow_is_told_by_its_name(session: SparkSession, lake: Lake) -> None:
    """S102"""
    session.conf.set(f"{SESSION_DEFAULT_PREFIX}feature.catalogManaged", "enabled")

    with pytest.raises(InvalidRequest, match="default of the session") as caught:
        lake.create_table("s.t", "id BIGINT")

    assert caught.value.code == "DELTA_UNSUPPORTED_FEATURE_STATUS"
    assert lake.tables() == ()


def test_tables_by_path_are_the_owners_whom_the_session_names(
    session: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    """S132, S146: with rows or without, converted or new; those of a lake are its catalog's."""
    session.conf.set(f"{SESSION_DEFAULT_PREFIX}{CURRENT.coordinator.removeprefix('delta.')}", "headgate")
    lakes = f'{{"lake":"{tmp_path / "lake"}"}}'
    session.conf.set(f"{SESSION_DEFAULT_PREFIX}{CURRENT.conf.removeprefix('delta.')}", lakes)
    session.range(3).coalesce(1).write.parquet(str(tmp_path / "c"))

    made = [
        headgate.at_path(tmp_path / "a", columns="id BIGINT"),
        headgate.write_path(session.range(3), tmp_path / "b"),
        headgate.convert(tmp_path / "c"),
    ]

    for table in made:
        assert table.properties()[CURRENT.coordinator] == "headgate"
        assert CURRENT.table_conf in table.properties()
        assert table.append(session.range(5, 6)) == 1
        assert len(list(Path(table.location, "_delta_log/_staged_commits").glob("*.json"))) == 1
    assert [table.read().count() for table in made] == [1, 4, 4]
    assert CURRENT.coordinator not in lake.create_table("s.t", "id BIGINT").properties()
    session.range(3).coalesce(1).write.parquet(str(tmp_path / "d"))
    assert CURRENT.coordinator not in lake.convert(tmp_path / "d", "s.d").properties()


def test_a_new_table_with_rows_has_a_folder_for_staged_commits(spark: SparkSession, lake: Lake) -> None:
    """S124: so that other clients find it."""
    table = lake.write(spark.range(1), "s.b")

    assert list(Path(table.location, "_delta_log/_staged_commits").iterdir()) == []
