"""A data file that is gone or damaged is told by name, and so is its table, wherever rows are read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import FileDamaged, InvalidRequest, ObjectNotFound
from tests.support.changed_tables import FEED, VECTORS, files, made

pytestmark = pytest.mark.spark

STATEMENTS: dict[str, Callable[[Lake, Table], object]] = {
    "delete": lambda lake, table: table.delete("id % 2 = 1"),
    "update": lambda lake, table: table.update({"v": "0"}, where="id % 2 = 1"),
    "merge": lambda lake, table: table.merge(table.read(), "t.id = s.id").when_matched_delete().execute(),
    "optimize": lambda lake, table: table.optimize(),
    "z-order": lambda lake, table: table.optimize(z_order_by=["id"]),
    "append": lambda lake, table: table.append(table.read()),
    "overwrite": lambda lake, table: table.overwrite(table.read(), replace_where="id >= 0"),
    "another table": lambda lake, table: lake.write(table.read(), "s.u"),
    "replace": lambda lake, table: lake.replace_table("s.t", rows=table.read()),
    "constraint": lambda lake, table: table.add_constraint("some", "v >= 0"),
    "named errors": lambda lake, table: collected(table),
}


def collected(table: Table) -> object:
    with headgate.named_errors():
        return table.read().collect()


@pytest.fixture
def table(spark: SparkSession, lake: Lake) -> Table:
    found = made(lake, "s.t", "id BIGINT, v INT", VECTORS)
    for start in (0, 10):
        found.append(spark.sql(f"SELECT id, 1 AS v FROM range({start}, {start + 10}, 1, 1)"))
    lake.permit("s.t", "data reorganisation")
    return found


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_names_the_file_that_is_gone(
    spark: SparkSession, lake: Lake, table: Table, name: str
) -> None:
    path = sorted(files(table))[0]
    (Path(table.location) / path).unlink()
    before = table.version()

    with pytest.raises(ObjectNotFound) as caught:
        STATEMENTS[name](lake, table)

    assert caught.value.code == "DELTA_FILE_NOT_FOUND"
    assert f"{path} of the table at {table.location} is not there" in str(caught.value)
    assert len(str(caught.value)) < 600 and caught.value.cause is not None
    assert table.version() == before


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing that was a parquet file PAR1", b"x" * 5000])
def test_a_damaged_file_is_named_too(spark: SparkSession, lake: Lake, table: Table, content: bytes) -> None:
    path = sorted(files(table))[0]
    (Path(table.location) / path).write_bytes(content)

    with pytest.raises(FileDamaged) as caught:
        table.update({"v": "0"}, where="id % 2 = 1")

    assert f"{path} of the table at {table.location} cannot be read" in str(caught.value)
    assert table.version() == 2


def test_changes_and_clones_name_the_file(spark: SparkSession, lake: Lake) -> None:
    table = made(lake, "s.f", "id BIGINT", FEED)
    table.append(spark.range(3).coalesce(1))
    (path,) = files(table)
    (Path(table.location) / path).unlink()

    with pytest.raises(ObjectNotFound, match=path), headgate.named_errors():
        table.changes(0).collect()
    with pytest.raises(InvalidRequest, match=path):
        lake.clone(table, "s.clone")


def test_other_failures_stay_as_spark_tells_them(spark: SparkSession) -> None:
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as failure, headgate.named_errors():
        spark.sql("SELECT id DIV (id - 3) AS id FROM range(5)").collect()
    assert not isinstance(failure.value, headgate.errors.HeadgateError)
