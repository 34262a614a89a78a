"""Metadata domains that Headgate wrote, before other engines; and what their checkpoints keep of them."""

from pathlib import Path

import deltalake
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import headgate
from headgate.protocol.domains.rules import RemoveDomain, SetDomain
from headgate.settings import Publish, Settings
from headgate.storage.locate import locate
from tests.support import duck, tables
from tests.support.delta_spark import DeltaSpark

pytestmark = pytest.mark.interop


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A table that was (1, 2) until its first domain, with two rows."""
    path = str(tmp_path)
    tables.create_filesystem(locate(path))
    table = tables.open_filesystem(path)
    table.change_domains([SetDomain("acme.a", "1"), SetDomain("acme.b", '{"offset": 2}')])
    table.change_domains([RemoveDomain("acme.a"), SetDomain("acme.c", "3")])
    table.commit(
        tables.append_change(tables.parquet_file(path, "x.parquet", [1, 2])), base=table.newest_known()
    )
    return path


def test_other_engines_read_the_table_and_see_its_protocol(location: str) -> None:
    theirs = deltalake.DeltaTable(location)

    assert theirs.version() == 3
    assert (theirs.protocol().min_reader_version, theirs.protocol().min_writer_version) == (1, 7)
    assert set(theirs.protocol().writer_features or ()) == {"appendOnly", "domainMetadata", "invariants"}
    with duck.connect() as connection:
        assert connection.sql(f"SELECT count(*) FROM delta_scan('{location}')").fetchall() == [(2,)]


def test_s190_s191_s192_a_checkpoint_of_another_engine_keeps_the_live_domains(location: str) -> None:
    """S179: and only those."""
    deltalake.DeltaTable(location).create_checkpoint()
    (checkpoint,) = Path(location, "_delta_log").glob("*.checkpoint.parquet")
    for file in Path(location, "_delta_log").glob("*.json"):
        file.unlink()

    kept = [row for row in pq.read_table(checkpoint)["domainMetadata"].to_pylist() if row]

    assert {row["domain"] for row in kept} == {"acme.b", "acme.c"}
    assert tables.open_filesystem(location).domains(version=3) == {"acme.b": '{"offset": 2}', "acme.c": "3"}


@pytest.mark.spark
def test_delta_spark_sees_the_domains_of_statements_and_of_first_races(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    """Each version has its checksum, which Delta Spark compares with the table before it writes on."""
    settings, path = Settings(publish=Publish.NOW), tmp_path / "raced"
    raced = headgate.at_path(path, columns="id BIGINT", settings=settings)
    raced.append(spark.range(4), domains={"acme.rows": "4"})
    raced.set_domain("acme.first", "1", since=0)
    raced.delete("id = 1", domains={"acme.rows": "3"})
    made = headgate.at_path(
        tmp_path / "made", columns="id BIGINT", domains={"acme.a": "1"}, settings=settings
    )
    made.append(spark.range(1))

    for table, expected in ((raced, {"acme.rows": "3", "acme.first": "1"}), (made, {"acme.a": "1"})):
        assert delta.domains(table.location) == expected
        delta.sql(f"INSERT INTO delta.`{table.location}` VALUES (9)")
        assert headgate.at_path(table.location).domains() == expected


@pytest.mark.spark
def test_a_first_run_with_a_condition_makes_the_table_in_both_engines(
    delta: DeltaSpark, spark: SparkSession, tmp_path: Path
) -> None:
    query, condition = "SELECT id, id % 2 AS p FROM range(4) WHERE id % 2 = 0", "p = 0"

    delta.write(query, tmp_path / "theirs", "overwrite", {"replaceWhere": condition})
    headgate.write_path(spark.sql(query), tmp_path / "ours", mode="overwrite", replace_where=condition)

    assert delta.read(tmp_path / "ours").counted == delta.read(tmp_path / "theirs").counted
