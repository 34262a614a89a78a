"""Bounds of one column, file by file: wide enough for every writer, and no wider than that."""

import json
import math
from dataclasses import fields
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from headgate.protocol.predicates.tree import Column
from headgate.protocol.schema.types import Array, Primitive
from headgate.protocol.stats import column_bounds
from headgate.protocol.stats.column_bounds import SLICE_ROWS, BoundsReader, BoundsRequest, ColumnBounds
from headgate.protocol.stats.stats_json import StatsLeaf

MICROS = {"timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us")}
FIRST, LAST = -(2**63), 2**63 - 1
MILLION = 1_000_000
HIGHEST = "\U0010ffff"
FACE = "\U0001f600"
FLOAT_TENTH = 0.10000000149011612


def column(type_name: str, **more: bool) -> Column:
    return Column(("a",), Primitive(type_name), **more)


def of_texts(texts: list[str | None], asked: BoundsRequest) -> ColumnBounds:
    (found,) = column_bounds.bounds_from_stats(pa.table({"stats": pa.array(texts, pa.string())}), (asked,))
    return found


def text(low: Any, high: Any) -> str:
    said = {"minValues": {"a": low}, "maxValues": {"a": high}, "numRecords": 2, "nullCount": {"a": 0}}
    return json.dumps(said)


def parsed(low: Any, high: Any, kind: pa.DataType, *others: str) -> pa.Table:
    """A file with parsed statistics, then some that have them as text."""
    rows = [{"minValues": {"a": low}, "maxValues": {"a": high}, "numRecords": 2, "nullCount": {"a": 0}}]
    ends = pa.struct([("a", kind)])
    names = pa.struct([("numRecords", pa.int64()), ("minValues", ends), ("maxValues", ends),
                       ("nullCount", pa.struct([("a", pa.int64())]))])  # fmt: skip
    return pa.table(
        {
            "stats": pa.array([None, *others], pa.string()),
            "stats_parsed": pa.array([*rows, *(None for _ in others)], names),
        }
    )


def ends(found: ColumnBounds) -> tuple[Any, Any]:
    """The bounds of the first file; moments as microseconds."""
    low, high = (
        values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values
        for values in (found.low, found.high)
    )
    return low[0].as_py(), high[0].as_py()


JSON_ROWS = [
    ("byte", 1, 2, 1, 2),
    ("short", 1, 2, 1, 2),
    ("integer", 1, 2, 1, 2),
    ("long", FIRST, LAST, FIRST, LAST),
    ("long", 1.5, "2", None, None),
    ("boolean", False, True, 0, 1),
    ("boolean", 0, "true", None, None),
    ("date", "2024-01-01", "2024-01-31", date(2024, 1, 1), date(2024, 1, 31)),
    ("date", "2024-02-31", "12024-01-01", None, None),
    ("double", 0.1, 0.2, 0.1, 0.2),
    ("double", "NaN", "Infinity", None, None),
    ("float", 0.1, 0.1, FLOAT_TENTH, FLOAT_TENTH),
    ("timestamp", "1970-01-01T00:00:01.000Z", "1970-01-01T00:00:01.001Z", MILLION, MILLION + 1_999),
    ("timestamp", "1970-01-01T01:00:01+01:00", "1969-12-31T16:00:02-08:00", MILLION, 2 * MILLION + 999),
    ("timestamp", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z", -999, 999),
    ("timestamp", "1970-01-01T00:00:00.000001Z", "1970-01-01T00:00:00.000001Z", 1, 1_000),
    ("timestamp", "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.000Z", -1_000, -MILLION + 999),
    ("timestamp", "1970-01-01 00:00:01", "1970-01-01", None, None),
    ("timestamp", "1970-01-01T00:00:01.0000001Z", "now", None, None),
    ("timestamp_ntz", "1970-01-01T00:00:01.000", "1970-01-01 00:00:01.001", MILLION, MILLION + 1_999),
    ("timestamp_ntz", "1970-01-01T00:00:01.000Z", "1970-01-02", MILLION, 86_400 * MILLION + 999),
    ("timestamp_ntz", "1970-01-01T01:00:01+01:00", "+12024-01-01T00:00:00", None, None),
    ("string", "", "z", "", "z"),
    ("string", "x" * 40, "x" * 31, "x" * 40, "x" * 31),
    ("string", 5, None, None, None),
    ("decimal(10,2)", 8734.21, 8734.22, 8734.21, 8734.22),
    ("decimal(15,0)", -999_999_999_999_999, 999_999_999_999_999, -999999999999999.0, 999999999999999.0),
    ("decimal(15,4)", -99_999_999_999.9999, 99_999_999_999.9999, -99999999999.9999, 99999999999.9999),
    ("binary", "a", "b", None, None),
    ("void", 1, 1, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("type_name", "low", "high", "lower", "upper"), JSON_ROWS)
@pytest.mark.parametrize("others", [[], [text({"odd": 1}, "odd")]])
def test_bounds_as_texts_have_them(
    type_name: str, low: Any, high: Any, lower: Any, upper: Any, others: list[str]
) -> None:
    found = of_texts([text(low, high), *others], BoundsRequest(column(type_name)))

    assert ends(found) == (lower, upper)
    assert (found.may_be_null[0].as_py(), found.may_have_value[0].as_py()) == (False, True)
    assert [found.low[at].as_py() for at in range(1, len(found))] == [None] * len(others)


@pytest.mark.parametrize(
    ("type_name", "kind", "low", "high", "lower", "upper"),
    [
        ("integer", pa.int32(), 1, 2, 1, 2),
        ("long", pa.int32(), 1, 2, 1, 2),
        ("long", pa.list_(pa.int64()), [1], [2], None, None),
        ("date", pa.date32(), date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 2)),
        ("double", pa.float64(), -math.inf, math.inf, -math.inf, math.inf),
        ("double", pa.float64(), math.nan, math.nan, None, None),
        ("double", pa.int32(), 1, 2, 1.0, 2.0),
        ("float", pa.float32(), 0.1, 0.1, FLOAT_TENTH, FLOAT_TENTH),
        ("string", pa.string(), "k", "l", "k", "l"),
        ("boolean", pa.bool_(), False, True, 0, 1),
        ("decimal(10,2)", pa.decimal128(10, 2), Decimal("8734.21"), Decimal("-1825.12"), 8734.21, -1825.12),
        ("decimal(12,2)", pa.int32(), 1, 2, 1.0, 2.0),
        ("timestamp", MICROS["timestamp"], 5, 6, 5, 1_005),
        ("timestamp_ntz", MICROS["timestamp_ntz"], -5, 6, -1_004, 1_005),
        ("timestamp_ntz", pa.date32(), date(1970, 1, 1), date(1970, 1, 2), -999, 86_400 * MILLION + 999),
    ],
)
def test_bounds_as_the_columns_of_a_checkpoint_have_them(
    type_name: str, kind: pa.DataType, low: Any, high: Any, lower: Any, upper: Any
) -> None:
    for others in ((), (text(None, None),)):
        files = parsed(low, high, kind, *others)

        (found,) = column_bounds.bounds_from_stats(files, (BoundsRequest(column(type_name)),))

        assert ends(found) == (lower, upper)
        assert len(found) == 1 + len(others)


@pytest.mark.parametrize(
    ("type_name", "kind", "value"),
    [
        ("boolean", pa.bool_(), "true"),
        ("byte", pa.int8(), "1"),
        ("long", pa.int64(), "1"),
        ("float", pa.float32(), "1"),
        ("double", pa.float64(), "1"),
        ("date", pa.date32(), "2024-01-01"),
        ("timestamp", MICROS["timestamp"], "2024-01-01 00:00:00"),
        ("timestamp_ntz", MICROS["timestamp_ntz"], "2024-01-01 00:00:00"),
        ("string", pa.string(), "k"),
    ],
)
def test_bounds_of_a_column_have_one_type_wherever_they_come_from(
    type_name: str, kind: pa.DataType, value: str
) -> None:
    asked = BoundsRequest(column(type_name))
    (read,) = column_bounds.bounds_from_stats(parsed(None, None, kind), (asked,))
    (none,) = BoundsReader([asked]).read(())
    partition = column_bounds.bounds_from_partition_values(pa.array([value]), asked.column)

    found = column_bounds.concat_bounds([of_texts([text(None, None)], asked), read, none, partition])

    assert (found.low.null_count, found.high.null_count, len(found)) == (2, 2, 3)


@pytest.mark.parametrize("type_name", MICROS)
@pytest.mark.parametrize(
    ("low", "high", "lower", "upper"),
    [
        (FIRST, FIRST, FIRST, FIRST + 999),
        (FIRST + 998, FIRST + 999, FIRST, FIRST + 1_998),
        (FIRST + 1_000, LAST - 1_000, FIRST + 1, LAST - 1),
        (LAST, LAST - 999, LAST, LAST),
        (LAST - 998, LAST, LAST - 998, LAST),
    ],
)
def test_the_first_and_the_last_moments_do_not_run_over(
    type_name: str, low: int, high: int, lower: int, upper: int
) -> None:
    (found,) = column_bounds.bounds_from_stats(
        parsed(low, high, MICROS[type_name]), (BoundsRequest(column(type_name)),)
    )

    assert ends(found) == (lower, upper)


@pytest.mark.parametrize(
    ("high", "inside", "beyond"),
    [
        # A whole text of 31 bytes is itself; one of 32 may have been cut right there.
        ("x" * 31, "x" * 31, "x" * 31 + "a"),
        ("x" * 32, "x" * 32 + "zzz", "x" * 31 + HIGHEST + "a"),
        # Half of a face at the 32nd place is written as a question mark.
        ("x" * 31 + "?", "x" * 31 + FACE, "x" * 30 + "y"),
        ("e" + FACE * 15 + "?", "e" + FACE * 20, "e" + FACE * 13 + HIGHEST),
        # Whoever marks the cut may mark it with less than what follows.
        ("x" * 32 + "\x7f", "x" * 32 + FACE, "x" * 30 + "y"),
        (FACE * 16 + "\ufffd", FACE * 16 + HIGHEST, FACE * 14 + HIGHEST),
        ("é" * 16, "é" * 16 + "z", "é" * 14 + "ê"),
        ("é" * 15, "é" * 15, "é" * 15 + "a"),
        ("€" * 11, "€" * 11 + "z", "€" * 10 + HIGHEST),
    ],
)
def test_how_far_the_upper_bound_of_a_text_is_trusted(high: str, inside: str, beyond: str) -> None:
    found = of_texts([text("", "short"), text("", high)], BoundsRequest(column("string")))
    upper = found.high[1].as_py()

    assert inside.encode() <= upper.encode() < beyond.encode()
    assert found.high[0].as_py() == "short"


@pytest.mark.parametrize(
    ("type_name", "said", "inside", "beyond"),
    [
        # Two decimals of 16 digits may be one double.
        ("decimal(20,0)", 2**53 + 1, 2**53 + 1, 2**53 + 100),
        ("decimal(20,2)", Decimal("90071992547409.93"), Decimal("90071992547409.93"), 90071992547411),
        ("decimal(38,0)", 10**37, 10**37 + 10**21, 10**37 + 10**23),
    ],
)
def test_decimals_of_many_digits_have_slack(type_name: str, said: Any, inside: Any, beyond: Any) -> None:
    number = float(said)
    for low, high in ((-number, number),):
        lower, upper = ends(of_texts([text(low, high)], BoundsRequest(column(type_name))))

        assert lower == -upper
        assert number < upper
        assert float(inside) <= upper < float(beyond)


@pytest.mark.parametrize("value", [0.1, -0.1, 0.0, 1e-45, 3.4e38, 16777216.0])
def test_doubles_that_were_floats_have_the_slack_of_a_float(value: float) -> None:
    found = of_texts([text(value, value)], BoundsRequest(column("double", was_float=True)))
    lower, upper = ends(found)

    (single,) = pa.array([value], pa.float32()).to_pylist()
    assert lower < min(value, single) <= max(value, single) < upper
    assert upper - lower <= max(abs(value) * 2.5e-7, 1e-43)
    assert ends(of_texts([text(value, value)], BoundsRequest(column("double")))) == (value, value)


@pytest.mark.parametrize(
    ("low", "high", "lower", "upper"),
    [
        (-math.inf, math.inf, -math.inf, math.inf),
        (math.inf, math.inf, None, math.inf),
        (-math.inf, -math.inf, -math.inf, None),
        (math.nan, math.nan, None, None),
    ],
)
def test_what_is_no_number_is_no_bound_of_doubles_that_were_floats(
    low: float, high: float, lower: float | None, upper: float | None
) -> None:
    asked = BoundsRequest(column("double", was_float=True))

    (found,) = column_bounds.bounds_from_stats(parsed(low, high, pa.float64()), (asked,))

    assert ends(found) == (lower, upper)


@pytest.mark.parametrize(
    ("counted", "may_be_null", "may_have_value"),
    [
        ({"numRecords": 9, "nullCount": {"a": 0}}, False, True),
        ({"numRecords": 9, "nullCount": {"a": 1}}, True, True),
        ({"numRecords": 9, "nullCount": {"a": 9}}, True, False),
        ({"numRecords": 0, "nullCount": {"a": 0}}, False, False),
        ({"nullCount": {"a": 0}}, False, True),
        ({"nullCount": {"a": 5}}, True, True),
        ({"numRecords": 9}, True, True),
        ({"numRecords": "9", "nullCount": {"a": "0"}}, True, True),
        ({"numRecords": -1, "nullCount": {"a": -1}}, True, True),
        ({}, True, True),
        (None, True, True),
    ],
)
@pytest.mark.parametrize("kind", [Primitive("long"), Primitive("binary"), Array(Primitive("long"), True)])
def test_nulls_are_relied_on_only_where_there_are_none_or_nothing_else(
    counted: Any, may_be_null: bool, may_have_value: bool, kind: Any
) -> None:
    texts = [None if counted is None else json.dumps(counted), text(1, 2)]

    found = of_texts(texts, BoundsRequest(Column(("a",), kind)))

    assert found.may_be_null.to_pylist() == [may_be_null, False]
    assert found.may_have_value.to_pylist() == [may_have_value, True]
    assert found.low.to_pylist()[0] is None


@pytest.mark.parametrize(
    ("type_name", "texts", "low", "high"),
    [
        ("long", ["5", None, ""], [5, None, None], [5, None, None]),
        ("boolean", ["true", "False", None], [1, 0, None], [1, 0, None]),
        ("double", ["1.5", "NaN", "-Infinity"], [1.5, math.nan, -math.inf], [1.5, None, -math.inf]),
        ("float", ["0.1", "0.1", None], [FLOAT_TENTH, FLOAT_TENTH, None], [FLOAT_TENTH, FLOAT_TENTH, None]),
        ("date", ["2024-01-01", None, ""], [date(2024, 1, 1), None, None], [date(2024, 1, 1), None, None]),
        ("string", ["x" * 40, "é", ""], ["x" * 40, "é", None], ["x" * 40, "é", None]),
        ("decimal(20,3)", ["12345678901234568.5", "1", "1.2345"],
         [Decimal("12345678901234568.500"), Decimal("1.000"), None],
         [Decimal("12345678901234568.500"), Decimal("1.000"), None]),
        ("timestamp", ["1970-01-01 00:00:01", "1970-01-01T01:00:00.000001+01:00", None], [MILLION, 1, None],
         [MILLION, 1, None]),
        ("timestamp_ntz", ["1970-01-01 00:00:01.5", "1969-12-31", None], [1_500_000, -86_400 * MILLION, None],
         [1_500_000, -86_400 * MILLION, None]),
    ],
)  # fmt: skip
def test_partition_values_are_their_own_bounds(
    type_name: str, texts: list[str | None], low: list[Any], high: list[Any]
) -> None:
    found = column_bounds.bounds_from_partition_values(pa.array(texts, pa.string()), column(type_name))
    absent = [not value for value in texts]

    shown = [
        (values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values).to_pylist()
        for values in (found.low, found.high)
    ]
    assert repr(shown) == repr([low, high])  # NaN equals nothing
    assert found.may_be_null.to_pylist() == absent
    assert found.may_have_value.to_pylist() == [not one for one in absent]


def test_some_of_the_files_in_any_order() -> None:
    whole = of_texts([text(at, at + 10) for at in range(3)] + [None], BoundsRequest(column("long")))

    assert len(whole) == 4
    assert whole.take(pa.array([3, 0])).low.to_pylist() == [None, 0]
    assert whole.take(pa.array([3, 0])).may_be_null.to_pylist() == [True, False]
    assert whole.filter(pa.array([False, True, True, False])).high.to_pylist() == [11, 12]


def test_parts_are_put_one_after_the_other() -> None:
    one, two = (of_texts([text(at, at + 10)] * 2, BoundsRequest(column("long"))) for at in (1, 5))

    assert column_bounds.concat_bounds([one]) is one
    assert column_bounds.concat_bounds([one, two, one]).low.to_pylist() == [1, 1, 5, 5, 1, 1]
    assert column_bounds.concat_bounds([one, two]).high.to_pylist() == [11, 11, 15, 15]


@pytest.mark.parametrize(
    ("asked", "uncounted", "enough"), [(True, 1, False), (True, 0, True), (False, 1, True), (False, 0, True)]
)
def test_uncounted_nulls_are_enough_for_who_does_not_ask_for_them(
    *, asked: bool, uncounted: int, enough: bool
) -> None:
    known = of_texts([text(1, 2)], BoundsRequest(column("long")))
    counts = pa.array([True] + [None] * uncounted, pa.bool_())
    found = ColumnBounds(known.low, known.high, counts, known.may_have_value)

    assert found.answers(BoundsRequest(column("long"), asked)) is enough
    assert BoundsRequest(column("long")).nulls


def test_which_leaves_are_wanted() -> None:
    asked = [
        BoundsRequest(column("long")),
        BoundsRequest(Column(("b", "c"), Primitive("binary")), nulls=False),
    ]

    assert BoundsReader(iter(asked)).leaves == (
        StatsLeaf("numRecords", ()), StatsLeaf("nullCount", ("a",)), StatsLeaf("nullCount", ("b", "c")),
        StatsLeaf("minValues", ("a",)), StatsLeaf("maxValues", ("a",)),
    )  # fmt: skip


MANY = 2 * SLICE_ROWS + 10
NUMBERED = [text(at, at + 5) for at in range(MANY)]
BINARY = BoundsRequest(Column(("b",), Primitive("binary")), nulls=False)


@pytest.mark.parametrize("present", [(), ("minValues",), ("maxValues",), ("minValues", "maxValues")])
@pytest.mark.parametrize("others", [(), (BINARY,), (BoundsRequest(Column(("c",), Primitive("string"))),)])
def test_many_files_are_known_as_each_by_itself(
    present: tuple[str, ...], others: tuple[BoundsRequest, ...]
) -> None:
    odd, texts = SLICE_ROWS + 1, list(NUMBERED)
    counted = {"numRecords": 4, "nullCount": {"a": 0 if present else 4, "b": 4}}
    texts[odd] = json.dumps({**counted, **{name: {"a": 7} for name in present}})
    files = pa.table({"stats": texts, "path": [str(at) for at in range(MANY)]})
    low, high = (7 if name in present else None for name in ("minValues", "maxValues"))

    found, *rest = column_bounds.bounds_from_stats(
        files, (BoundsRequest(column("long"), nulls=False), *others)
    )

    assert found.low.to_pylist() == [low if at == odd else at for at in range(MANY)]
    assert found.high.to_pylist() == [high if at == odd else at + 5 for at in range(MANY)]
    assert found.may_have_value.to_pylist() == [bool(present) or at != odd for at in range(MANY)]
    assert found.may_be_null.null_count == (0 if others else len(present or "x") * SLICE_ROWS)
    assert [len(bounds) for bounds in rest] == [MANY] * len(others)
    if others == (BINARY,):
        assert rest[0].may_have_value.to_pylist() == [at != odd for at in range(MANY)]


@pytest.mark.parametrize("count", [0, 1, MANY])
def test_no_column_of_any_files_and_any_column_of_no_files(count: int) -> None:
    files = pa.table({"stats": pa.array(NUMBERED[:count], pa.string())})

    assert column_bounds.bounds_from_stats(files, ()) == ()
    (found,) = BoundsReader([BoundsRequest(column("string"))]).read(())
    assert [getattr(found, part.name).to_pylist() for part in fields(found)] == [[], [], [], []]
    assert (found.low.type, found.may_be_null.type) == (pa.string(), pa.bool_())
