"""Tables of other writers with columns that Headgate would not make, and files that are named oddly."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, LongType, StructField, StructType

import headgate
from headgate import Lake
from headgate.errors import InvalidRequest, UnsupportedFeature
from tests.support.changed_tables import tuples
from tests.support.handmade import array, column, data_file, struct, write_log

pytestmark = pytest.mark.spark

ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})
TOO_DEEP = "HEADGATE_SCHEMA_TOO_DEEP"


def deep(levels: int) -> StructType:
    """A column ``d`` of so many structs."""
    found: DataType = LongType()
    for _ in range(levels):
        found = StructType([StructField("a", found)])
    return StructType([StructField("id", LongType()), StructField("d", found)])


def test_a_table_with_a_struct_without_fields_is_still_read(spark: SparkSession, tmp_path: Path) -> None:
    location = tmp_path / "t"
    hollow = [column("e", struct()), column("l", array(struct()))]
    write_log(location, [column("id", "long"), *hollow], [data_file(location, "a.parquet", ROWS)])
    table = headgate.at_path(str(location))

    assert tuples(table) == [(1, None, None), (2, None, None)]
    table.set_properties({"acme.note": "x"})
    table.add_columns("y INT")
    assert tuples(table) == [(1, None, None, None), (2, None, None, None)]


def test_no_table_gets_a_struct_without_fields(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    table = lake.create_table("s.t", "id BIGINT")

    for make in (
        lambda: lake.create_table("s.u", "id BIGINT, e STRUCT<>"),
        lambda: headgate.at_path(str(tmp_path / "p"), columns="id BIGINT, l ARRAY<STRUCT<>>"),
        lambda: table.add_columns("e STRUCT<>"),
    ):
        with pytest.raises(InvalidRequest, match="a struct without fields") as caught:
            make()
        assert caught.value.code == "DELTA_EMPTY_DATA"
    assert table.version() == 0


@pytest.mark.parametrize("levels", [101, 250, 400])
def test_columns_that_are_nested_too_deep_are_refused_by_name(
    spark: SparkSession, lake: Lake, tmp_path: Path, levels: int
) -> None:
    ddl = "d " + "STRUCT<a: " * levels + "BIGINT" + ">" * levels

    for columns in (deep(levels), ddl):
        for make in (
            lambda columns=columns: lake.create_table("s.t", columns),
            lambda columns=columns: headgate.at_path(str(tmp_path / "p"), columns=columns),
        ):
            with pytest.raises(UnsupportedFeature, match="nested more than 100 levels deep") as caught:
                make()
            assert caught.value.code == TOO_DEEP


def test_a_table_that_is_nested_too_deep_is_refused_when_its_columns_are_needed(
    spark: SparkSession, tmp_path: Path
) -> None:
    location, inner = tmp_path / "t", struct(column("a", "long"))
    for _ in range(150):
        inner = struct(column("a", inner))
    write_log(location, [column("id", "long"), column("d", inner)], [data_file(location, "a.parquet", ROWS)])
    table = headgate.at_path(str(location))

    assert len(table.log.history()) == 1
    for use in (table.read, lambda: table.append(spark.range(1)), lambda: table.delete("id = 1")):
        with pytest.raises(UnsupportedFeature) as caught:
            use()
        assert caught.value.code == TOO_DEEP


def test_rows_are_not_written_deeper_than_files_can_be(spark: SparkSession, tmp_path: Path) -> None:
    location, inner = tmp_path / "t", array("long")
    for _ in range(59):
        inner = array(inner)
    write_log(location, [column("id", "long"), column("d", inner)], [data_file(location, "a.parquet", ROWS)])
    table = headgate.at_path(str(location))

    assert tuples(table) == [(1, None), (2, None)]
    with pytest.raises(InvalidRequest) as caught:
        table.append(spark.range(1))
    assert caught.value.code == TOO_DEEP


def test_files_may_be_named_by_urls_of_this_machine(spark: SparkSession, tmp_path: Path) -> None:
    add = data_file(tmp_path, "elsewhere/a.parquet", ROWS)
    url = f"file://localhost{tmp_path}/elsewhere/a.parquet"
    write_log(tmp_path / "t", [column("id", "long")], [msgspec.structs.replace(add, path=url)])
    table = headgate.at_path(f"file://localhost{tmp_path}/t")

    assert tuples(table) == [(1,), (2,)]
    table.delete("id + 0 = 1")
    assert tuples(table) == [(2,)]
