"""Files all of whose rows a predicate selects: only where it is proven."""

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.protocol.predicates import from_sql
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.protocol.stats import full_matches
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.table.read.live_files import adds_as_table
from tests.support.tables import named_file

SCHEMA = Struct(
    tuple(
        Field(name, Primitive(kind))
        for name, kind in (("id", "long"), ("x", "double"), ("s", "string"), ("p", "integer"))
    )
)


def told(low: int | None, high: int | None, nulls: int | None = 0, records: int = 10) -> str:
    parts: dict[str, object] = {"numRecords": records}
    if low is not None:
        parts |= {"minValues": {"id": low, "x": low}, "maxValues": {"id": high, "x": high}}
    if nulls is not None:
        parts["nullCount"] = {"id": nulls, "x": nulls}
    return msgspec.json.encode(parts).decode()


def certain(sql: str, stats: str | None, partition: str | None = "1") -> bool:
    add = msgspec.structs.replace(named_file("a"), stats=stats, partition_values={"p": partition})
    bounds = FileBounds(adds_as_table([add]), partition_columns=["p"])
    found: list[bool] = full_matches.full_match_mask(bounds, from_sql.parse(sql, SCHEMA)).to_pylist()
    return found[0]


@pytest.mark.parametrize(
    ("sql", "proven"),
    [
        ("id > 4", True), ("id > 5", False), ("id >= 5", True), ("id < 10", True), ("id <= 9", True),
        ("id < 9", False), ("id <> 4", True), ("id <> 7", False), ("id between 5 and 9", True),
        ("id in (5, 6)", False), ("id is not null", True), ("id is null", False), ("not id > 20", True),
        ("id > 4 and id < 8", False), ("id > 20 or id > 1", True), ("true", True), ("false", False),
        ("id % 2 = 0", False), ("p = 1", True), ("p = 2", False), ("p in (1, 2)", True), ("p is null", False),
        ("p = 1 and id > 4", True), ("p = 1 and id > 5", False), ("x > 1", False),
    ],
)  # fmt: skip
def test_ids_from_five_to_nine_in_partition_one(sql: str, proven: bool) -> None:
    assert certain(sql, told(5, 9)) is proven


@pytest.mark.parametrize("stats", [told(5, 9, nulls=1), told(5, 9, nulls=None), told(None, None), None])
def test_nothing_is_proven_where_a_row_may_be_null_or_unknown(stats: str | None) -> None:
    assert not certain("id > 0", stats)


def test_a_null_partition_is_not_one_with_a_value() -> None:
    assert certain("p is null", None, partition=None)
    assert not certain("p <> 2", None, partition=None)


@given(
    st.lists(st.integers(-5, 5) | st.none(), min_size=1, max_size=6),
    st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]),
    st.integers(-5, 5),
)
def test_what_is_proven_is_true_of_every_row(values: list[int | None], op: str, than: int) -> None:
    known = [value for value in values if value is not None]
    ends = (min(known), max(known)) if known else (None, None)
    stats = told(*ends, nulls=len(values) - len(known), records=len(values))
    compare = {
        "<": lambda v: v < than, "<=": lambda v: v <= than, ">": lambda v: v > than,
        ">=": lambda v: v >= than, "=": lambda v: v == than, "<>": lambda v: v != than,
    }[op]  # fmt: skip

    if certain(f"id {op} {than}", stats):
        assert all(value is not None and compare(value) for value in values)


def test_no_file_is_no_answer() -> None:
    bounds = FileBounds(adds_as_table([]), partition_columns=["p"])

    assert full_matches.full_match_mask(bounds, from_sql.parse("id > 1", SCHEMA)) == pa.array([], pa.bool_())


@pytest.mark.parametrize(
    ("kind", "value", "sql", "proven"),
    [
        ("boolean", "true", "p = true", True),
        ("boolean", "false", "p = true", False),
        ("string", "k", "p = 'k'", True),
        ("string", "l", "p = 'k'", False),
        ("date", "2026-01-31", "p < DATE'2026-02-01'", True),
    ],
)
def test_partitions_of_every_type_are_compared_by_value(
    kind: str, value: str, sql: str, proven: bool
) -> None:
    schema = Struct((Field("id", Primitive("long")), Field("p", Primitive(kind))))
    add = msgspec.structs.replace(named_file("a"), partition_values={"p": value})
    bounds = FileBounds(adds_as_table([add]), partition_columns=["p"])

    assert full_matches.full_match_mask(bounds, from_sql.parse(sql, schema)).to_pylist() == [proven]


@pytest.mark.parametrize(
    ("sql", "zone", "proven"),
    [
        ("to_date(ts) >= '2024-07-02'", "UTC", True),
        ("to_date(ts) >= '2024-07-02'", "America/New_York", False),  # it begins on the day before there
        ("to_date(ts) <= '2024-07-02'", "America/New_York", False),
        ("to_date(ts) <> '2024-07-02'", "America/New_York", False),
        ("n <> 1.50", "UTC", False), ("n <> 1.5D", "UTC", False), ("n > 1.5D", "UTC", False),
        ("n IS NOT NULL", "UTC", True), ("i < 3000000000", "UTC", True),
        ("i < '3000000000'", "UTC", False),  # null unless the session is strict
        ("s LIKE 'ab%'", "UTC", False), ("s LIKE 'ab%c'", "UTC", False),
    ],
)  # fmt: skip
def test_what_is_true_for_more_rows_than_spark_selects_proves_nothing(
    sql: str, zone: str, proven: bool
) -> None:
    types = {"ts": "timestamp", "n": "decimal(10,2)", "i": "integer", "s": "string"}
    low = {"ts": "2024-07-02T01:00:00.000Z", "n": 1.5, "i": 1, "s": "abb"}
    high = {"ts": "2024-07-03T12:00:00.000Z", "n": 3.5, "i": 5, "s": "abd"}
    stats = {"numRecords": 3, "minValues": low, "maxValues": high, "nullCount": dict.fromkeys(types, 0)}
    add = msgspec.structs.replace(named_file("a"), stats=msgspec.json.encode(stats).decode())
    schema = Struct(tuple(Field(name, Primitive(kind)) for name, kind in types.items()))
    predicate = from_sql.parse(sql, schema, time_zone=zone)

    found = full_matches.full_match_mask(FileBounds(adds_as_table([add]), partition_columns=[]), predicate)

    assert found.to_pylist() == [proven]


@pytest.mark.parametrize(
    ("sql", "proven"), [("p is distinct from 5", True), ("p is distinct from 'x'", False)]
)
def test_a_null_differs_from_a_value_but_a_text_may_be_none(sql: str, proven: bool) -> None:
    assert certain(sql, None, partition=None) is proven


@pytest.mark.parametrize("sql", ["id is null", "id is distinct from 5"])
def test_as_many_nulls_as_rows_prove_nothing_for_the_rows_may_be_counted_wrong(sql: str) -> None:
    assert not certain(sql, told(None, None, nulls=10))
