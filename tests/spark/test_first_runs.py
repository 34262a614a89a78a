"""A job that replaces what it wrote before: its first run, which finds no table, is like its others."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from typing_extensions import Unpack

import headgate
from headgate import Lake, Table
from headgate.errors import HeadgateError, InvalidRequest, TableNotFound
from headgate.spark.data_files.write_options import WriteKwargs
from headgate.spark.write.save import SaveMode

pytestmark = pytest.mark.spark

Run = Callable[..., Table]


@pytest.fixture(params=["lake", "path"])
def run(request: pytest.FixtureRequest, lake: Lake, tmp_path: Path) -> Run:
    """Writes to the table of the job, wherever that is."""

    def write(df: DataFrame, mode: SaveMode = "overwrite", **options: Unpack[WriteKwargs]) -> Table:
        if request.param == "lake":
            return lake.write(df, "s.t", mode=mode, **options)
        return headgate.write_path(df, tmp_path / "t", mode=mode, **options)

    return write


def rows(spark: SparkSession, day: int, value: int) -> DataFrame:
    return spark.sql(f"SELECT {day} AS day, {value} AS value")


def found(table: Table) -> list[tuple[int, int]]:
    return sorted((row.day, row.value) for row in table.read().collect())


@pytest.mark.parametrize("partition_by", [(), ("day",)], ids=["unpartitioned", "partitioned"])
def test_every_run_replaces_its_own_rows(
    spark: SparkSession, run: Run, partition_by: tuple[str, ...]
) -> None:
    def job(day: int, value: int) -> Table:
        return run(rows(spark, day, value), replace_where=f"day = {day}", partition_by=partition_by)

    assert found(job(1, 10)) == [(1, 10)]
    assert found(job(2, 20)) == [(1, 10), (2, 20)]
    table = job(1, 11)

    assert found(table) == [(1, 11), (2, 20)]
    assert table.version() == 2
    assert table.log.snapshot().state.metadata.partition_columns == partition_by


@pytest.mark.parametrize("condition", ["day = 1", "value > 10 AND day = 1"])
def test_rows_that_the_condition_does_not_select_are_refused_in_the_first_run_too(
    spark: SparkSession, run: Run, tmp_path: Path, condition: str
) -> None:
    wrong = rows(spark, 1, 11).union(rows(spark, 2, 20))

    for given in (condition, F.expr(condition)):  # a run that fails leaves nothing for the next to meet
        with pytest.raises(HeadgateError, match="replaceWhere") as caught:
            run(wrong, replace_where=given)
        assert caught.value.code == "DELTA_REPLACE_WHERE_MISMATCH"

    assert not list(tmp_path.rglob("*.parquet"))
    assert found(run(rows(spark, 1, 11), replace_where=condition)) == [(1, 11)]


def test_a_run_without_rows_makes_an_empty_table(spark: SparkSession, run: Run) -> None:
    table = run(rows(spark, 1, 1).where("false"), replace_where="day = 1", domains={"acme.run": "1"})

    assert (table.version(), found(table), table.domain("acme.run")) == (0, [], "1")


def test_only_an_overwrite_speaks_of_rows_to_replace(spark: SparkSession, run: Run) -> None:
    """As Delta Spark has it, which leaves the option to overwrites."""
    assert found(run(rows(spark, 2, 20), "append", replace_where="day = 1")) == [(2, 20)]


@pytest.mark.parametrize("options", [{"replace_using": ["day"]}, {"replace_on": "t.day = s.day"}])
def test_rows_cannot_stand_for_others_where_there_is_no_table(
    spark: SparkSession, run: Run, lake: Lake, options: WriteKwargs
) -> None:
    with pytest.raises(InvalidRequest, match="no table yet") as caught:
        run(rows(spark, 1, 10), **options)

    assert caught.value.code == "DELTA_PATH_DOES_NOT_EXIST"
    with pytest.raises(TableNotFound):
        lake.table("s.t")


def test_a_condition_that_cannot_be_asked_makes_no_table(
    spark: SparkSession, run: Run, tmp_path: Path
) -> None:
    with pytest.raises(Exception, match="nowhere"):
        run(rows(spark, 1, 10), replace_where="nowhere = 1")

    assert found(run(rows(spark, 1, 10), "error")) == [(1, 10)]
