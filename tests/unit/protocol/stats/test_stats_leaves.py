"""Leaves of statistics: from the columns of a checkpoint, from JSON, and from both."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from headgate.protocol.stats.stats_json import StatsLeaf
from headgate.protocol.stats.stats_leaves import StatsLeafReader

RECORDS = StatsLeaf("numRecords", ())
NOON = datetime(2024, 1, 1, 12, 30, 15, 250_000)


def text(**low: Any) -> str:
    return json.dumps({"minValues": low})


def files(
    texts: list[str | None], parsed: list[Any] | None = None, kind: pa.DataType | None = None
) -> pa.Table:
    """Files whose parsed statistics have one column ``a``, a minimum, of this type."""
    found = pa.table({"stats": pa.array(texts, pa.string())})
    if parsed is None:
        return found
    rows = [None if value is None else {"minValues": {"a": value[0]}} for value in parsed]
    column = pa.array(rows, pa.struct([("minValues", pa.struct([("a", kind)]))]))
    return found.append_column("stats_parsed", column)


def read(table: pa.Table, **leaves: pa.DataType) -> dict[str, pa.Array]:
    asked = {StatsLeaf("minValues", tuple(name.split("__"))): kind for name, kind in leaves.items()}
    found = StatsLeafReader(asked).read(table)
    assert list(found) == list(asked)
    return dict(zip(leaves, found.values(), strict=True))


def test_json_comes_in_the_type_asked_for() -> None:
    found = read(files([text(a=1, b="x"), None, text(a=2)]), a=pa.int64(), b=pa.string())

    assert found["a"] == pa.array([1, None, 2])
    assert found["b"] == pa.array(["x", None, None])


@pytest.mark.parametrize("texts", [[None, None], [text(a=7), text(a=8)], [None, text(a=8)]])
def test_if_every_file_has_them_parsed_they_keep_their_type(texts: list[str | None]) -> None:
    price = Decimal("123456789012345678.25")
    found = read(files(texts, [(price,), (None,)], pa.decimal128(20, 2)), a=pa.float64())

    assert found["a"] == pa.array([price, None], pa.decimal128(20, 2))


@pytest.mark.parametrize("other", [text(b=5), text(a=7, b=5)])
def test_a_leaf_that_is_not_parsed_is_read_from_the_json_beside(other: str) -> None:
    found = read(files([other, text(a=3, b=4)], [(1,), None], pa.int32()), a=pa.int64(), b=pa.int64())

    assert found["a"] == pa.array([1, 3], pa.int64())
    assert found["b"] == pa.array([5, 4], pa.int64())


@pytest.mark.parametrize(
    ("kind", "value", "target", "fits"),
    [
        (pa.int32(), 5, pa.int64(), 5),
        (pa.int32(), 5, pa.float64(), 5.0),
        (pa.float32(), 0.5, pa.float64(), 0.5),
        (pa.string(), "k", pa.string(), "k"),
        (pa.bool_(), True, pa.bool_(), True),
        (pa.date32(), date(2024, 1, 1), pa.string(), "2024-01-01"),
        (pa.timestamp("us"), NOON, pa.string(), "2024-01-01T12:30:15.250000"),
        (pa.timestamp("us", "UTC"), NOON.replace(tzinfo=UTC), pa.string(), "2024-01-01T12:30:15.250000Z"),
        (pa.decimal128(20, 2), Decimal("8734.21"), pa.float64(), 8734.21),
        (pa.decimal128(20, 2), Decimal("-1825.12"), pa.float64(), -1825.12),
        (pa.string(), "k", pa.int64(), None),
        (pa.timestamp("us"), NOON, pa.bool_(), None),
        (pa.list_(pa.int64()), [1], pa.int64(), None),
    ],
)
def test_beside_files_with_json_parsed_values_have_the_type_asked_for(
    kind: pa.DataType, value: Any, target: pa.DataType, fits: Any
) -> None:
    found = read(files([None, text(a="x")], [(value,), None], kind), a=target)["a"]

    assert found.type == target
    assert found[0].as_py() == fits


def test_a_value_that_does_not_fit_is_looked_up_in_the_json_beside() -> None:
    found = read(files([text(a=3, b=1)], [("k",)], pa.string()), a=pa.int64(), b=pa.int64())

    assert found["a"] == pa.array([3], pa.int64())


def test_a_column_that_was_no_struct_when_it_was_parsed_has_no_such_leaf() -> None:
    assert read(files([None], [(1,)], pa.int32()), a__b=pa.int64())["a__b"] == pa.array([None], pa.int64())
    assert read(files([text(a={"b": 6})], [(1,)], pa.int32()), a__b=pa.int64())["a__b"][0].as_py() == 6


def test_leaves_are_found_in_any_place_of_the_parsed_columns() -> None:
    low = pa.struct([("z", pa.int32()), ("in", pa.struct([("y", pa.int32()), ("b", pa.int32())]))])
    kind = pa.struct([("tightBounds", pa.bool_()), ("numRecords", pa.int64()), ("minValues", low)])
    row = {"numRecords": 9, "minValues": {"z": 1, "in": {"y": 2, "b": 3}}}
    table = files([None]).append_column("stats_parsed", pa.array([row], kind))
    inner = StatsLeaf("minValues", ("in", "b"))

    found = StatsLeafReader({RECORDS: pa.int64(), inner: pa.int64()}).read(table)

    assert found == {RECORDS: pa.array([9], pa.int64()), inner: pa.array([3], pa.int32())}


def test_texts_of_another_string_type_are_read_too() -> None:
    texts = pa.array([text(a=1), None])
    for stored in (texts.dictionary_encode(), texts.cast(pa.large_string())):
        assert read(pa.table({"stats": stored}), a=pa.int64())["a"] == pa.array([1, None], pa.int64())


@pytest.mark.parametrize("chunks", [0, 1, 2, 3])
def test_files_in_chunks_are_read_in_their_order(chunks: int) -> None:
    parts = [files([text(a=at), None], [None, (at + 10,)], pa.int64()) for at in range(chunks)]
    table = pa.concat_tables(parts) if parts else files([], [], pa.int64())

    expected = [value for at in range(chunks) for value in (at, at + 10)]
    assert read(table, a=pa.int64())["a"] == pa.array(expected, pa.int64())
