"""What other engines' features do to a scan, on small tables made by hand."""

from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import headgate
from headgate import Table
from headgate.errors import CorruptLog, InvalidRequest, UnsupportedFeature
from headgate.protocol.actions import AddFile
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from tests.support import rows
from tests.support.handmade import array, column, data_file, field, map_of, mapped, struct, write_log

pytestmark = pytest.mark.spark

_FILE_ID = UUID("12345678-1234-4234-8234-123456789abc")
_PAIR = struct(mapped("x", "long", 3, "px"), mapped("y", "string", 4, "py"))
_BY_ID = [
    mapped("id", "long", 1, "col-1"),
    mapped("pair", _PAIR, 2, "col-2"),
    mapped("pairs", array(struct(mapped("z", "long", 6, "pz"), mapped("late", "long", 9, "pl"))), 5, "col-5"),
    mapped("named", map_of("string", struct(mapped("v", "long", 8, "pv"))), 7, "col-7"),
    mapped("day", "string", 10, "col-10"),
]


def by_id_file(location: Path, name: str, names: list[str], number: int) -> AddFile:
    """A file of one row whose columns are called by ``names``."""
    one, two, five, seven = names
    z = field(f"{one}z", pa.int64(), 6)
    pair = pa.struct([field(f"{two}y", pa.string(), 4), field(f"{two}x", pa.int64(), 3)])
    schema = pa.schema(
        [
            field(five, pa.list_(pa.struct([z])), 5),
            field(two, pair, 2),
            field(seven, pa.map_(pa.string(), pa.struct([field("q", pa.int64(), 8)])), 7),
            field(one, pa.int64(), 1),
            field("col-1", pa.int64(), 99),
        ]
    )
    values = [
        [[{f"{one}z": number}, None]],
        [{f"{two}y": f"y{number}", f"{two}x": number} if number else None],
        [[("k", {"q": number})]],
        [number],
        [-1],
    ]
    arrays = [pa.array(value, part.type) for value, part in zip(values, schema, strict=True)]
    stats = {
        "numRecords": 1,
        "minValues": {"col-1": number, "col-2": {"px": number}},
        "maxValues": {"col-1": number, "col-2": {"px": number}},
    }
    return data_file(
        location, name, pa.table(arrays, schema=schema),
        partition_values={"col-10": f"d{number}"}, stats=msgspec.json.encode(stats).decode(),
    )  # fmt: skip


def by_id_table(location: Path) -> Table:
    """A table of rows 0 to 2 in id mode; file 1 swaps names that files 0 and 2 use."""
    adds = [
        by_id_file(location, "0.parquet", list("abcd"), 0),
        by_id_file(location, "1.parquet", list("badc"), 1),
        by_id_file(location, "2.parquet", list("abcd"), 2),
    ]
    write_log(
        location, _BY_ID, adds,
        features=["columnMapping"], partitioned_by=["day"], delta_columnMapping_mode="id",
    )  # fmt: skip
    return headgate.at_path(location)


def numbers(location: Path, *adds: AddFile) -> Table:
    """A table of one column ``id``."""
    write_log(location, [column("id", "long")], adds, features=["deletionVectors"])
    return headgate.at_path(location)


def ids(start: int, stop: int) -> pa.Table:
    return pa.table({"id": pa.array(range(start, stop), pa.int64())})


def plan_of(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


def by_id_row(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "pair": {"x": number, "y": f"y{number}"} if number else None,
        "pairs": [{"z": number, "late": None}, None],
        "named": [("k", {"v": number})],
        "day": f"d{number}",
    }


def test_columns_are_found_by_id_whatever_the_files_call_them(spark: SparkSession, tmp_path: Path) -> None:
    df = by_id_table(tmp_path).read(spark=spark)

    assert rows.of_frame(df) == [by_id_row(number) for number in range(3)]
    assert [row.id for row in df.where("pair.x = 2").collect()] == [2]
    assert df.schema["id"].metadata == {}


def test_a_condition_skips_files_by_physical_names(spark: SparkSession, tmp_path: Path) -> None:
    table = by_id_table(tmp_path)
    (tmp_path / "0.parquet").unlink()

    by_text = table.read(where="pair.x >= 1 AND id < 2", spark=spark)
    by_column = table.read(where=F.col("day") == "d2", spark=spark)

    assert rows.of_frame(by_text) == [by_id_row(1)]
    assert rows.of_frame(by_column) == [by_id_row(2)]
    assert table.read(where="id > 7", spark=spark).columns == ["id", "pair", "pairs", "named", "day"]
    assert table.read(where="id > 7", spark=spark).count() == 0
    with pytest.raises(InvalidRequest):
        table.read(where="no_such > 7", spark=spark)


def test_a_missing_file_is_an_error_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    table = by_id_table(tmp_path)
    (tmp_path / "1.parquet").unlink()

    with pytest.raises((PySparkException, Py4JError), match=r"1\.parquet"):
        table.read(spark=spark).collect()


def test_a_file_without_ids_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    add = data_file(tmp_path, "plain.parquet", pa.table({"p": [1]}))
    write_log(
        tmp_path, [mapped("id", "long", 1, "p")], [add],
        features=["columnMapping"], delta_columnMapping_mode="id",
    )  # fmt: skip

    with pytest.raises(UnsupportedFeature, match=r"plain\.parquet"):
        headgate.at_path(tmp_path).read(spark=spark)


def test_columns_are_found_by_physical_name(spark: SparkSession, tmp_path: Path) -> None:
    inner = pa.array([{"pa": 1, "old": 2}, None], pa.struct([("pa", pa.int64()), ("old", pa.int64())]))
    add = data_file(tmp_path, "a.parquet", pa.table({"p.1": [1, 2], "p2": inner, "id": [8, 9]}))
    columns = [
        mapped("id", "long", 1, "p.1"),
        mapped("s", struct(mapped("a b", "long", 3, "pa"), mapped("c", "long", 4, "pc")), 2, "p2"),
    ]
    write_log(tmp_path, columns, [add], features=["columnMapping"], delta_columnMapping_mode="name")

    df = headgate.at_path(tmp_path).read(spark=spark)

    assert rows.of_frame(df) == [{"id": 1, "s": {"a b": 1, "c": None}}, {"id": 2, "s": None}]
    assert "ReadSchema: struct<p2:struct<pa:bigint>>" in plan_of(df.select("s.`a b`"))


def test_vectors_of_every_kind_delete_rows(spark: SparkSession, tmp_path: Path) -> None:
    location = tmp_path / "t"
    content, (first, second, third) = deletion_vectors.encode_file(
        [DeletedRows.from_rows(gone) for gone in ([0], range(5, 10), [])], _FILE_ID, prefix="ab"
    )
    place = deletion_vectors.vector_location(first)
    assert isinstance(place, deletion_vectors.StoredVector)
    elsewhere = tmp_path / "else where" / "v.bin"
    for path in (location / place.path, elsewhere):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    outside = msgspec.structs.replace(
        second, storage_type="p", path_or_inline_dv=elsewhere.as_uri(), offset=second.offset
    )
    kinds = [None, deletion_vectors.encode_inline(DeletedRows.from_rows([1, 9])), first, outside, third]
    adds = [
        data_file(location, f"{n}.parquet", ids(10 * n, 10 * n + 10), vector=vector)
        for n, vector in enumerate(kinds)
    ]

    df = numbers(location, *adds).read(spark=spark)

    gone = {11, 19, 20, 35, 36, 37, 38, 39}
    assert [row["id"] for row in rows.of_frame(df)] == [n for n in range(50) if n not in gone]
    assert df.count() == 42
    assert df.where("id BETWEEN 18 AND 21").count() == 2


def test_a_vector_holds_in_every_row_group_under_a_pushed_filter(spark: SparkSession, tmp_path: Path) -> None:
    deleted = DeletedRows.from_rows(range(0, 1000, 3))
    add = data_file(
        tmp_path, "a.parquet", ids(0, 1000), group=100, vector=deletion_vectors.encode_inline(deleted)
    )
    table = numbers(tmp_path, add)

    df = table.read(spark=spark).where("id >= 555 AND id < 777")

    assert [row["id"] for row in rows.of_frame(df)] == [n for n in range(555, 777) if n % 3]
    assert "PushedFilters: [IsNotNull(id), GreaterThanOrEqual(id,555), LessThan(id,777)]" in plan_of(df)
    assert "Python" not in plan_of(df)


def test_a_vector_that_is_damaged_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    content, (vector,) = deletion_vectors.encode_file([DeletedRows.from_rows([1])], _FILE_ID)
    place = deletion_vectors.vector_location(vector)
    assert isinstance(place, deletion_vectors.StoredVector)
    (tmp_path / place.path).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    table = numbers(tmp_path, data_file(tmp_path, "a.parquet", ids(0, 3), vector=vector))

    with pytest.raises(CorruptLog, match="checksum"):
        table.read(spark=spark)


@pytest.mark.parametrize("vectorised", ["true", "false"])
def test_types_of_older_files_are_widened(spark: SparkSession, tmp_path: Path, vectorised: str) -> None:
    def widened(name: str, old: str, new: str) -> dict[str, Any]:
        return column(name, new, delta_typeChanges=[{"fromType": old, "toType": new}])

    columns = [
        widened("id", "integer", "long"), widened("d", "byte", "decimal(4,1)"),
        widened("e", "short", "decimal(6,1)"), widened("f", "float", "double"),
        widened("t", "date", "timestamp_ntz"), widened("g", "integer", "double"),
        {**column("l", array("decimal(4,1)")), "metadata": {"delta.typeChanges": [
            {"fromType": "byte", "toType": "decimal(4,1)", "fieldPath": "element"}]}},
    ]  # fmt: skip
    old_types = [
        pa.int32(),
        pa.int8(),
        pa.int16(),
        pa.float32(),
        pa.date32(),
        pa.int32(),
        pa.list_(pa.int8()),
    ]
    new_types = [pa.int64(), pa.decimal128(4, 1), pa.decimal128(6, 1), pa.float64(), pa.timestamp("us"),
                 pa.float64(), pa.list_(pa.decimal128(4, 1))]  # fmt: skip
    names = [part["name"] for part in columns]
    older = pa.table(
        [pa.array([v], t) for v, t in zip([1, 2, 3, 0.5, 4, 5, [6]], old_types, strict=True)], names
    )
    newer = older.replace_schema_metadata().cast(
        pa.schema(list(zip(names, new_types, strict=True)))
    ).set_column(0, "id", pa.array([2], pa.int64()))  # fmt: skip
    adds = [data_file(tmp_path, "o.parquet", older), data_file(tmp_path, "n.parquet", newer)]
    write_log(tmp_path, columns, adds, features=["typeWidening", "timestampNtz"])
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectorised)

    try:
        first, second = rows.of_frame(headgate.at_path(tmp_path).read(spark=spark))
    finally:
        spark.conf.unset("spark.sql.parquet.enableVectorizedReader")

    assert second == newer.to_pylist()[0]
    assert {**first, "id": 2} == second


@pytest.mark.parametrize("name", ["int", "LONG", "null", "hyperloglog"])
def test_a_type_that_is_none_is_refused_by_name(spark: SparkSession, tmp_path: Path, name: str) -> None:
    adds = [data_file(tmp_path, "a.parquet", pa.table({"id": [1]}))]
    write_log(tmp_path, [column("id", name)], adds)

    with pytest.raises(UnsupportedFeature, match=name) as raised:
        headgate.at_path(tmp_path).read(spark=spark)

    assert raised.value.code == "DELTA_UNSUPPORTED_DATA_TYPES"


def test_void_columns_are_null(spark: SparkSession, tmp_path: Path) -> None:
    inner = pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())]))
    add = data_file(tmp_path, "a.parquet", pa.table({"id": [1, 2], "s": inner}))
    columns = [
        column("v", "void"),
        column("id", "long"),
        column("s", struct(column("w", "void"), column("a", "long"))),
    ]
    write_log(tmp_path, columns, [add])

    df = headgate.at_path(tmp_path).read(spark=spark)

    assert df.schema["v"].dataType.simpleString() == "void"
    assert rows.of_frame(df) == [
        {"v": None, "id": 1, "s": {"w": None, "a": 1}},
        {"v": None, "id": 2, "s": None},
    ]


def test_defaults_of_writers_are_not_given_to_old_rows(spark: SparkSession, tmp_path: Path) -> None:
    add = data_file(tmp_path, "a.parquet", pa.table({"id": [1]}))
    orders = {"CURRENT_DEFAULT": "7", "EXISTS_DEFAULT": "7", "comment": "c"}
    extra = column("n", "long") | {"metadata": orders}
    write_log(tmp_path, [column("id", "long"), extra], [add])

    df = headgate.at_path(tmp_path).read(spark=spark)

    assert rows.of_frame(df) == [{"id": 1, "n": None}]
    assert df.schema["n"].metadata == {"comment": "c"}


def test_rows_are_tracked_across_files(spark: SparkSession, tmp_path: Path) -> None:
    moved = pa.table({"id": [10, 11], "_mid": [4, None], "_mver": [1, None]})
    adds = [
        data_file(tmp_path, "a.parquet", ids(0, 3), base_row_id=0, default_row_commit_version=2,
                  vector=deletion_vectors.encode_inline(DeletedRows.from_rows([1]))),
        data_file(tmp_path, "b.parquet", moved, base_row_id=100, default_row_commit_version=5),
    ]  # fmt: skip
    write_log(
        tmp_path, [column("id", "long")], adds,
        features=["deletionVectors"], writers=["rowTracking", "domainMetadata"],
        delta_enableRowTracking="true",
        delta_rowTracking_materializedRowIdColumnName="_mid",
        delta_rowTracking_materializedRowCommitVersionColumnName="_mver",
    )  # fmt: skip

    df = headgate.at_path(tmp_path).read(row_ids=True, spark=spark)

    tracked = [(row["id"], row["_row_id"], row["_row_commit_version"]) for row in rows.of_frame(df)]
    assert tracked == [(0, 0, 2), (2, 2, 2), (10, 4, 1), (11, 101, 5)]


def test_only_a_table_that_tracks_rows_has_row_ids(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="enableRowTracking"):
        numbers(tmp_path).read(row_ids=True, spark=spark)


def test_the_metadata_of_files_stays_visible(spark: SparkSession, tmp_path: Path) -> None:
    add = data_file(tmp_path, "a.parquet", pa.table({"p": [1]}), modification_time=1_000)
    write_log(
        tmp_path, [mapped("id", "long", 1, "p")], [add],
        features=["columnMapping"], delta_columnMapping_mode="name",
    )  # fmt: skip

    found = headgate.at_path(tmp_path).read(spark=spark).select("id", "_metadata").collect()[0]

    assert (found.id, found._metadata.file_name) == (1, "a.parquet")
    assert found._metadata.file_modification_time.timestamp() == 1
