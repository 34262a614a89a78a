"""The bounds of single values, to the letter."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from headgate.protocol.schema.types import Array, DataType, Primitive
from headgate.protocol.stats import file_stats
from headgate.protocol.stats.file_stats import ColumnStats

HIGHEST = "\U0010ffff"
BOUNDED = (
    "byte", "short", "integer", "long", "float", "double", "date", "timestamp", "timestamp_ntz", "string",
    "decimal(10,2)",
)  # fmt: skip


def bounds(low: Any, high: Any, type_name: str) -> tuple[Any, Any] | None:
    text = file_stats.render(1, [ColumnStats(("c",), Primitive(type_name), low, high)])
    found = msgspec.json.decode(text)
    assert found["nullCount"] == {}
    if found["minValues"] == found["maxValues"] == {}:
        return None
    return found["minValues"]["c"], found["maxValues"]["c"]


@pytest.mark.parametrize(
    ("data_type", "has"),
    [
        *((Primitive(name), True) for name in BOUNDED),
        (Primitive("boolean"), False),
        (Primitive("binary"), False),
        (Array(Primitive("long"), contains_null=True), False),
    ],
)
def test_which_types_have_bounds(data_type: DataType, has: bool) -> None:
    assert file_stats.has_bounds(data_type) is has


@pytest.mark.parametrize(
    ("low", "high", "type_name", "expected"),
    [
        (1, 2, "long", (1, 2)),
        ("a", "b", "string", ("a", "b")),
        ("a" * 32, "b" * 32, "string", ("a" * 32, "b" * 32)),
        ("a" * 33, "b" * 33, "string", ("a" * 32, "b" * 32 + HIGHEST)),
        ("", "b" * 32 + HIGHEST, "string", ("", "b" * 32 + HIGHEST)),
        ("", "b" * 32 + HIGHEST + "x", "string", ("", "b" * 32 + HIGHEST + HIGHEST)),
        (1.5, 2.5, "double", (1.5, 2.5)),
        (1.5, float("inf"), "double", None),
        (float("nan"), 2.5, "double", None),
        (date(2024, 1, 2), date(2024, 1, 3), "date", ("2024-01-02", "2024-01-03")),
        (
            datetime(2024, 1, 2, 3, 4, 5, 6001),
            datetime(2024, 1, 2, 3, 4, 5, 6001),
            "timestamp_ntz",
            ("2024-01-02T03:04:05.006", "2024-01-02T03:04:05.007"),
        ),
        (
            datetime(2024, 1, 2, 3, 4, 5, 6000, UTC),
            datetime(2024, 1, 2, 3, 4, 5, 6000, UTC),
            "timestamp",
            ("2024-01-02T03:04:05.006Z", "2024-01-02T03:04:05.006Z"),
        ),
        (datetime(2024, 1, 2), datetime(9999, 12, 31, 23, 59, 59, 999_999), "timestamp_ntz", None),
        (True, True, "boolean", None),
        (b"a", b"b", "string", None),
        (None, 2, "long", None),
        (1, None, "long", None),
    ],
)
def test_bounds_hold_for_every_row_or_are_left_out(
    low: Any, high: Any, type_name: str, expected: tuple[Any, Any] | None
) -> None:
    assert bounds(low, high, type_name) == expected


def test_decimals_are_plain_numbers() -> None:
    column = ColumnStats(("c",), Primitive("decimal(38,12)"), Decimal("1E-10"), Decimal("1E+3"))

    assert file_stats.render(1, [column]) == (
        '{"numRecords":1,"minValues":{"c":0.0000000001},"maxValues":{"c":1000},"nullCount":{}}'
    )


def test_columns_inside_others_nest_and_unknown_counts_are_absent() -> None:
    columns = [
        ColumnStats(("a", "b", "x"), Primitive("long"), 1, 2, 0),
        ColumnStats(("a", "b", "y"), Primitive("long"), nulls=4),
        ColumnStats(("c",), Primitive("long"), 5, 6),
    ]

    assert msgspec.json.decode(file_stats.render(4, columns)) == {
        "numRecords": 4,
        "minValues": {"a": {"b": {"x": 1}}, "c": 5},
        "maxValues": {"a": {"b": {"x": 2}}, "c": 6},
        "nullCount": {"a": {"b": {"x": 0, "y": 4}}},
    }


@pytest.mark.parametrize(
    ("text", "rows"),
    [(None, None), ("", None), ("{", None), ("[]", None), ("{}", None), ('{"numRecords":7}', 7)],
)
def test_how_many_rows_a_file_has(text: str | None, rows: int | None) -> None:
    assert file_stats.row_count(text) == rows


def test_how_many_columns_have_statistics_unless_the_table_says_so() -> None:
    assert file_stats.DEFAULT_INDEXED_COLUMNS == 32
