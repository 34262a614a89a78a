"""Rows of a snapshot without Spark: tables of every feature, made by hand, and what is refused by name."""

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate
from headgate.errors import FileDamaged, InvalidRequest, ObjectNotFound, UnsupportedFeature, VersionNotFound
from headgate.protocol.log import deletion_vectors
from headgate.protocol.log.deletion_vectors import DeletedRows
from tests.support import odd_tables, scanned_tables
from tests.support.handmade import array, column, data_file, map_of, mapped, struct, write_log


@pytest.mark.parametrize("name", scanned_tables.TABLES)
def test_every_live_row_is_there_once(tmp_path: Path, name: str) -> None:
    make, count = scanned_tables.TABLES[name]
    table = make(tmp_path / "t")

    rows = table.to_arrow()

    assert rows.num_rows == count
    assert len(set(rows["id"].to_pylist())) == count


@pytest.mark.parametrize("name", scanned_tables.TABLES)
@pytest.mark.parametrize("where", ["id >= 5 AND id < 15", "id IN (3, 4, 12)", "id IS NULL", "id <> 3"])
def test_a_condition_gives_just_those_of_all_rows(tmp_path: Path, name: str, where: str) -> None:
    table = scanned_tables.TABLES[name][0](tmp_path / "t")
    meant = {
        "id >= 5 AND id < 15": lambda n: 5 <= n < 15,
        "id IN (3, 4, 12)": lambda n: n in (3, 4, 12),
        "id IS NULL": lambda _: False,
        "id <> 3": lambda n: n != 3,
    }[where]

    everything = table.to_arrow().to_pylist()

    assert table.to_arrow(where=where).to_pylist() == [row for row in everything if meant(row["id"])]


@pytest.mark.parametrize("odd", odd_tables.ODD_TABLES, ids=lambda odd: odd.name)
def test_tables_as_other_writers_leave_them(tmp_path: Path, odd: odd_tables.OddTable) -> None:
    odd.make(tmp_path)

    assert tuple(sorted(headgate.at_path(tmp_path).to_arrow(["id"])["id"].to_pylist())) == odd.ids


def test_the_columns_that_are_asked_for_in_their_order_ignoring_case(tmp_path: Path) -> None:
    table = scanned_tables.partitioned(tmp_path / "t")

    rows = table.to_arrow(["S", "id"], where="i = 1", limit=2)

    assert rows.to_pylist() == [{"s": "it's ü/%", "id": 0}, {"s": "it's ü/%", "id": 1}]


def test_partition_values_have_their_types(tmp_path: Path) -> None:
    row = scanned_tables.partitioned(tmp_path / "t").to_arrow(where="id = 3").to_pylist()[0]

    assert row == {
        "id": 3, "i": 1, "d": date(2024, 2, 29), "t": datetime(2024, 2, 29, 12, 0, 0, 500000, tzinfo=UTC),
        "n": Decimal("1.50"), "b": True, "s": "it's ü/%",
    }  # fmt: skip


def test_a_limit_opens_no_more_files_than_it_takes(tmp_path: Path) -> None:
    table = scanned_tables.plain(tmp_path / "t")
    for n in range(2, 10):
        (tmp_path / "t" / f"{n}.parquet").unlink()

    assert table.to_arrow(limit=15)["id"].to_pylist() == list(range(15))
    assert table.to_arrow(limit=0).num_rows == 0
    with pytest.raises(ObjectNotFound, match=r"2\.parquet is not there.*VACUUM"):
        table.to_arrow(limit=25)


def test_a_condition_opens_only_files_that_may_have_such_rows(tmp_path: Path) -> None:
    table = scanned_tables.plain(tmp_path / "t")
    for n in (0, 1, 2, 4, 5, 6, 7, 8, 9):
        (tmp_path / "t" / f"{n}.parquet").unlink()

    assert table.to_arrow(where="id = 35").to_pylist() == [{"id": 35, "s": "s5"}]


def test_deleted_rows_in_a_file_of_many_batches(tmp_path: Path) -> None:
    gone = [0, 65_535, 65_536, 149_999]
    vector = deletion_vectors.encode_inline(DeletedRows.from_rows(gone))
    data = pa.table({"id": pa.array(range(150_000), pa.int64())})
    add = data_file(tmp_path, "a.parquet", data, vector=vector)
    write_log(tmp_path, [column("id", "long")], [add], features=["deletionVectors"])
    table = headgate.at_path(tmp_path)

    everything = table.to_arrow()["id"].to_pylist()

    assert everything == [n for n in range(150_000) if n not in gone]
    assert table.to_arrow(limit=149_000)["id"].to_pylist() == everything[:149_000]


def test_older_files_are_narrower_and_lack_what_was_added(tmp_path: Path) -> None:
    def field(name: str, wide: str, old: str) -> dict[str, Any]:
        return column(name, wide, delta_typeChanges=[{"fromType": old, "toType": wide}])

    data = pa.table(
        {
            "a": pa.array([1, None], pa.int8()), "b": pa.array([1, 2], pa.int32()),
            "c": pa.array([0.1, None], pa.float32()), "d": pa.array([7, 8], pa.int32()),
            "e": pa.array([date(2024, 1, 1), None]),
            "n": pa.array([Decimal("1.25"), None], pa.decimal128(5, 2)),
            "l": pa.array([[{"x": 1}, None], None], pa.list_(pa.struct([("x", pa.int16())]))),
        }
    )  # fmt: skip
    columns = [
        field("a", "long", "byte"), field("b", "double", "integer"), field("c", "double", "float"),
        field("d", "decimal(20,4)", "integer"), field("e", "timestamp_ntz", "date"),
        field("n", "decimal(12,4)", "decimal(5,2)"),
        column("l", array(struct(column("y", "string"), column("x", "long")))), column("late", "binary"),
    ]  # fmt: skip
    write_log(
        tmp_path, columns, [data_file(tmp_path, "a.parquet", data)], features=["typeWidening", "timestampNtz"]
    )

    rows = headgate.at_path(tmp_path).to_arrow().to_pylist()

    assert rows[0] == {
        "a": 1, "b": 1.0, "c": data["c"][0].as_py(), "d": Decimal("7.0000"), "e": datetime(2024, 1, 1),
        "n": Decimal("1.2500"), "l": [{"y": None, "x": 1}, None], "late": None,
    }  # fmt: skip
    assert rows[1] == {**dict.fromkeys(rows[0]), "b": 2.0, "d": Decimal("8.0000")}


def test_nested_parts_under_physical_names(tmp_path: Path) -> None:
    inner = struct(mapped("x y", "long", 3, "px"), mapped("late", "string", 4, "pl"))
    columns = [
        mapped("id", "long", 1, "p1"), mapped("s", inner, 2, "p2"),
        mapped("m", map_of("string", inner), 5, "p5"),
    ]  # fmt: skip
    kind = pa.struct([("px", pa.int64())])
    data = pa.table(
        [
            pa.array([1, 2, 3], pa.int64()), pa.array([{"px": 1}, None, {"px": None}], kind),
            pa.array([[("a", {"px": 5}), ("b", None)], None, []], pa.map_(pa.string(), kind)),
        ],
        names=["p1", "p2", "p5"],
    )  # fmt: skip
    write_log(
        tmp_path, columns, [data_file(tmp_path, "a.parquet", data)],
        features=["columnMapping"], delta_columnMapping_mode="name",
    )  # fmt: skip
    table = headgate.at_path(tmp_path)

    assert table.to_arrow().to_pylist() == [
        {"id": 1, "s": {"x y": 1, "late": None}, "m": [("a", {"x y": 5, "late": None}), ("b", None)]},
        {"id": 2, "s": None, "m": None},
        {"id": 3, "s": {"x y": None, "late": None}, "m": []},
    ]
    assert table.to_arrow(["id"], where="s.`x y` = 1").to_pylist() == [{"id": 1}]
    assert table.to_arrow(["id"], where="s.`x y` IS NULL").to_pylist() == [{"id": 2}, {"id": 3}]


def test_texts_of_any_kind_of_arrow_and_moments_of_any_unit(tmp_path: Path) -> None:
    moment = datetime(2024, 2, 29, 12, tzinfo=UTC)
    data = pa.table(
        {
            "id": [1], "s": pa.array(["é"]).dictionary_encode(),
            "t": pa.array([moment], pa.timestamp("ms", "UTC")),
            "w": pa.array([moment], pa.timestamp("ms")), "b": pa.array([b"x"], pa.large_binary()),
        }
    )  # fmt: skip
    columns = [
        column("id", "long"), column("s", "string"), column("t", "timestamp"), column("w", "timestamp_ntz"),
        column("b", "binary"),
    ]  # fmt: skip
    write_log(tmp_path, columns, [data_file(tmp_path, "a.parquet", data)], features=["timestampNtz"])

    rows = headgate.at_path(tmp_path).to_arrow()

    assert rows.to_pylist() == [{"id": 1, "s": "é", "t": moment, "w": moment.replace(tzinfo=None), "b": b"x"}]
    assert [str(field.type) for field in rows.schema] == [
        "int64", "string", "timestamp[us, tz=UTC]", "timestamp[us]", "binary"
    ]  # fmt: skip


def test_a_type_that_arrow_does_not_have_is_refused_by_name_unless_it_is_left_out(tmp_path: Path) -> None:
    add = data_file(tmp_path, "a.parquet", pa.table({"id": [1]}))
    write_log(tmp_path, [column("id", "long"), column("v", "variant")], [add], features=["variantType"])
    table = headgate.at_path(tmp_path)

    with pytest.raises(UnsupportedFeature, match=r"column 'v' is of type variant.*table.read"):
        table.to_arrow()
    assert table.to_arrow(["id"]).to_pylist() == [{"id": 1}]


def test_days_of_the_old_calendar_are_left_to_spark(tmp_path: Path) -> None:
    old, new = date(1500, 1, 1), date(2024, 1, 1)
    for name, day in (("old", old), ("new", new)):
        data = pa.table({"id": [1], "d": [day]})
        place = tmp_path / name
        add = data_file(place, "a.parquet", data)
        legacy = data.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""})
        pq.write_table(legacy, place / "a.parquet")
        write_log(place, [column("id", "long"), column("d", "date")], [add])

    assert headgate.at_path(tmp_path / "new").to_arrow()["d"].to_pylist() == [new]
    with pytest.raises(UnsupportedFeature, match="'d', dates or moments of long ago by the Julian"):
        headgate.at_path(tmp_path / "old").to_arrow()


def test_what_cannot_be_meant(tmp_path: Path) -> None:
    table = scanned_tables.plain(tmp_path / "t")

    with pytest.raises(InvalidRequest, match=r"no column 'idd'.*id"):
        table.to_arrow(["idd"])
    with pytest.raises(InvalidRequest, match="asked for twice"):
        table.to_arrow(["id", "ID"])
    with pytest.raises(InvalidRequest, match="names no column"):
        table.to_arrow([])
    with pytest.raises(InvalidRequest, match="limit"):
        table.to_arrow(limit=-1)
    with pytest.raises(InvalidRequest, match="no column 'nope'"):
        table.to_arrow(where="nope = 1")
    with pytest.raises(UnsupportedFeature, match="without Spark"):
        table.to_arrow(where="length(s) = 1")
    with pytest.raises(VersionNotFound):
        table.to_arrow(version=7)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    table = scanned_tables.plain(tmp_path / "t")
    (tmp_path / "t" / "3.parquet").write_bytes(b"nothing of parquet")

    with pytest.raises(FileDamaged, match=r"3\.parquet cannot be read"):
        table.to_arrow()


def test_pandas_has_the_same_rows(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    table = scanned_tables.plain(tmp_path / "t")

    assert table.to_pandas(["id"], where="id < 3")["id"].tolist() == [0, 1, 2]
