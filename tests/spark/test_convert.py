"""A folder of parquet files becomes a table in place, and three engines read the same rows from it."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import DateType, IntegerType, StringType, StructField, StructType, TimestampType

import headgate
from headgate.clock import SystemWorld
from headgate.errors import HeadgateError, InvalidRequest, SchemaMismatch, UnsupportedFeature
from headgate.protocol.schema import json as schema_json
from headgate.protocol.schema.types import describe_type
from headgate.spark.commands import convert as converting
from headgate.storage.locate import locate
from headgate.table.read.snapshot import Snapshot
from tests.support import duck, tables

PLACE = [("x", pa.int64()), ("y", pa.string())]
ROWS = pa.table(
    {
        "id": pa.array([1, 2, None], pa.int64()),
        "small": pa.array([1, None, 3], pa.int8()),
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(10, 2)),
        "ratio": pa.array([0.5, float("nan"), None], pa.float64()),
        "name": pa.array(["a", "b'\"ü", None], pa.large_string()),
        "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
        "day": pa.array([dt.date(2026, 1, 1), None, dt.date(1969, 1, 1)], pa.date32()),
        "at": pa.array(
            [dt.datetime(2026, 1, 1, 12), None, dt.datetime(1969, 1, 1)], pa.timestamp("ms", "UTC")
        ),
        "local": pa.array([dt.datetime(2026, 1, 1, 12), None, None], pa.timestamp("us")),
        "tags": pa.array([["a", None], [], None], pa.list_(pa.string())),
        "stops": pa.array([[{"x": 1, "y": "p"}], [], None], pa.list_view(pa.struct(PLACE))),
        "place": pa.array([{"x": 1, "y": "p"}, None, {"x": None, "y": None}]),
        "on": pa.array([True, False, None]),
    }
)


def convert(folder: Path, partition_schema: StructType | None = None) -> Snapshot:
    """The table that the folder has become."""
    place = str(folder)
    assert converting.convert(place, locate(place), partition_schema, world=SystemWorld())
    return tables.open_filesystem(place).snapshot()


def write(path: Path, columns: dict[str, pa.Array] | pa.Table, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, **options)


def types(snapshot: Snapshot) -> dict[str, str]:
    schema = schema_json.parse(snapshot.state.metadata.schema_string)
    return {field.name: describe_type(field.type) for field in schema.fields}


def stats(snapshot: Snapshot) -> list[dict[str, Any]]:
    return [msgspec.json.decode(text) for text in snapshot.files.columns["stats"].to_pylist()]


def ids(folder: Path, column: str = "id") -> dict[str, list[Any]]:
    """What DuckDB and deltalake find in a column."""
    with duck.connect() as connection:
        found = connection.sql(f"SELECT {column} FROM delta_scan('{folder}') ORDER BY ALL").fetchall()
    rows = DeltaTable(str(folder)).to_pyarrow_table()[column].to_pylist()
    return {
        "duckdb": [row[0] for row in found],
        "deltalake": sorted(rows, key=lambda row: (row is None, row)),
    }


@pytest.mark.spark
def test_three_engines_read_the_rows_of_a_converted_folder(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder / "1.parquet", ROWS)
    write(folder / "deep" / "2", ROWS.slice(0, 1))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}

    table = headgate.convert(folder)

    assert {path: path.stat().st_mtime_ns for path in before} == before
    read = table.read(spark=spark).orderBy("id", "small").collect()
    assert [(row["id"], row["name"], row["kind"], row["day"]) for row in read] == [
        (None, None, "x", dt.date(1969, 1, 1)),
        (1, "a", "x", dt.date(2026, 1, 1)),
        (1, "a", "x", dt.date(2026, 1, 1)),
        (2, "b'\"ü", "y", None),
    ]
    assert [row["at"] for row in read] == [
        dt.datetime(1969, 1, 1), *[dt.datetime(2026, 1, 1, 12)] * 2, None,
    ]  # fmt: skip
    assert [row["tags"] for row in read] == [None, ["a", None], ["a", None], []]
    assert [row["stops"] for row in read] == [None, [(1, "p")], [(1, "p")], []]
    assert [row["price"] for row in read] == [Decimal("-2.25"), *[Decimal("1.50")] * 2, None]
    assert ids(folder) == {"duckdb": [1, 1, 2, None], "deltalake": [1, 1, 2, None]}
    assert table.read(where="id = 2", spark=spark).count() == 1
    assert table.read(where="at < '1970-01-01'", spark=spark).count() == 1
    table.append(table.read(spark=spark))
    assert table.read(spark=spark).count() == 8
    assert [row["operation"] for row in table.history(spark=spark).collect()] == ["WRITE", "CONVERT"]


@pytest.mark.spark
def test_a_partitioned_folder_that_spark_wrote_comes_into_a_lake(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    source = spark.sql(
        "SELECT id, id % 3 AS part, IF(id % 2 = 0, NULL, CONCAT('a b/%=', id)) AS text FROM range(8)"
    )
    source.write.partitionBy("part", "text").parquet(str(folder))
    with headgate.connect(tmp_path / "lake") as lake:
        lake.create_schema("sales")
        table = lake.convert(folder, "sales.orders", partition_schema="part INT, text STRING")

        assert table.version() == 1
        expected = sorted(map(str, source.select("id", "part", "text").collect()))
        assert sorted(map(str, table.read(spark=spark).select("id", "part", "text").collect())) == expected
        assert table.read(where="part = 1", spark=spark).count() == 3
        again = lake.adopt(folder, "sales.orders", convert=True)
        assert again.version() == 1
        lake.release("sales.orders", keep_timestamps=False)

    for column in ("id", "part"):
        wanted = sorted(row[0] for row in source.select(column).collect())
        assert ids(folder, column) == {"duckdb": wanted, "deltalake": wanted}
    texts = DeltaTable(str(folder)).to_pyarrow_table()["text"].to_pylist()
    assert sorted(filter(None, texts)) == [f"a b/%={number}" for number in (1, 3, 5, 7)]


def test_columns_of_different_files_come_together(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", {"id": pa.array([1], pa.int8()), "a": pa.array([{"x": 1}])})
    write(tmp_path / "2.parquet", {"b": pa.array(["b"]), "id": pa.array([2], pa.int32())})
    write(tmp_path / "3.parquet", {"id": pa.array([3], pa.int16()), "a": pa.array([{"y": "y", "x": 2}])})

    found = convert(tmp_path)

    assert types(found) == {"id": "integer", "a": "struct<x: long, y: string>", "b": "string"}
    assert ids(tmp_path) == {"duckdb": [1, 2, 3], "deltalake": [1, 2, 3]}
    assert [one["minValues"].get("id") for one in stats(found)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [
        (pa.array([1], pa.int32()), pa.array([1], pa.int64()), SchemaMismatch),
        (pa.array([1.0], pa.float32()), pa.array([1.0], pa.float64()), SchemaMismatch),
        (pa.array(["1"]), pa.array([1]), SchemaMismatch),
        (pa.array([[1]]), pa.array([["1"]]), SchemaMismatch),
        (pa.array([1], pa.uint32()), pa.array([1], pa.uint32()), UnsupportedFeature),
        (pa.array([1], pa.timestamp("ns")), pa.array([1], pa.timestamp("ns")), UnsupportedFeature),
        (pa.array([1], pa.time64("us")), pa.array([1], pa.time64("us")), UnsupportedFeature),
        (pa.array([b"12"], pa.binary(2)), pa.array([b"12"], pa.binary(2)), UnsupportedFeature),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pa.Array) else "",
)
def test_columns_that_engines_would_read_differently_are_refused(
    tmp_path: Path, one: pa.Array, other: pa.Array, error: type[HeadgateError]
) -> None:
    write(tmp_path / "1.parquet", {"column": one})
    write(tmp_path / "2.parquet", {"column": other})

    with pytest.raises(error, match=r"'column' .*'?\d\.parquet"):
        convert(tmp_path)
    assert not (tmp_path / "_delta_log").exists()


def test_names_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", {"id": pa.array([1])})
    write(tmp_path / "2.parquet", {"ID": pa.array([1])})

    with pytest.raises(SchemaMismatch, match="ignoring case"):
        convert(tmp_path)


def test_bounds_are_taken_only_where_every_writer_means_the_same(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", ROWS)
    write(tmp_path / "2.parquet", ROWS.drop(["local"]), use_deprecated_int96_timestamps=True)

    first, second = stats(convert(tmp_path))

    assert first["numRecords"] == second["numRecords"] == 3
    assert first["minValues"] | {"place": None} == {
        "id": 1, "small": 1, "price": -2.25, "name": "a", "kind": "x", "day": "1969-01-01",
        "local": "2026-01-01T12:00:00.000", "place": None,
    }  # fmt: skip
    assert {"ratio", "at"}.isdisjoint(first["maxValues"])
    assert first["nullCount"]["ratio"] == first["nullCount"]["at"] == 1
    assert "at" not in second["maxValues"]


PARTS = StructType(
    [StructField("day", DateType()), StructField("n", IntegerType()), StructField("at", TimestampType())]
)


def test_partition_values_get_the_types_that_are_given(tmp_path: Path) -> None:
    write(
        tmp_path / "day=2026-01-31" / "n=07" / "at=2026-01-31 10%3A00%3A00" / "1.parquet",
        {"id": pa.array([1])},
    )
    null = "__HIVE_DEFAULT_PARTITION__"
    write(tmp_path / f"day={null}" / f"n={null}" / f"at={null}" / "2.parquet", {"id": pa.array([2])})

    found = convert(tmp_path, PARTS)

    assert found.state.metadata.partition_columns == ("day", "n", "at")
    assert types(found) == {"id": "long", "day": "date", "n": "integer", "at": "timestamp"}
    values = [dict(one) for one in found.files.columns["partition_values"].to_pylist()]
    assert sorted(values, key=str) == [
        {"day": "2026-01-31", "n": "7", "at": "2026-01-31T10:00:00.000000Z"},
        {"day": None, "n": None, "at": None},
    ]
    assert ids(tmp_path, "day")["duckdb"] == [dt.date(2026, 1, 31), None]
    assert ids(tmp_path, "n") == {"duckdb": [7, None], "deltalake": [7, None]}


def test_partition_values_are_text_unless_said_otherwise(tmp_path: Path) -> None:
    write(tmp_path / "_n=07" / "1.parquet", {"id": pa.array([1])})

    found = convert(tmp_path)

    assert types(found) == {"id": "long", "_n": "string"}
    assert ids(tmp_path, "_n") == {"duckdb": ["07"], "deltalake": ["07"]}


@pytest.mark.parametrize(
    ("files", "given", "match"),
    [
        (["a=1/1.parquet", "1.parquet"], None, "not in folders of the same partition columns"),
        (["a=1/1.parquet", "b=1/1.parquet"], None, "not in folders of the same partition columns"),
        (["id=1/1.parquet"], None, "in the names of folders and in the files too"),
        (["a=x/1.parquet"], IntegerType(), "is no integer"),
        (["b=x/1.parquet"], StringType(), "give it these columns"),
        (["a=1/1.parquet", "a=1/2.csv"], None, "no whole parquet files"),
        (["_hidden/1.parquet", ".x.parquet"], None, "no parquet file"),
        (["1.parquet", "_spark_metadata/0"], None, "a Spark stream"),
    ],
)
def test_a_folder_that_is_no_table_is_refused(
    tmp_path: Path, files: list[str], given: Any, match: str
) -> None:
    for file in files:
        write(tmp_path / file, {"id": pa.array([1])})
        if not file.endswith(".parquet"):
            (tmp_path / file).write_text("id\n1\n")

    with pytest.raises(InvalidRequest, match=match):
        convert(tmp_path, StructType([StructField("a", given)]) if given else None)
    assert not (tmp_path / "_delta_log").exists()


def test_what_is_hidden_stays_out_and_a_table_stays_as_it_is(tmp_path: Path) -> None:
    for file in ("1.parquet", "_old/2.parquet", ".tmp/3.parquet", "_SUCCESS", ".1.parquet.crc"):
        write(tmp_path / file, {"id": pa.array([1])})

    found = convert(tmp_path)

    assert found.files.columns["path"].to_pylist() == ["1.parquet"]
    write(tmp_path / "late.parquet", {"id": pa.array([2])})
    assert not converting.convert(str(tmp_path), locate(str(tmp_path)), None, world=SystemWorld())
    assert ids(tmp_path) == {"duckdb": [1], "deltalake": [1]}
