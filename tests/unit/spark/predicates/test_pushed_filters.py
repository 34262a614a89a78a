"""What Spark asks of a scan, and which predicate that is."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.tree import Always, Compare, Never, Op, Opaque, Predicate
from headgate.protocol.schema.types import Field, Primitive, Struct
from headgate.spark.predicates import pushed_filters

_NAMES = {
    "i": "integer", "l": "long", "d": "double", "f": "float", "n": "decimal(10,2)", "s": "string",
    "b": "boolean", "day": "date", "ts": "timestamp", "wall": "timestamp_ntz",
}  # fmt: skip
SCHEMA = Struct(
    (
        *(Field(name, Primitive(kind)) for name, kind in _NAMES.items()),
        Field("st", Struct((Field("x", Primitive("long")), Field("old", Primitive("decimal(4,1)"))))),
        Field("collated", Primitive("string"), metadata={"__COLLATIONS": {"collated": "icu.UNICODE"}}),
    )
)
LAYOUT = Struct(
    (
        *(Field(f"p-{name}", Primitive(kind)) for name, kind in _NAMES.items()),
        Field("p-st", Struct((Field("px", Primitive("long")), Field("po", Primitive("integer"))))),
        Field("collated", Primitive("string")),
    )
)
COLUMNS = pushed_filters.filterable_columns(SCHEMA, LAYOUT)


def col(name: str) -> list[Any]:
    return ["column", f"p-{name}"]


def lit(kind: str, value: Any) -> list[Any]:
    return ["literal", kind, value]


def asked(*filters: list[Any]) -> Predicate:
    return pushed_filters.to_predicate(msgspec.json.encode(filters).decode(), COLUMNS)


ONE = lit("integer", 1)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (["EqualTo", col("i"), ONE], "i = 1"),
        (["GreaterThan", ONE, col("i")], "1 > i"),
        (["Not", ["EqualTo", col("i"), ONE]], "i <> 1"),
        (["Not", ["Or", ["LessThan", col("i"), ONE], ["IsNull", col("s")]]], "i >= 1 AND s IS NOT NULL"),
        (["Not", ["And", ["LessThan", col("i"), ONE], col("b")]], "i >= 1 OR NOT b"),
        (["EqualNullSafe", col("i"), ONE], "i <=> 1"),
        (["Not", ["EqualNullSafe", col("i"), ONE]], "NOT (i <=> 1)"),
        (["EqualNullSafe", col("i"), lit("integer", None)], "i IS NULL"),
        (["In", col("i"), ONE, lit("integer", 3)], "i IN (1, 3)"),
        (["Not", ["In", col("i"), ONE, lit("integer", None)]], "i NOT IN (1, NULL)"),
        (["StartsWith", col("s"), lit("string", "ab")], "startswith(s, 'ab')"),
        (["EqualTo", ["field", col("st"), "px"], lit("long", 5)], "st.x = 5"),
        (["LessThan", ["cast", col("i"), "long", None], lit("long", 5)], "i < 5"),
        (["GreaterThanOrEqual", col("n"), lit("decimal(10,2)", "1.50")], "n >= 1.50"),
        (["EqualTo", col("day"), lit("date", 19782)], "day = DATE'2024-02-29'"),
        (["LessThan", col("wall"), lit("timestamp_ntz", 10**6)], "wall < TIMESTAMP_NTZ'1970-01-01 00:00:01'"),
        (["EqualTo", ["cast", col("ts"), "date", "UTC"], lit("date", 0)], "DATE(ts) = DATE'1970-01-01'"),
        (lit("boolean", True), "true"),
        (lit("boolean", None), "NULL"),
    ],
)  # fmt: skip
def test_a_filter_is_the_predicate_of_its_sql(question: list[Any], sql: str) -> None:
    assert asked(question) == from_sql.parse(sql, SCHEMA)


@pytest.mark.parametrize(
    ("kind", "name", "value", "expected"),
    [
        ("timestamp", "ts", 1, datetime(1970, 1, 1, microsecond=1)),
        ("date", "day", -1, date(1969, 12, 31)),
        ("decimal(3,1)", "n", "-1.5", Decimal("-1.50")),
        ("double", "d", 1e300, 1e300),
        ("float", "f", 1.100000023841858, 1.100000023841858),
    ],
)
def test_literals_have_the_values_that_spark_computes_with(
    kind: str, name: str, value: Any, expected: Any
) -> None:
    found = asked(["EqualTo", col(name), lit(kind, value)])

    assert isinstance(found, Compare)
    assert (found.op, found.value) == (Op.EQ, expected)
    assert getattr(found.value, "tzinfo", None) in (None, UTC)


@pytest.mark.parametrize(
    "question",
    [
        ["EqualTo", ["?"], ONE],
        ["EqualTo", ["Remainder", col("i"), ONE], ONE],
        ["EqualTo", col("i"), col("l")],
        ["EqualTo", ["column", "i"], ONE],
        ["EqualTo", ["column", "collated"], lit("string", "a")],
        ["EqualTo", ["field", col("st"), "po"], ONE],
        ["EqualTo", col("d"), lit("double", "NaN")],
        ["EqualTo", col("s"), lit("string collate UNICODE_CI", "a")],
        ["EqualTo", col("day"), lit("date", 10**9)],
        ["IsNull", ["cast", col("i"), "long", None]],
        ["In", col("i"), ONE, ["?"]],
        ["In", col("i")],
        ["ScalarSubquery"],
        ["EqualTo", ["cast", col("s"), "integer", None], ONE],
    ],
)
def test_what_is_not_known_may_be_true_for_any_row(question: list[Any]) -> None:
    assert isinstance(asked(question), Opaque)
    assert isinstance(asked(["Not", question]), Opaque)


def test_all_filters_must_hold() -> None:
    assert asked() == Always()
    assert asked(lit("boolean", True), ["EqualTo", col("i"), lit("integer", None)]) == Never()
    found = asked(["IsNotNull", col("i")], ["GreaterThan", col("i"), ONE], ["ScalarSubquery"])
    assert [type(part).__name__ for part in found.parts] == ["NotNull", "Compare", "Opaque"]  # type: ignore[union-attr]
