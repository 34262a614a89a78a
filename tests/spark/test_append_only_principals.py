"""What Headgate writes for who may only append is known to be new: every way to append is open to them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import CommitRefused
from tests.support import streams

pytestmark = pytest.mark.spark


@pytest.fixture
def eve(lake: Lake, tmp_path: Path) -> Iterator[Lake]:
    """The lake for somebody who may append to ``s.t`` and do nothing else."""
    lake.create_table("s.t", streams.IDS)
    lake.grant("APPEND", on="s.t", to="eve")
    with headgate.connect(tmp_path / "lake", principal="eve") as opened:
        yield opened


def _rows(spark: SparkSession, *ids: int) -> DataFrame:
    return spark.createDataFrame([(each, "w") for each in ids], streams.IDS)


def _ids(table: Table) -> list[int]:
    return sorted(row.id for row in table.read().collect())


def test_appends_and_merges_that_only_insert(spark: SparkSession, eve: Lake) -> None:
    table = eve.table("s.t")

    table.append(_rows(spark, 1))
    table.append(_rows(spark, 2))
    table.merge(_rows(spark, 2, 3), "t.id = s.id").when_not_matched_insert_all().execute()

    assert _ids(table) == [1, 2, 3]
    with pytest.raises(CommitRefused, match="CHANGE DATA"):
        table.delete("id = 1")


def test_several_appends_to_a_table_in_one_transaction(spark: SparkSession, eve: Lake) -> None:
    with eve.transaction() as tx:
        tx.table("s.t").append(_rows(spark, 1))
        tx.table("s.t").append(_rows(spark, 2))

    assert _ids(eve.table("s.t")) == [1, 2]
    assert eve.table("s.t").version() == 1


def test_batches_of_a_stream(spark: SparkSession, eve: Lake, tmp_path: Path) -> None:
    source = streams.feed(tmp_path / "source", streams.ids(0, 4), streams.ids(4, 6))
    table = eve.table("s.t")

    table.write_stream(
        streams.of(spark, source), checkpoint=tmp_path / "c", available_now=True
    ).awaitTermination()

    assert _ids(eve.table("s.t")) == [0, 1, 2, 3, 4, 5]
