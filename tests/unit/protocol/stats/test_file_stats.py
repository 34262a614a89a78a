"""Statistics never lie: every value lies within the bounds, or there are none."""

import io
import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from headgate.protocol.stats import file_stats
from headgate.protocol.stats.file_stats import ColumnStats
from headgate.spark.parquet import footers

MOMENTS = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59, 999999))
TEXTS = st.text(alphabet=st.sampled_from(["a", "z", "é", "\U0010ffff", "\ud7ff", "🎉"]), max_size=80)


def bounds(values: list[Any], type_name: str) -> tuple[Any, Any] | None:
    column = ColumnStats(("c",), Primitive(type_name), min(values), max(values), 0)
    rendered = json.loads(file_stats.render(len(values), [column]), parse_float=Decimal)
    if "c" not in rendered["minValues"]:
        assert "c" not in rendered["maxValues"]
        return None
    return rendered["minValues"]["c"], rendered["maxValues"]["c"]


@given(st.lists(TEXTS, min_size=1))
@example(["\U0010ffff" * 40, "a" * 31 + "é" * 9])
def test_texts_lie_within_their_bounds(values: list[str]) -> None:
    low, high = bounds(values, "string") or pytest.fail("texts always have bounds")

    assert all(low.encode() <= value.encode() <= high.encode() for value in values)
    assert len(low) <= file_stats.STRING_PREFIX_LENGTH


@given(st.lists(MOMENTS, min_size=1), st.booleans())
def test_moments_lie_within_their_bounds(values: list[datetime], zoned: bool) -> None:
    values = [value.replace(tzinfo=UTC) for value in values] if zoned else values
    found = bounds(values, "timestamp" if zoned else "timestamp_ntz")

    if found is None:  # rounding up the last millisecond leaves the calendar
        assert max(values).replace(tzinfo=None) > datetime(9999, 12, 31, 23, 59, 59, 999000)
        return
    low, high = (datetime.fromisoformat(text) for text in found)
    assert found[0].endswith("Z") is zoned
    assert all(low <= value <= high for value in values)
    assert high - max(values) < timedelta(milliseconds=1) > min(values) - low


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12), min_size=1))
@example([Decimal("1E-10"), Decimal("1E+20")])
def test_decimals_keep_their_exact_bounds_as_plain_numbers(values: list[Decimal]) -> None:
    column = ColumnStats(("c",), Primitive("decimal(38,12)"), min(values), max(values), 0)
    text = file_stats.render(1, [column])

    assert bounds(values, "decimal(38,12)") == (min(values), max(values))
    assert "E" not in text.replace("numRecords", "")


@given(st.lists(st.floats(), min_size=1))
def test_floats_lie_within_their_bounds(values: list[float]) -> None:
    found = bounds(values, "double")

    if found is not None:
        low, high = float(found[0]), float(found[1])
        assert math.isfinite(low) and math.isfinite(high)


@given(st.lists(st.dates(), min_size=1))
def test_days_lie_within_their_bounds(values: list[date]) -> None:
    assert bounds(values, "date") == (min(values).isoformat(), max(values).isoformat())


def test_nested_columns_nest_and_unknown_counts_are_absent() -> None:
    columns = [
        ColumnStats(("a", "b"), Primitive("long"), 1, 2, 3),
        ColumnStats(("a", "c"), Primitive("boolean"), False, True),
    ]

    assert json.loads(file_stats.render(4, columns)) == {
        "numRecords": 4,
        "minValues": {"a": {"b": 1}},
        "maxValues": {"a": {"b": 2}},
        "nullCount": {"a": {"b": 3}},
    }


def footer(columns: dict[str, pa.Array], **options: Any) -> pq.FileMetaData:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return pq.read_metadata(io.BytesIO(sink.getvalue()))


def rendered(columns: dict[str, pa.Array], schema: Struct, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(footers.render_stats(footer(columns, **options), schema))
    return found


def test_row_groups_are_merged_and_a_group_of_nulls_has_no_say() -> None:
    values = pa.array([5, 6, None, None, -1, None], pa.int64())

    found = rendered({"c": values}, Struct((Field("c", Primitive("long")),)), row_group_size=2)

    assert (found["minValues"], found["maxValues"], found["nullCount"]) == ({"c": -1}, {"c": 6}, {"c": 3})


def test_one_group_without_statistics_leaves_the_column_without() -> None:
    columns = {"a": pa.array([1, 2], pa.int64()), "b": pa.array([1, 2], pa.int64())}
    schema = Struct((Field("a", Primitive("long")), Field("b", Primitive("long"))))

    found = rendered(columns, schema, write_statistics=["b"])

    assert (found["minValues"], found["nullCount"]) == ({"b": 1}, {"b": 0})


def test_dotted_names_and_lists_do_not_confuse_the_columns() -> None:
    columns = {
        "a": pa.array([{"b": 1}], pa.struct([("b", pa.int64())])),
        "l": pa.array([[7, 8]], pa.list_(pa.int64())),
        "a.b": pa.array([2], pa.int64()),
    }
    long = Primitive("long")
    schema = Struct(
        (Field("a", Struct((Field("b", long),))), Field("l", Array(long, True)), Field("a.b", long))
    )

    found = rendered(columns, schema)

    assert found["minValues"] == {"a": {"b": 1}, "a.b": 2}
    assert found["nullCount"] == {"a": {"b": 0}, "a.b": 0}


def test_only_the_first_columns_have_statistics() -> None:
    names = [f"c{number}" for number in range(40)]
    schema = Struct(tuple(Field(name, Primitive("long")) for name in names))

    found = rendered({name: pa.array([1], pa.int64()) for name in names}, schema)

    assert list(found["minValues"]) == names[: file_stats.DEFAULT_INDEXED_COLUMNS]


@given(st.lists(st.decimals(min_value=-(10**15), max_value=10**15, places=4), min_size=1, max_size=8))
@example([Decimal("-0.0001"), Decimal("0.0001")])
def test_decimals_of_a_footer_are_exact(values: list[Decimal]) -> None:
    for data_type in (pa.decimal128(38, 4), pa.decimal128(20, 4)):
        found = footers.render_stats(
            footer({"c": pa.array(values, data_type)}, row_group_size=3),
            Struct((Field("c", Primitive(f"decimal({data_type.precision},4)")),)),
        )
        parsed = json.loads(found, parse_float=Decimal, parse_int=Decimal)
        assert parsed["minValues"]["c"] == min(values)
        assert parsed["maxValues"]["c"] == max(values)
