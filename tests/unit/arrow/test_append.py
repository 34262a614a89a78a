"""Rows appended without Spark: what the log says of them, what is refused, and what a crash leaves behind."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql.types import StructType

import headgate
from headgate import Table
from headgate.errors import (
    CommitUnknown,
    ConstraintViolated,
    InvalidRequest,
    MetadataChanged,
    SchemaMismatch,
    StorageUnavailable,
    UnsupportedFeature,
)
from headgate.settings import Publish, Settings
from tests.support.handmade import array, column, map_of, struct, write_log

MOMENT = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)


def new_table(place: Path, *columns: Mapping[str, Any], by: tuple[str, ...] = (), **properties: str) -> Table:
    """A table of these columns; underscores in the names of properties stand for dots."""
    schema = StructType.fromJson(json.loads(json.dumps(struct(*columns))))
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return headgate.at_path(place, columns=schema, partition_by=by, properties=named)


def required(name: str, data_type: Any, **metadata: Any) -> dict[str, Any]:
    return {**column(name, data_type, **metadata), "nullable": False}


def adds(place: Path) -> list[dict[str, Any]]:
    """The adds of the newest version that is published."""
    newest = max((place / "_delta_log").glob("*.json"))
    return [json.loads(line)["add"] for line in newest.read_text().splitlines() if '"add"' in line[:7]]


def stats(place: Path) -> dict[str, Any]:
    (add,) = adds(place)
    found: dict[str, Any] = json.loads(add["stats"])
    return found


ALL_TYPES = [
    column("b", "boolean"), column("i8", "byte"), column("i16", "short"), column("i32", "integer"),
    column("i64", "long"), column("f32", "float"), column("f64", "double"), column("s", "string"),
    column("bin", "binary"), column("d", "date"), column("ts", "timestamp"), column("w", "timestamp_ntz"),
    column("n", "decimal(10,2)"), column("big", "decimal(38,6)"),
    column("st", struct(column("x", "long"), column("y", "string"))), column("l", array("long")),
    column("m", map_of("string", "long")),
]  # fmt: skip
ROW = {
    "b": True, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "f32": 0.5, "f64": 1.25, "s": "é", "bin": b"\x00\xff",
    "d": date(2024, 2, 29), "ts": MOMENT, "w": MOMENT.replace(tzinfo=None), "n": Decimal("1.50"),
    "big": Decimal("12345678901234567890.123456"), "st": {"x": 1, "y": None}, "l": [1, None],
    "m": [("k", 1)],
}  # fmt: skip


@pytest.mark.parametrize("mode", ["none", "name", "id"])
def test_every_type_is_read_back_as_it_was(tmp_path: Path, mode: str) -> None:
    table = new_table(tmp_path / "t", *ALL_TYPES, delta_columnMapping_mode=mode)

    assert table.append([ROW, {}]) == 1

    assert table.to_arrow().to_pylist() == [ROW, dict.fromkeys(ROW)]
    if mode == "none":
        assert DeltaTable(str(tmp_path / "t")).to_pyarrow_table().to_pylist() == [ROW, dict.fromkeys(ROW)]
        return
    schema = json.loads(table.log.snapshot().state.metadata.schema_string)
    stored = pq.read_schema(next((tmp_path / "t").glob("*.parquet")))
    wanted = [
        (field["metadata"]["delta.columnMapping.physicalName"], field["metadata"]["delta.columnMapping.id"])
        for field in schema["fields"]
    ]
    assert [(field.name, int(field.metadata[b"PARQUET:field_id"])) for field in stored] == wanted
    inner = schema["fields"][14]["type"]["fields"][0]["metadata"]
    assert stored.field(14).type[0].name == inner["delta.columnMapping.physicalName"]
    assert int(stored.field(14).type[0].metadata[b"PARQUET:field_id"]) == inner["delta.columnMapping.id"]


def test_arrow_pandas_and_dicts_are_the_same_rows(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = new_table(tmp_path / "t", column("id", "long"), column("s", "string"))
    rows = pa.table({"S": ["a", None], "id": [1, 2]})

    table.append(rows)
    table.append(rows.to_batches()[0])
    table.append(pandas.DataFrame({"s": ["a", None], "id": [1, 2]}))
    table.append([{"id": 1, "s": "a"}, {"id": 2}])
    table.append(({"id": 1, "s": "a"}, {"s": None, "id": 2}))

    assert table.to_arrow().to_pylist() == 5 * [{"id": 1, "s": "a"}, {"id": 2, "s": None}]
    assert table.version() == 5


def test_statistics_follow_deltas_rules(tmp_path: Path) -> None:
    place = tmp_path / "t"
    table = new_table(
        place, column("id", "long"), column("s", "string"), column("f", "double"), column("g", "float"),
        column("ts", "timestamp"), column("n", "decimal(10,2)"), column("b", "boolean"),
        column("st", struct(column("x", "long"))), column("d", "date"), column("none", "long"),
    )  # fmt: skip
    table.append(
        [
            {"id": 5, "s": "z" * 40, "f": math.nan, "g": 1.5, "ts": MOMENT, "n": Decimal("1.50"), "b": True,
             "st": {"x": 3}, "d": date(2024, 1, 1)},
            {"id": -5, "s": "a", "f": 1.0, "g": -0.5, "n": Decimal("-2"), "st": None},
        ]
    )  # fmt: skip

    assert stats(place) == {
        "numRecords": 2,
        "minValues": {
            "id": -5, "s": "a", "g": -0.5, "ts": "2026-01-31T12:00:00.123Z", "n": -2.0, "st": {"x": 3},
            "d": "2024-01-01",
        },
        "maxValues": {
            "id": 5, "s": "z" * 32 + "\U0010ffff", "g": 1.5, "ts": "2026-01-31T12:00:00.124Z", "n": 1.5,
            "st": {"x": 3}, "d": "2024-01-01",
        },
        "nullCount": {
            "id": 0, "s": 0, "f": 0, "g": 0, "ts": 1, "n": 0, "b": 1, "st": {"x": 1}, "d": 1, "none": 2,
        },
    }  # fmt: skip
    assert table.to_arrow(["id"], where="f > 100").to_pylist() == [{"id": 5}]  # NaN is above all numbers


def test_no_bounds_of_floats_in_footers(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", column("id", "long"), column("f", "double"))
    table.append([{"id": 1, "f": 1.0}, {"id": 2, "f": math.nan}])

    group = pq.read_metadata(next((tmp_path / "t").glob("*.parquet"))).row_group(0)

    assert group.column(0).statistics.max == 2
    assert group.column(1).statistics is None or not group.column(1).statistics.has_min_max


def test_only_the_first_columns_have_statistics_or_those_that_are_named(tmp_path: Path) -> None:
    columns = [column(f"c{n}", "long") for n in range(40)]
    new_table(tmp_path / "first", *columns).append([{f"c{n}": n for n in range(40)}])
    new_table(tmp_path / "named", *columns, delta_dataSkippingStatsColumns="c39,c2").append([{"c2": 1}])

    assert list(stats(tmp_path / "first")["minValues"]) == [f"c{n}" for n in range(32)]
    assert list(stats(tmp_path / "named")["nullCount"]) == ["c2", "c39"]


def test_partitions_are_written_as_delta_writes_them(tmp_path: Path) -> None:
    place = tmp_path / "t"
    kinds = {
        "i": "integer", "s": "string", "d": "date", "ts": "timestamp", "w": "timestamp_ntz",
        "n": "decimal(10,2)", "b": "boolean", "f": "double", "g": "float", "bin": "binary",
    }  # fmt: skip
    table = new_table(
        place, column("id", "long"), *(column(*pair) for pair in kinds.items()), by=tuple(kinds)
    )
    row = {
        "id": 1, "i": -3, "s": "a/b=ü %", "d": date(2024, 2, 29), "ts": MOMENT,
        "w": MOMENT.replace(tzinfo=None), "n": Decimal("1.50"), "b": True, "f": 1e10, "g": 0.1, "bin": b"xy",
    }  # fmt: skip

    table.append([row, {"id": 2, "s": ""}, {**row, "id": 3}])

    values = {add["partitionValues"]["i"]: add["partitionValues"] for add in adds(place)}
    assert values == {
        "-3": {
            "i": "-3", "s": "a/b=ü %", "d": "2024-02-29", "ts": "2026-01-31T12:00:00.123456Z",
            "w": "2026-01-31 12:00:00.123456", "n": "1.50", "b": "true", "f": "1.0E10", "g": "0.1",
            "bin": "xy",
        },
        None: dict.fromkeys(kinds),
    }  # fmt: skip
    found = sorted(table.to_arrow().to_pylist(), key=lambda found: found["id"])
    single = pa.scalar(0.1, pa.float32()).as_py()
    assert found == [
        {**row, "g": single}, {**dict.fromkeys(row), "id": 2}, {**row, "id": 3, "g": single}
    ]  # fmt: skip
    assert table.to_arrow(["id"], where="i = -3 AND d = '2024-02-29'").num_rows == 2


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        ("long", "1"), ("long", 1.0), ("long", True), ("integer", 2**31), ("byte", 300), ("double", "1.5"),
        ("float", 1e300), ("string", 5), ("string", b"x"), ("binary", "x"), ("boolean", 1),
        ("date", MOMENT), ("date", 5), ("timestamp", MOMENT.replace(tzinfo=None)), ("timestamp", 5),
        ("timestamp", date(2024, 1, 1)), ("timestamp_ntz", MOMENT), ("decimal(10,2)", Decimal("1.234")),
        ("decimal(10,2)", 1.5), ("decimal(4,2)", Decimal("123.4")), (array("long"), "ab"),
        (struct(column("x", "long")), {"x": 1, "z": 2}), (struct(column("x", "long")), {"x": "1"}),
        (map_of("string", "long"), {"a": "b"}), (array("timestamp"), [datetime(2024, 1, 1)]),
    ],
)  # fmt: skip
def test_a_value_that_is_not_of_the_type_is_refused_and_nothing_is_left(
    tmp_path: Path, data_type: Any, value: Any
) -> None:
    table = new_table(tmp_path / "t", column("id", "long"), column("v", data_type))

    with pytest.raises((SchemaMismatch, ConstraintViolated), match=r"'v.*nothing was committed"):
        table.append([{"id": 1, "v": value}])

    assert table.version() == 0
    assert not list((tmp_path / "t").rglob("*.parquet"))


def test_columns_are_those_of_the_table_unless_they_are_merged(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", column("id", "long"))

    with pytest.raises(SchemaMismatch, match=r"column 'note' is not in the table.*merge_schema"):
        table.append([{"id": 1, "note": "x"}])
    assert table.append([{"id": 1, "note": "x"}], merge_schema=True) == 1

    assert table.to_arrow().to_pylist() == [{"id": 1, "note": "x"}]
    with pytest.raises(SchemaMismatch, match="failed to merge fields"):
        table.append(pa.table({"id": ["text"]}))
    with pytest.raises(SchemaMismatch, match="more than one column 'id'"):
        table.append(pa.table([[1], [2]], names=["id", "ID"]))
    with pytest.raises(InvalidRequest, match=r"'at' is time64\[us\] in Arrow"):
        table.append(pa.table({"at": pa.array([1], pa.time64("us"))}), merge_schema=True)


def test_casts_that_lose_nothing(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", column("i", "integer"), column("n", "decimal(10,2)"))
    rows = pa.table({"i": pa.array([7], pa.int64()), "n": pa.array([Decimal("1.5")], pa.decimal128(4, 1))})

    with pytest.raises(SchemaMismatch, match="implicit_casts=True"):
        table.append(rows)
    table.append(rows, implicit_casts=True)

    assert table.to_arrow().to_pylist() == [{"i": 7, "n": Decimal("1.50")}]
    with pytest.raises(ConstraintViolated, match="'i' does not fit into its type, integer"):
        table.append(pa.table({"i": [2**40]}), implicit_casts=True)
    with pytest.raises(UnsupportedFeature, match="double in the rows, which only Spark casts"):
        table.append(pa.table({"n": [1.5]}), implicit_casts=True)


def test_not_null_columns_at_every_level(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", required("id", "long"), column("s", "string"))

    with pytest.raises(ConstraintViolated, match=r"'id' is NOT NULL.* has id = null, s = x") as broken:
        table.append([{"id": 1}, {"id": None, "s": "x"}])
    assert broken.value.code == "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    with pytest.raises(SchemaMismatch, match="'id' is NOT NULL in the table and missing"):
        table.append([{"s": "x"}])
    assert table.version() == 0


def constrained(place: Path, *columns: Mapping[str, Any], **constraints: str) -> Table:
    named = {f"delta_constraints_{name}": text for name, text in constraints.items()}
    write_log(place, columns, [], writers=["checkConstraints"], **named)
    return headgate.at_path(place)


def test_check_constraints(tmp_path: Path) -> None:
    columns = column("id", "long"), column("s", "string")
    table = constrained(tmp_path, *columns, positive="id > 0 AND s IN ('a', 'b')")
    table.append([{"id": 1, "s": "a"}])

    for broken in ({"id": 0, "s": "a"}, {"id": 1, "s": "c"}, {"id": None, "s": "a"}):
        with pytest.raises(ConstraintViolated, match=r"CHECK constraint 'positive'.*is not true for a row"):
            table.append([broken])

    assert table.version() == 1


def test_a_constraint_that_only_spark_evaluates_is_refused_by_name(tmp_path: Path) -> None:
    table = constrained(tmp_path, column("s", "string"), short="length(s) < 5")

    with pytest.raises(UnsupportedFeature, match=r"'short' \(length\(s\) < 5\) cannot .*createDataFrame"):
        table.append([{"s": "x"}])
    assert table.version() == 0


def test_char_and_varchar(tmp_path: Path) -> None:
    key = "__CHAR_VARCHAR_TYPE_STRING"
    columns = [
        {**column("c", "string"), "metadata": {key: "char(4)"}},
        {**column("v", "string"), "metadata": {key: "varchar(3)"}},
    ]
    table = new_table(tmp_path / "t", *columns)

    table.append([{"c": "é", "v": "ab "}, {"c": "abcd  ", "v": "abc   "}])

    assert table.to_arrow().to_pylist() == [{"c": "é   ", "v": "ab "}, {"c": "abcd", "v": "abc"}]
    with pytest.raises(ConstraintViolated, match=r"'abcd' does not fit into a column of type varchar\(3\)"):
        table.append([{"v": "abcd"}])


@pytest.mark.parametrize(
    ("data_type", "expression", "value"),
    [
        ("long", "5", 5), ("integer", "-7", -7), ("string", "'it\\'s'", "it's"), ("double", "1.5", 1.5),
        ("decimal(10,2)", "1.5", Decimal("1.50")), ("boolean", "true", True), ("long", "NULL", None),
        ("date", "DATE'2024-02-29'", date(2024, 2, 29)), ("date", "'2024-02-29'", date(2024, 2, 29)),
        ("timestamp", "TIMESTAMP'2026-01-31 12:00:00.123456Z'", MOMENT), ("string", "concat('a', 'b')", "ab"),
        ("long", "2 * (3 + 4)", 14), ("string", "CAST(5 AS STRING)", "5"), ("short", "5L", 5),
    ],
)  # fmt: skip
def test_defaults_that_are_known_without_spark(
    tmp_path: Path, data_type: str, expression: str, value: Any
) -> None:
    told = {"CURRENT_DEFAULT": expression, "EXISTS_DEFAULT": expression}
    table = new_table(
        tmp_path / "t", column("id", "long"), {**column("v", data_type), "metadata": told},
        **{"delta_feature_allowColumnDefaults": "supported"},
    )  # fmt: skip

    table.append([{"id": 1}])
    table.append([{"id": 2, "v": None}])

    assert table.to_arrow().to_pylist() == [{"id": 1, "v": value}, {"id": 2, "v": None}]


def test_dicts_that_bring_a_column_with_a_default_in_some_rows_only_are_refused(tmp_path: Path) -> None:
    told = {"CURRENT_DEFAULT": "5", "EXISTS_DEFAULT": "5"}
    table = new_table(tmp_path / "t", column("id", "long"), {**column("v", "long"), "metadata": told})

    with pytest.raises(InvalidRequest, match="some of the dicts have 'v' and others do not"):
        table.append([{"id": 1}, {"id": 2, "v": 3}])
    assert table.version() == 0


def test_the_moment_of_the_write_by_default(tmp_path: Path) -> None:
    told = {"CURRENT_DEFAULT": "current_timestamp()", "EXISTS_DEFAULT": "NULL"}
    table = new_table(
        tmp_path / "t", column("id", "long"), {**column("at", "timestamp"), "metadata": told},
        **{"delta_feature_allowColumnDefaults": "supported"},
    )  # fmt: skip
    before = datetime.now(UTC).replace(microsecond=0)

    table.append([{"id": 1}, {"id": 2}])

    found = table.to_arrow()["at"].to_pylist()
    assert found[0] == found[1]
    assert before <= found[0] <= datetime.now(UTC)


def test_a_default_that_only_spark_evaluates_is_refused_unless_rows_bring_the_column(tmp_path: Path) -> None:
    told = {"CURRENT_DEFAULT": "sha2('x', 256)", "EXISTS_DEFAULT": "NULL"}
    table = new_table(
        tmp_path / "t", column("id", "long"), {**column("h", "string"), "metadata": told},
        **{"delta_feature_allowColumnDefaults": "supported"},
    )  # fmt: skip

    with pytest.raises(UnsupportedFeature, match=r"'h' has the default sha2.*without Spark"):
        table.append([{"id": 1}])
    table.append([{"id": 1, "h": "x"}])


@pytest.mark.parametrize(
    ("data_type", "expression", "value"),
    [
        ("integer", "year(d)", 2024), ("integer", "month(d)", 2), ("integer", "day(d)", 29),
        ("date", "CAST(w AS DATE)", date(2026, 1, 31)), ("long", "id + 1", 6), ("long", "id * 2 - 1", 9),
        ("string", "substring(s, 1, 2)", "ab"), ("string", "s || '!'", "abc!"), ("long", "id", 5),
        ("integer", "year(w)", 2026), ("long", "st.x", 7),
    ],
)  # fmt: skip
def test_generated_columns_that_are_known_without_spark(
    tmp_path: Path, data_type: str, expression: str, value: Any
) -> None:
    generated = {**column("g", data_type), "metadata": {"delta.generationExpression": expression}}
    table = new_table(
        tmp_path / "t", generated, column("id", "long"), column("d", "date"), column("w", "timestamp_ntz"),
        column("s", "string"), column("st", struct(column("x", "long"))),
    )  # fmt: skip
    row = {"id": 5, "d": date(2024, 2, 29), "w": datetime(2026, 1, 31, 23), "s": "abc", "st": {"x": 7}}

    table.append([row, {}])
    table.append([{**row, "g": value}])

    assert table.to_arrow(["g"])["g"].to_pylist() == [value, None, value]
    with pytest.raises(ConstraintViolated, match=r"'g' is generated as .* another value"):
        table.append([{**row, "g": None}])


def test_identity_columns_go_on_and_their_mark_with_them(tmp_path: Path) -> None:
    told = {"delta.identity.start": 10, "delta.identity.step": 5, "delta.identity.allowExplicitInsert": False}
    table = new_table(tmp_path / "t", {**column("k", "long"), "metadata": told}, column("s", "string"))

    table.append([{"s": "a"}, {"s": "b"}])
    table.append([{"s": "c"}])

    assert table.to_arrow().to_pylist() == [
        {"k": 10, "s": "a"}, {"k": 15, "s": "b"}, {"k": 20, "s": "c"}
    ]  # fmt: skip
    assert '"delta.identity.highWaterMark":20' in table.log.snapshot().state.metadata.schema_string
    with pytest.raises(InvalidRequest, match="GENERATED ALWAYS AS IDENTITY"):
        table.append([{"k": 1, "s": "d"}])


def test_who_loses_the_values_of_an_identity_column_takes_the_next(tmp_path: Path) -> None:
    told = {"delta.identity.start": 1, "delta.identity.step": 1, "delta.identity.allowExplicitInsert": False}
    table = new_table(tmp_path / "t", {**column("k", "long"), "metadata": told}, column("s", "string"))
    other = headgate.at_path(tmp_path / "t")
    log, commit = table.log, table.log.commit
    raced = []

    def commit_after_another(change: Any, **base: Any) -> Any:
        if not raced:
            raced.append(other.append([{"s": "winner"}]))
        return commit(change, **base)

    log.commit = commit_after_another  # type: ignore[method-assign]
    table.append([{"s": "late"}])

    assert table.to_arrow().to_pylist() == [{"k": 1, "s": "winner"}, {"k": 2, "s": "late"}]
    live = {add["path"] for add in adds(tmp_path / "t")}
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 2  # what was written in vain is gone
    assert len(live) == 1


def test_an_application_s_batch_is_written_once(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", column("id", "long"))

    assert table.append([{"id": 1}], txn=("etl", 7), user_metadata="nightly") == 1
    assert table.append([{"id": 1}], txn=("etl", 7)) == 1
    assert table.append([{"id": 2}], txn=("etl", 8), domains={"acme.mark": "8"}) == 2

    assert table.to_arrow()["id"].to_pylist() == [1, 2]
    assert table.domain("acme.mark") == "8"
    assert table.log.history()[1].info.user_metadata == "nightly"


def test_options_that_shape_files_and_those_that_mean_nothing_here(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", column("id", "long"))

    table.append([{"id": n} for n in range(10)], max_records_per_file=4, compression="zstd")

    assert sorted(json.loads(add["stats"])["numRecords"] for add in adds(tmp_path / "t")) == [2, 4, 4]
    file = next((tmp_path / "t").glob("*.parquet"))
    assert pq.read_metadata(file).row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(UnsupportedFeature, match="data_change"):
        table.append([{"id": 1}], data_change=False)
    with pytest.raises(UnsupportedFeature, match="mean nothing to an append"):
        table.append([{"id": 1}], replace_where="id = 1")
    with pytest.raises(InvalidRequest, match="compression 'x'"):
        table.append([{"id": 1}], compression="x")
    with pytest.raises(InvalidRequest, match=r"an Arrow table, or a list of dicts.*bring dicts"):
        table.append([1, 2])  # type: ignore[list-item]


def test_no_rows_are_a_version_too(tmp_path: Path) -> None:
    table = new_table(tmp_path / "t", required("id", "long"))

    assert table.append([]) == 1
    assert table.append(pa.table({"id": pa.array([], pa.int64())})) == 2

    assert not list((tmp_path / "t").glob("*.parquet"))


def test_row_tracking_and_append_only_tables_take_appends(tmp_path: Path) -> None:
    table = new_table(
        tmp_path / "t", column("id", "long"), delta_enableRowTracking="true", delta_appendOnly="true",
        delta_enableDeletionVectors="true", delta_enableChangeDataFeed="true",
    )  # fmt: skip

    table.append([{"id": 1}, {"id": 2}])
    table.append([{"id": 3}])

    assert [add["baseRowId"] for add in adds(tmp_path / "t")] == [2]
    assert table.to_arrow().to_pylist() == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_a_commit_that_is_proven_to_fail_leaves_no_file_and_an_unknown_one_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path / "t", column("id", "long"))

    def fail(error: Exception) -> None:
        def commit(*_: Any, **__: Any) -> Any:
            raise error

        monkeypatch.setattr(table.log, "commit", commit)

    fail(MetadataChanged("lost", winner=1))
    with pytest.raises(MetadataChanged):
        table.append([{"id": 1}])
    assert not list((tmp_path / "t").glob("*.parquet"))
    fail(CommitUnknown("who knows", txn_id="x", target=1))
    with pytest.raises(CommitUnknown):
        table.append([{"id": 1}])
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 1


def test_files_of_a_write_that_fails_in_the_middle_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path / "t", column("id", "long"), column("p", "long"), by=("p",))
    put = table.log.store.put_new
    calls = []

    def put_some(path: str, data: Any) -> None:
        calls.append(path)
        if len(calls) == 3:
            raise StorageUnavailable("the disk is full", path=path, operation="put")
        put(path, data)

    monkeypatch.setattr(table.log.store, "put_new", put_some)
    with pytest.raises(StorageUnavailable):
        table.append([{"id": n, "p": n} for n in range(5)])

    assert not list((tmp_path / "t").rglob("*.parquet"))
    assert table.version() == 0


def test_rows_of_a_lake_that_are_not_published_yet(tmp_path: Path) -> None:
    with headgate.connect(tmp_path, settings=Settings(publish=Publish.ON_DEMAND)) as lake:
        lake.create_schema("s")
        schema = StructType.fromJson(struct(column("id", "long")))
        table = lake.create_table("s.t", schema)

        assert [table.append([{"id": n}]) for n in range(3)] == [1, 2, 3]

        assert table.to_arrow()["id"].to_pylist() == [0, 1, 2]
        assert lake.table("s.t").to_arrow(version=2)["id"].to_pylist() == [0, 1]
        assert lake.table("s.t").to_arrow(where="id = 2").to_pylist() == [{"id": 2}]


def test_a_transaction_reads_and_appends_without_spark(tmp_path: Path) -> None:
    with headgate.connect(tmp_path) as lake:
        lake.create_schema("s")
        schema = StructType.fromJson(struct(column("id", "long")))
        for name in ("s.a", "s.b"):
            lake.create_table(name, schema)
        with lake.transaction() as txn:
            txn.table("s.a").append([{"id": 1}])
            txn.table("s.b").append(txn.table("s.a").to_arrow())

        assert lake.table("s.b").to_arrow().to_pylist() == [{"id": 1}]
        with pytest.raises(ZeroDivisionError), lake.transaction() as txn:
            txn.table("s.a").append([{"id": 2}])
            raise ZeroDivisionError
        assert len(list(Path(lake.table("s.a").location).glob("*.parquet"))) == 1
