"""Partitioned and mapped tables: which files and values a write makes of rows, and that all read them."""

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import headgate
from headgate import Lake, Table
from headgate.errors import ConstraintViolated, InvalidRequest
from tests.support import rows

pytestmark = pytest.mark.spark

ODD = ["plain", "", "a b/c=d%e:f", "üä" * 20, "__HIVE_DEFAULT_PARTITION__", "%5F", "x+y", "ends\n", None]


def adds(table: Table) -> list[dict[str, object]]:
    return [
        {**file, "partition_values": dict(file["partition_values"])}
        for file in table.log.snapshot().files.columns.to_pylist()
    ]


def test_texts_of_all_kinds_are_partition_values(spark: SparkSession, tmp_path: Path) -> None:
    """S313: the spelling of the columns counts."""
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT, part STRING", partition_by=["PART"])
    frame = spark.createDataFrame(list(enumerate(ODD)), "id BIGINT, part STRING").coalesce(1)

    table.append(frame)

    expected = [{"id": number, "part": text or None} for number, text in enumerate(ODD)]
    assert rows.of_frame(table.read()) == expected
    assert table.log.snapshot().state.metadata.partition_columns == ("part",)
    assert {file["partition_values"]["part"] for file in adds(table)} == {text or None for text in ODD}  # type: ignore[index]
    assert rows.of_arrow(DeltaTable(table.location).to_pyarrow_table()) == expected


def test_values_of_every_type_come_back_as_they_were(spark: SparkSession, lake: Lake) -> None:
    columns = (
        "id BIGINT, b BOOLEAN, i INT, d DOUBLE, c DECIMAL(20,10), day DATE, at TIMESTAMP, "
        "wall TIMESTAMP_NTZ, raw BINARY"
    )
    values = [
        (1, True, -3, 1e10, Decimal("0.0000000001"), date(1969, 12, 31), datetime(2024, 10, 27, 1, 30, 0, 5),
         datetime(2024, 3, 31, 2, 30), b"\x01a"),
        (2, None, None, float("inf"), None, None, None, None, None),
    ]  # fmt: skip
    table = lake.create_table("s.t", columns, partition_by=["b", "i", "d", "c", "day", "at", "wall", "raw"])
    frame = spark.createDataFrame(values, columns)
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")  # an hour of that day came twice
    try:
        table.append(frame)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    assert rows.of_frame(table.read()) == rows.of_frame(frame)
    texts = next(file["partition_values"] for file in adds(table) if file["partition_values"]["b"])  # type: ignore[index]
    assert texts["at"].endswith("Z")  # type: ignore[index]
    assert texts["wall"] == "2024-03-31 02:30:00.000000"  # type: ignore[index]
    assert texts["c"] == "0.0000000001"  # type: ignore[index]


def test_bytes_that_are_no_text_cannot_be_partition_values(spark: SparkSession, lake: Lake) -> None:
    table = lake.create_table("s.t", "id BIGINT, raw BINARY", partition_by=["raw"])

    with pytest.raises(InvalidRequest, match="not UTF-8"):
        table.append(spark.createDataFrame([(1, b"\xff")], "id BIGINT, raw BINARY"))

    assert table.version() == 0


def test_an_empty_partition_value_is_null_before_any_rule_looks(spark: SparkSession, lake: Lake) -> None:
    """The log does not tell the two apart, so a rule that took '' would let null in."""
    strict = lake.create_table("s.strict", "id INT, p STRING NOT NULL", partition_by=["p"])
    strict.append(spark.sql("SELECT 1 AS id, 'x' AS p"))

    for write in (
        lambda: strict.append(spark.sql("SELECT 2 AS id, '' AS p")),
        lambda: strict.append([{"id": 2, "p": ""}]),
        lambda: strict.update({"p": "''"}, where="id = 1"),
    ):
        with pytest.raises(ConstraintViolated, match="'p' is NOT NULL"):
            write()
    assert rows.of_frame(strict.read()) == [{"id": 1, "p": "x"}]


def test_an_empty_partition_value_is_not_what_replace_where_asked_for(
    spark: SparkSession, lake: Lake
) -> None:
    table = lake.create_table("s.loose", "id INT, p STRING, b BINARY", partition_by=["p", "b"])
    empty = spark.sql("SELECT 1 AS id, '' AS p, X'' AS b")

    table.append(empty)
    table.append([{"id": 2, "p": "", "b": b""}])
    with pytest.raises(ConstraintViolated):
        table.overwrite(empty, replace_where="p = ''")

    nothing = {"p": None, "b": None}
    assert rows.of_frame(table.read()) == [{"id": 1, **nothing}, {"id": 2, **nothing}]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_are_written_under_physical_names_with_ids(
    spark: SparkSession, lake: Lake, mode: str
) -> None:
    """S319: any name will do for a mapped column."""
    columns = "`odd, name` BIGINT, day DATE, s STRUCT<a: INT, b: ARRAY<STRUCT<c: STRING>>>"
    table = lake.create_table(
        "s.t", columns, properties={"delta.columnMapping.mode": mode}, partition_by=["day"]
    )
    frame = spark.sql(
        "SELECT 7L AS `odd, name`, DATE'2024-01-02' AS day, named_struct('B', array(named_struct('c', 'x')), "
        "'a', 3) AS s"
    )

    table.append(frame)

    schema = json.loads(table.log.snapshot().state.metadata.schema_string)
    by_name = {field["name"]: field for field in schema["fields"]}
    (file,) = adds(table)
    stored = pq.read_schema(Path(table.location) / str(file["path"]).replace("%25", "%"))
    numbers = {field.name: int(field.metadata[b"PARQUET:field_id"]) for field in stored}
    wanted = {
        field["metadata"]["delta.columnMapping.physicalName"]: field["metadata"]["delta.columnMapping.id"]
        for name, field in by_name.items()
        if name != "day"
    }
    assert numbers == wanted
    day = by_name["day"]["metadata"]["delta.columnMapping.physicalName"]
    assert file["partition_values"] == {day: "2024-01-02"}
    physical = by_name["odd, name"]["metadata"]["delta.columnMapping.physicalName"]
    assert json.loads(str(file["stats"]))["minValues"][physical] == 7
    (row,) = table.read().collect()
    assert (row[0], row[1], row[2].a, row[2].b[0].c) == (7, date(2024, 1, 2), 3, "x")
    assert table.read(where="`odd, name` = 8").count() == 0


def test_statistics_are_of_the_columns_that_properties_and_clustering_name(
    spark: SparkSession, lake: Lake
) -> None:
    columns = "a BIGINT, b BIGINT, s STRUCT<x: BIGINT, y: BIGINT>, c BIGINT"
    frame = spark.sql("SELECT 1L AS a, 2L AS b, named_struct('x', 3L, 'y', 4L) AS s, 5L AS c")
    asked = {
        "counted": ({"delta.dataSkippingNumIndexedCols": "2"}, (), {"a": 1, "b": 2}),
        "named": ({"delta.dataSkippingStatsColumns": "`c`, S.x"}, (), {"s": {"x": 3}, "c": 5}),
        "all": (
            {"delta.dataSkippingNumIndexedCols": "-1"},
            (),
            {"a": 1, "b": 2, "s": {"x": 3, "y": 4}, "c": 5},
        ),
        "clustered": ({"delta.dataSkippingNumIndexedCols": "0"}, ("s.y", "c"), {"s": {"y": 4}, "c": 5}),
    }

    for name, (properties, cluster_by, expected) in asked.items():
        table = lake.create_table(f"s.{name}", columns, properties=properties, cluster_by=cluster_by)
        table.append(frame)
        (file,) = adds(table)
        assert json.loads(str(file["stats"]))["minValues"] == expected, name


def test_files_are_as_large_as_asked(spark: SparkSession, lake: Lake) -> None:
    """S305"""
    table = lake.create_table("s.t", "id BIGINT")

    table.append(spark.range(10).coalesce(1), max_records_per_file=3, compression="zstd")

    files = adds(table)
    assert len(files) >= 4
    footer = pq.read_metadata(Path(table.location) / str(files[0]["path"]))
    assert footer.row_group(0).column(0).compression == "ZSTD"


def test_an_optimized_write_makes_one_file_a_partition(spark: SparkSession, lake: Lake) -> None:
    frame = spark.sql("SELECT id, id % 3 AS part FROM range(0, 300, 1, 4)")
    scattered = lake.create_table("s.a", "id BIGINT, part BIGINT", partition_by=["part"])
    gathered = lake.create_table("s.b", "id BIGINT, part BIGINT", partition_by=["part"])
    always = {"delta.autoOptimize.optimizeWrite": "true"}
    by_property = lake.create_table("s.c", "id BIGINT, part BIGINT", partition_by=["part"], properties=always)

    scattered.append(frame)
    gathered.append(frame, optimize_write=True)
    by_property.append(frame)

    assert [len(adds(table)) for table in (scattered, gathered, by_property)] == [12, 3, 3]


@pytest.mark.parametrize("partition_by", [["c"], []], ids=["partitions", "rows"])
@pytest.mark.parametrize(
    ("column", "selected", "kept"),
    [("CHAR(3)", "c <> 'a'", "a"), ("STRING COLLATE UTF8_LCASE", "c <> 'A'", "a")],
    ids=["padded", "collated"],
)
def test_what_is_replaced_is_what_a_query_selects(
    spark: SparkSession, tmp_path: Path, *, column: str, selected: str, kept: str, partition_by: list[str]
) -> None:
    """Texts compare in the rows that go, and in those that come, as they do in the table."""
    table = headgate.at_path(tmp_path / "t", columns=f"id INT, c {column}", partition_by=partition_by)
    table.append(spark.sql("SELECT 1 id, 'a' c UNION ALL SELECT 2, 'b'"))
    wanted = table.read().where(f"NOT ({selected})").count()

    table.overwrite(spark.sql("SELECT 3 id, 'b' c"), replace_where=selected)
    with pytest.raises(ConstraintViolated):
        table.overwrite(spark.sql(f"SELECT 4 id, '{kept}' c"), replace_where=selected)
    table.add_constraint("known", f"NOT (c = '{kept.upper() if 'UTF8' in column else kept}' AND id = 5)")
    with pytest.raises(ConstraintViolated):
        table.append(spark.sql(f"SELECT 5 id, '{kept}' c"))

    assert wanted == 1
    assert sorted((row.id, row.c.strip()) for row in table.read().collect()) == [(1, kept), (3, "b")]


def test_a_dynamic_overwrite_replaces_partitions_of_a_narrower_type(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Their values have fewer digits in the log."""
    properties = {"delta.enableTypeWidening": "true"}
    table = headgate.at_path(
        tmp_path / "t", columns="id INT, p DECIMAL(5,1)", partition_by=["p"], properties=properties
    )
    table.append(
        spark.sql("SELECT 1 id, 1.5BD p UNION ALL SELECT 2, 2.5BD").selectExpr(
            "id", "cast(p as decimal(5,1)) p"
        )
    )
    table.widen_column("p", "DECIMAL(10,3)")

    table.overwrite(spark.sql("SELECT 3 id, CAST(1.5 AS DECIMAL(10,3)) p"), partition_overwrite="dynamic")

    assert sorted(row.id for row in table.read().collect()) == [2, 3]


@pytest.mark.parametrize("made", [True, False], ids=["created", "merged"])
def test_texts_of_new_columns_compare_as_in_the_rows(
    spark: SparkSession, tmp_path: Path, *, made: bool
) -> None:
    rows = spark.sql("SELECT 1 id, 'a' COLLATE UTF8_LCASE c, named_struct('d', 'b' COLLATE UTF8_LCASE) s")

    if made:
        headgate.write_path(rows, tmp_path / "t")
    else:
        headgate.at_path(tmp_path / "t", columns="id INT").append(rows, merge_schema=True)

    assert headgate.at_path(tmp_path / "t").read().where("c = 'A' AND s.d = 'B'").count() == 1
