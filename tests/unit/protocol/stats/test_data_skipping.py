"""No file with a matching row is ever left out, whoever wrote its statistics; others are."""

import json
import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.protocol.predicates import from_sql
from headgate.protocol.schema.types import Array, Field, Primitive, Struct
from headgate.protocol.stats import data_skipping
from headgate.protocol.stats import file_stats as stats_file_stats
from headgate.protocol.stats.file_bounds import FileBounds
from headgate.protocol.stats.file_stats import ColumnStats
from tests.support import conditions
from tests.support.conditions import PATHS, SCHEMA, Row

Writer = Callable[[Random, str, list[Any]], dict[str, Any]]
TYPES = {field.name: field.type for field in SCHEMA.fields} | {"st": Primitive("integer")}


def table(texts: list[str | None], parts: list[dict[str, str | None]] | None = None) -> pa.Table:
    values = [list(row.items()) for row in parts] if parts else [[] for _ in texts]
    return pa.table(
        {
            "partition_values": pa.array(values, pa.map_(pa.string(), pa.string())),
            "stats": pa.array(texts, pa.string()),
        }
    )


def schema(**columns: str) -> Struct:
    return Struct(tuple(Field(name, Primitive(data_type)) for name, data_type in columns.items()))


def stat(records: int = 10, **parts: dict[str, Any]) -> str:
    names = {"low": "minValues", "high": "maxValues", "nulls": "nullCount"}
    return json.dumps({"numRecords": records} | {names[key]: part for key, part in parts.items()})


def kept(sql: str, bounds: FileBounds, columns: Struct) -> list[bool]:
    found: list[bool] = data_skipping.keep_mask(bounds, from_sql.parse(sql, columns)).to_pylist()
    return found


def keeps(sql: str, columns: Struct, *texts: str | None) -> list[bool]:
    return kept(sql, FileBounds(table(list(texts))), columns)


def ours(random: Random, column: str, values: list[Any]) -> dict[str, Any]:
    """As this package writes them."""
    present = [value for value in values if value is not None]
    low, high = (min(present), max(present)) if present and not _has_nan(present) else (None, None)
    if column == "s" and present:
        low, high = min(present, key=str.encode), max(present, key=str.encode)
    path = PATHS.get(column, (column,))
    text = stats_file_stats.render(
        len(values), [ColumnStats(path, TYPES[column], low, high, len(values) - len(present))]
    )
    return dict(json.loads(text, parse_float=Decimal))


def spark(random: Random, column: str, values: list[Any]) -> dict[str, Any]:
    """As Delta Spark writes them, with the mark at the end of cut strings that its versions have."""
    present = [value for value in values if value is not None]
    path = PATHS.get(column, (column,))
    found: dict[str, Any] = {"numRecords": len(values), "minValues": {}, "maxValues": {}, "nullCount": {}}
    _put(found["nullCount"], path, len(values) - len(present))
    if present and column != "b":
        low, high = _ends(present)
        if column == "f":
            low, high = _shortest(low), _shortest(high)
        mark = random.choice(["\ufffd", "", "\U0010ffff", "\x7f"]) if column == "s" else ""
        _put(found["minValues"], path, _shown(low, cut=lambda text: text[:32]))
        _put(found["maxValues"], path, _shown(high, cut=lambda text: _cut_by_java(text, mark)))
    return found


def rust(random: Random, column: str, values: list[Any]) -> dict[str, Any]:
    """As delta-rs does: decimals are doubles, and a timestamp without a zone has a space."""
    found = spark(random, column, values)
    for part in ("minValues", "maxValues"):
        for name, value in found[part].items():
            if isinstance(value, Decimal):
                found[part][name] = float(value)
            if column == "wall":
                found[part][name] = value.replace("T", " ")
    return found


def _has_nan(values: list[Any]) -> bool:
    return any(isinstance(value, float) and math.isnan(value) for value in values)


def _ends(values: list[Any]) -> tuple[Any, Any]:
    if isinstance(values[0], str):
        return min(values, key=str.encode), max(values, key=str.encode)
    ordered = sorted(values, key=lambda value: (isinstance(value, float) and math.isnan(value), value))
    numbers = [value for value in ordered if not _has_nan([value])]
    return (numbers or ordered)[0], ordered[-1] if _has_nan(ordered[-1:]) else max(numbers)


def _shown(value: Any, cut: Callable[[str], str]) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case str():
            return cut(value)
        case datetime():
            millis = value.replace(microsecond=value.microsecond // 1000 * 1000, tzinfo=None)
            return millis.isoformat(timespec="milliseconds") + ("Z" if value.tzinfo else "")
        case date():
            return value.isoformat()
        case _:
            return value


def _shortest(value: float) -> float:
    """A float as Java prints it: as few digits as tell it from other floats."""
    texts = (f"{value:.{digits}g}" for digits in range(1, 18))
    return next((float(text) for text in texts if conditions.single(float(text)) == value), value)


def _cut_by_java(text: str, mark: str) -> str:
    units = text.encode("utf-16-le")
    if len(units) <= 64:
        return text
    return units[:64].decode("utf-16-le", "surrogatepass").encode("utf-8", "replace").decode() + mark


def _put(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        target = target.setdefault(part, {})
    target[path[-1]] = value


def _encode(value: Any) -> str:
    """JSON with decimals as numbers."""
    match value:
        case dict():
            return "{" + ",".join(f"{json.dumps(key)}:{_encode(part)}" for key, part in value.items()) + "}"
        case Decimal():
            return f"{value:f}"
        case _:
            return json.dumps(value, ensure_ascii=False)


def file_stats(random: Random, rows: list[Row], writer: Writer) -> str | None:
    if random.random() < 0.05:
        return None
    whole: dict[str, Any] = {"numRecords": len(rows)}
    for column in TYPES:
        if random.random() < 0.1:
            continue
        found = writer(random, column, [row[column] for row in rows])
        for part, values in found.items():
            if part != "numRecords" and random.random() > 0.05:
                whole.setdefault(part, {}).update(values)
    return _encode(whole)


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**32))
def test_no_file_with_a_matching_row_is_left_out(seed: int) -> None:
    random = Random(seed)
    files, texts = [], []
    for _ in range(6):
        spread = random.choice([1, 2, 4])
        pools = {column: [conditions.value(random, column) for _ in range(spread)] for column in TYPES}
        rows = [
            {name: random.choice(pool) for name, pool in pools.items()} for _ in range(random.randint(1, 5))
        ]
        # Rows a deletion vector hides still count in the statistics.
        files.append(random.sample(rows, random.randint(1, len(rows))))
        texts.append(file_stats(random, rows, random.choice([ours, spark, rust])))
    bounds = FileBounds(table(texts))

    for _ in range(8):
        condition = conditions.condition(random)
        found = kept(condition.sql, bounds, SCHEMA)
        for rows, keep, text in zip(files, found, texts, strict=True):
            matching = [row for row in rows if condition.truth(row) is True]
            assert keep or not matching, (condition.sql, matching[0], text)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_a_file_of_one_value_is_judged_exactly(seed: int) -> None:
    random = Random(seed)
    column = random.choice(["i", "n", "day", "b", "st"])
    values = [conditions.value(random, column) for _ in range(20)]
    small = [value if column != "n" or value is None else value % 10 for value in values]
    bounds = FileBounds(table([_encode(ours(random, column, [value] * 3)) for value in small]))
    condition = conditions.compare(random, column, random.choice(list(conditions.OPS)))
    rounded = column == "n" and "D" in condition.sql
    if rounded or column == "b":
        return  # doubles beside a decimal are judged with some slack; booleans have no bounds

    assert kept(condition.sql, bounds, SCHEMA) == [
        condition.truth({column: value}) is True for value in small
    ]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_partition_values_are_judged_exactly(seed: int) -> None:
    random = Random(seed)
    column = random.choice(["i", "s", "d", "f", "n", "day", "ts", "wall", "b"])
    values = [value for value in (conditions.value(random, column) for _ in range(20)) if value != ""]
    parts = [{column: _partition_text(value)} for value in values]
    bounds = FileBounds(table([None] * len(values), parts), partition_columns=[column])
    condition = conditions.compare(random, column, random.choice(list(conditions.OPS)))

    found = kept(condition.sql, bounds, SCHEMA)

    truth = [condition.truth({column: value}) is True for value in values]
    assert all(keep or not true for keep, true in zip(found, truth, strict=True)), condition.sql
    understood = not isinstance(from_sql.parse(condition.sql, SCHEMA), from_sql.Opaque)
    if understood and column not in ("d", "f", "n"):
        assert found == truth, condition.sql


def _partition_text(value: Any) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case datetime():
            return value.replace(tzinfo=None).isoformat(sep=" ")
        case _:
            return str(value)


BOUNDED = stat(low={"a": 10}, high={"a": 20}, nulls={"a": 1})


@pytest.mark.parametrize(
    ("sql", "keep"),
    [
        ("a = 9", False), ("a = 10", True), ("a = 20", True), ("a = 21", False),
        ("a < 10", False), ("a <= 10", True), ("a > 20", False), ("a >= 20", True), ("a > 19.5", True),
        ("a > 20.0", False), ("a = 15.5", False), ("a <> 15", True), ("9 > a", False), ("21 <= a", False),
        ("a IN (1, 2, 30)", False), ("a IN (1, 15)", True), ("a IN (NULL)", False), ("a NOT IN (1)", True),
        ("a NOT IN (1, NULL)", False), ("a BETWEEN 1 AND 9", False), ("NOT a BETWEEN 1 AND 30", False),
        ("a IS NULL", True), ("a IS NOT NULL", True), ("a <=> NULL", True), ("a <=> 9", False),
        ("NOT a <=> 9", True), ("a = NULL", False), ("NOT (a > 5)", False),
        ("NOT (a > 5 OR rand() < 2)", False),
        ("a = 9 AND length('x') = 1", False), ("a = 9 OR length('x') = 1", True), ("a = '9'", False),
        ("a = '09'", True), ("a = 9e0", False), ("a > 1e300", True), ("a > 99999999999999999999", False),
        ("a < 99999999999999999999", True), ("a = a", True), ("CAST(a AS BIGINT) = 9", False),
        ("CAST(a AS STRING) = '9'", True), ("a IN (SELECT 1)", True), ("true", True), ("false", False),
        ("NULL", False), ("a + 1 = 3", True), ("abs(a) = 3", True), ("a % 2 = 5", True),
    ],
)  # fmt: skip
def test_integers_between_ten_and_twenty(sql: str, keep: bool) -> None:
    assert keeps(sql, schema(a="integer"), BOUNDED) == [keep]


def test_nulls_are_known_only_as_none_and_all() -> None:
    columns = schema(a="long")
    texts = [stat(nulls={"a": count}) for count in (0, 5, 10)] + [stat(), None]

    assert keeps("a IS NULL", columns, *texts) == [False, True, True, True, True]
    assert keeps("a IS NOT NULL", columns, *texts) == [True, True, False, True, True]
    assert keeps("a = 1", columns, *texts) == [True, True, False, True, True]


def test_long_lists_are_searched() -> None:
    texts = [stat(low={"a": low}, high={"a": low + 4}) for low in range(0, 1000, 5)] + [None]
    listed = set(range(0, 1000, 37))

    found = keeps(f"a IN ({', '.join(map(str, listed))})", schema(a="long"), *texts)

    assert found[:-1] == [not listed.isdisjoint(range(low, low + 5)) for low in range(0, 1000, 5)]
    assert found[-1]


def test_a_file_of_unknown_minimum_may_hold_the_least_of_a_long_list() -> None:
    listed = f"i IN ({', '.join(map(str, range(1, 30)))})"
    files = [stat(high={"i": high}) for high in (0, 1, 5, 99)]

    assert keeps(listed, schema(i="long"), *files) == [False, True, True, True]


def test_a_cut_maximum_is_not_trusted_to_its_end() -> None:
    cut = stat(low={"s": "a"}, high={"s": "x" * 32})
    columns = schema(s="string")

    assert keeps(f"s = '{'x' * 32}zzz'", columns, cut) == [True]
    assert keeps("s > 'y'", columns, cut) == [False]
    assert keeps("s LIKE 'y%'", columns, cut) == [False]
    assert keeps("s LIKE 'x%z'", columns, cut) == [True]


def test_prefixes_are_found_and_excluded() -> None:
    columns = schema(s="string")
    texts = [stat(low={"s": low}, high={"s": high}) for low, high in (("ab", "az"), ("b", "c"), ("a", "b"))]

    assert keeps("s LIKE 'a%'", columns, *texts) == [True, False, True]
    assert keeps("s NOT LIKE 'a%'", columns, *texts) == [False, True, True]
    assert keeps("NOT startswith(s, 'a')", columns, *texts) == [False, True, True]


@pytest.mark.parametrize(
    ("type_name", "low", "high", "sql", "keep"),
    [
        ("timestamp", "2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.001Z",
         "a = TIMESTAMP'2024-01-01 00:00:00.001999'", True),
        ("timestamp", "2024-01-01T00:00:00.000Z", "2024-01-01T00:00:00.001Z",
         "a >= TIMESTAMP'2024-01-01 00:00:00.002'", False),
        ("timestamp", "2023-12-31T16:00:00.000-08:00", "2024-01-01T01:00:00.000+01:00",
         "a < '2024-01-01'", False),
        ("timestamp", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z",
         "a = '1969-12-31 23:59:59.999001'", True),
        ("timestamp", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z",
         "a = '1969-12-31 23:59:59.999'", False),
        ("timestamp", "2024-01-01 00:00:00", "2024-01-01 00:00:00", "a < '1990-01-01'", True),
        ("timestamp", "+12024-01-01T00:00:00Z", "+12024-01-01T00:00:00Z", "a < '1990-01-01'", True),
        ("timestamp_ntz", "2024-01-01", "2024-01-02", "a < '2024-01-01'", False),
        ("timestamp_ntz", "2024-01-01", "2024-01-02", "a > '2024-01-02 00:00:01'", False),
        ("date", "2024-01-01", "2024-01-02", "a > DATE'2024-01-02'", False),
        ("date", "12024-01-01", "2024-01-02", "a < DATE'2024-01-02'", True),
        ("double", "NaN", "NaN", "a > 5", True),
        ("double", 1.5, "NaN", "a < 1.5", False),
        ("double", 1.5, "NaN", "a > 100", True),
        ("float", 0.1, 0.1, "a > 0.1", True),
        ("decimal(38,2)", 1, 1.2345678901234568e28, "a >= 12345678901234570000000000001.00", True),
        ("decimal(38,2)", 1, 1.2345678901234568e28, "a > 12345678901235000000000000000.00", False),
        ("decimal(10,2)", 1, 2.345, "a > 2.35", False),
        ("long", "1", 2, "a > 5", False),
        ("long", 1, [2], "a > 5", True),
        ("long", 1, 2.5, "a > 5", True),
        ("boolean", False, False, "a", False),
        ("boolean", False, False, "NOT a", True),
        ("binary", "a", "b", "a = X'FF'", True),
    ],
)  # fmt: skip
def test_bounds_as_writers_leave_them(type_name: str, low: Any, high: Any, sql: str, keep: bool) -> None:
    assert keeps(sql, schema(a=type_name), stat(low={"a": low}, high={"a": high})) == [keep]


def test_a_file_of_odd_statistics_does_not_spoil_its_neighbours() -> None:
    texts = [
        BOUNDED,
        "no json",
        "",
        "[1]",
        '{"minValues": {"a": "x"}}',
        stat(low={"a": 1}, high={"a": 2**70}),
        None,
    ]

    assert keeps("a = 5", schema(a="long"), *texts) == [False, True, True, True, True, True, True]


def test_floats_that_became_doubles_are_compared_with_slack() -> None:
    changes = [{"fromType": "float", "toType": "double"}]
    widened = Struct((Field("a", Primitive("double"), metadata={"delta.typeChanges": changes}),))
    text = stat(low={"a": 0.1}, high={"a": 0.1})

    assert keeps("a > 0.1", widened, text) == [True]
    assert keeps("a > 0.1001", widened, text) == [False]


def test_parsed_statistics_are_used_where_they_are() -> None:
    bounds = pa.struct([("a", pa.int32()), ("t", pa.timestamp("us", "UTC"))])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bounds), ("maxValues", bounds),
                        ("nullCount", pa.struct([("a", pa.int64()), ("t", pa.int64())]))])  # fmt: skip
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    one = {
        "numRecords": 5,
        "minValues": {"a": 1, "t": noon},
        "maxValues": {"a": 2, "t": noon + timedelta(hours=1)},
        "nullCount": {"a": 0, "t": 0},
    }
    columns = schema(a="integer", t="timestamp", c="long")
    other = stat(low={"a": 7, "t": "2024-01-02T00:00:00Z"}, high={"a": 8, "t": "2024-01-03T00:00:00Z"})
    for texts, rows in (
        ([None, None], [one, None]),
        (["{}", other], [one, None]),
        ([None, None], [one, one]),
    ):
        files = table(texts).append_column("stats_parsed", pa.array(rows, parsed))
        late = [
            True if row is None and text is None else row is None
            for row, text in zip(rows, texts, strict=True)
        ]

        assert kept("a > 5", FileBounds(files), columns) == late
        assert kept("t > '2024-01-01 14:00:00'", FileBounds(files), columns) == late
        assert kept("c > 5", FileBounds(files), columns) == [True, True]


def test_physical_names_are_looked_up() -> None:
    columns = Struct((Field("a", Struct((Field("b", Primitive("long")),))), Field("p", Primitive("integer"))))
    files = table([stat(low={"col-1": {"col-2": 5}}, high={"col-1": {"col-2": 6}})], [{"col-3": "7"}])
    physical = {("a", "b"): ("col-1", "col-2"), ("p",): ("col-3",)}
    bounds = FileBounds(files, partition_columns=["p"], physical=physical)

    assert kept("a.b = 7", bounds, columns) == [False]
    assert kept("P = 8", bounds, columns) == [False]
    assert kept("p = 7 AND a.b = 5", bounds, columns) == [True]


def test_lists_and_maps_are_known_by_their_nulls() -> None:
    columns = Struct((Field("l", Array(Primitive("long"), True)),))
    texts = [stat(nulls={"l": 10}), stat(nulls={"l": 0})]

    assert keeps("l IS NULL", columns, *texts) == [True, False]
    assert keeps("l IS NOT NULL", columns, *texts) == [False, True]
    assert keeps("l[0] = 1", columns, *texts) == [True, True]


def test_partition_values_of_nan_are_above_all_numbers() -> None:
    files = table([None] * 3, [{"p": "NaN"}, {"p": "1.0"}, {"p": None}])
    bounds = FileBounds(files, partition_columns=["p"])
    columns = schema(p="double")

    assert kept("p > 5", bounds, columns) == [True, False, False]
    assert kept("p < 5", bounds, columns) == [False, True, False]
    assert kept("p IS NULL", bounds, columns) == [False, False, True]


def test_a_decimal_beside_a_double_is_rounded_first() -> None:
    files = table([None] * 2, [{"p": "12345678901234568.500"}, {"p": "12345678901234571.000"}])
    bounds = FileBounds(files, partition_columns=["p"])

    assert kept("p = 12345678901234568D", bounds, schema(p="decimal(20,3)")) == [True, False]


def test_no_files_and_no_bounds_are_no_trouble() -> None:
    assert keeps("a = 1", schema(a="long")) == []
    assert keeps("a IN (1, 2)", schema(a="long"), None) == [True]


def test_a_table_in_many_chunks_is_read_in_order() -> None:
    parts = [table([stat(low={"a": number}, high={"a": number})] * 3 + [None]) for number in range(5)]

    found = kept("a = 3", FileBounds(pa.concat_tables(parts)), schema(a="long"))

    assert [index for index, keep in enumerate(found) if keep] == [3, 7, 11, 12, 13, 14, 15, 19]
