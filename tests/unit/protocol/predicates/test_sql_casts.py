"""Casts in conditions: seen through only where Spark's cast loses nothing, and never guessed."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
import sqlglot
from sqlglot import exp

from headgate.protocol.predicates import sql_casts
from headgate.protocol.predicates.literals import Literal
from headgate.protocol.schema.types import Array, DataType, Primitive

INDIA = timezone(timedelta(hours=5, minutes=30))
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("CAST(x AS TINYINT)", "byte"), ("CAST(x AS BYTE)", "byte"), ("CAST(x AS SMALLINT)", "short"),
        ("CAST(x AS INT)", "integer"), ("CAST(x AS BIGINT)", "long"), ("TRY_CAST(x AS LONG)", "long"),
        ("x::bigint", "long"), ("CAST(x AS FLOAT)", "float"), ("CAST(x AS DOUBLE)", "double"),
        ("CAST(x AS STRING)", "string"), ("CAST(x AS DATE)", "date"), ("to_date(x)", "date"),
        ("CAST(x AS TIMESTAMP)", "timestamp"), ("timestamp(x)", "timestamp"),
        ("CAST(x AS TIMESTAMP_LTZ)", "timestamp"), ("CAST(x AS TIMESTAMP WITH LOCAL TIME ZONE)", "timestamp"),
        ("CAST(x AS TIMESTAMP_NTZ)", "timestamp_ntz"), ("CAST(x AS DECIMAL)", "decimal(10,0)"),
        ("CAST(x AS DEC(5))", "decimal(5,0)"), ("CAST(x AS DECIMAL(38, 18))", "decimal(38,18)"),
        ("CAST(x AS NUMERIC(5,0))", "decimal(5,0)"), ("CAST(x AS STRING(5))", None),
        ("CAST(x AS STRING COLLATE UTF8_LCASE)", None), ("CAST(x AS BOOLEAN)", None),
        ("CAST(x AS BINARY)", None), ("CAST(x AS ARRAY<INT>)", None), ("CAST(x AS INTERVAL DAY)", None),
        ("CAST(x AS INTERVAL)", None), ("CAST(x AS DECIMAL(p))", None), ("CAST(x AS DECIMAL(5.5))", None),
        ("CAST(x AS DECIMAL(?))", None), ("CAST(x AS DECIMAL(5, :scale))", None),
    ],
)  # fmt: skip
def test_the_type_that_a_cast_makes(sql: str, name: str | None) -> None:
    assert sql_casts.cast_target(sqlglot.parse_one(sql, read="spark", into=exp.Condition)) == name


MOST, LEAST = 2**63 - 1, -(2**63)


@pytest.mark.parametrize(
    ("value", "name", "result"),
    [
        (127, "byte", 127), (-128, "byte", -128), (32767, "short", 32767), (-(2**31), "integer", -(2**31)),
        (MOST, "long", MOST), (LEAST, "long", LEAST), (1, "double", 1.0), (Decimal("0.1"), "double", 0.1),
        (0.1, "double", 0.1), (2**53 + 1, "double", 2.0**53), (1.5, "float", 1.5), (3, "float", 3.0),
        (16777215, "float", 16777215.0), (Decimal(-16777215), "float", -16777215.0),
        (Decimal("0.25"), "float", 0.25), ("a", "string", "a"), ("2024-02-29", "date", date(2024, 2, 29)),
        ("2024-02-29 12:00:00", "timestamp_ntz", datetime(2024, 2, 29, 12)),
        (7, "decimal(3,1)", Decimal("7.0")), ("7", "decimal(3,1)", Decimal("7.0")),
        ("-1.5", "decimal(3,1)", Decimal("-1.5")), (".5", "decimal(3,1)", Decimal("0.5")),
        ("5.", "decimal(3,1)", Decimal("5.0")), (Decimal("99.9"), "decimal(3,1)", Decimal("99.9")),
        (Decimal("-99.90"), "decimal(3,1)", Decimal("-99.9")), (99, "decimal(2,0)", Decimal(99)),
        (1, "decimal(38,30)", Decimal(f"1.{'0' * 30}")), (1, "decimal(20,0)", Decimal(1)),
        ("12345678901234567890.12345", "decimal(38,18)", Decimal(f"12345678901234567890.12345{'0' * 13}")),
    ],
)  # fmt: skip
def test_literals_that_a_cast_keeps(value: Literal, name: str, result: Literal) -> None:
    known, found = sql_casts.cast_literal(value, name, UTC)

    assert (known, found, type(found)) == (True, result, type(result))
    assert not isinstance(result, Decimal) or str(found) == str(result)


@pytest.mark.parametrize("name", ["byte", "double", "string", "date", "timestamp", "decimal(3,1)"])
def test_null_stays_null_and_a_truth_is_not_known(name: str) -> None:
    assert sql_casts.cast_literal(None, name, UTC) == (True, None)
    assert sql_casts.cast_literal(True, name, UTC) == (False, None)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1, "decimal(38,2)"), (1, "decimal(21,0)"),
        (128, "byte"), (-129, "byte"), (32768, "short"), (2**31, "integer"), (MOST + 1, "long"),
        (LEAST - 1, "long"), (Decimal("1.0"), "integer"), (1.0, "integer"), ("1", "integer"), ("1", "double"),
        (0.1, "float"), (Decimal("0.1"), "float"), (Decimal("1.00000000000000000001"), "float"),
        (16777216, "float"), (-16777216.0, "float"),
        (16777217, "float"), (1e300, "float"), (2**60 + 1, "float"), (1, "string"),
        (date(2024, 1, 1), "string"), (1, "date"), ("2024", "date"), ("2024-02-30", "date"),
        (datetime(2024, 1, 1), "date"), ("x", "timestamp"), (1, "timestamp"), ("x", "timestamp_ntz"),
        ("2024-01-01 00:00:00Z", "timestamp_ntz"), (date(2024, 1, 1), "timestamp"),
        (100, "decimal(3,1)"), (-100, "decimal(3,1)"), (Decimal("99.95"), "decimal(3,1)"),
        (Decimal("0.05"), "decimal(3,1)"), (1, "decimal(38,38)"), (f"0.{'9' * 39}", "decimal(38,38)"),
        ("x", "decimal(3,1)"), ("", "decimal(3,1)"), (".", "decimal(3,1)"), ("1e1", "decimal(3,1)"),
        ("1.2.3", "decimal(9,1)"), (" 1", "decimal(3,1)"), ("٣", "decimal(3,1)"), ("NaN", "decimal(3,1)"),
        (1.5, "decimal(3,1)"), (date(2024, 1, 1), "decimal(3,1)"),
    ],
)  # fmt: skip
def test_literals_that_a_cast_changes_or_refuses(value: Literal, name: str) -> None:
    known, _ = sql_casts.cast_literal(value, name, UTC)

    assert not known


def test_the_session_zone_decides_which_instant_a_text_is() -> None:
    noon = "2024-02-29 12:00:00"

    assert sql_casts.cast_literal(noon, "timestamp", INDIA) == (
        True,
        datetime(2024, 2, 29, 6, 30, tzinfo=UTC),
    )
    assert not sql_casts.cast_literal(noon, "timestamp", None)[0]
    assert not sql_casts.cast_literal("2024-03-10 02:30:00", "timestamp", NEW_YORK)[0]


@pytest.mark.parametrize(
    ("data_type", "name", "keeps"),
    [
        ("byte", "byte", True), ("byte", "long", True), ("short", "integer", True), ("integer", "long", True),
        ("long", "integer", False), ("short", "byte", False), ("float", "double", True),
        ("double", "float", False), ("double", "double", True), ("integer", "double", False),
        ("integer", "string", False), ("string", "integer", False), ("string", "string", True),
        ("date", "timestamp", False), ("timestamp", "date", False), ("timestamp", "timestamp", True),
        ("timestamp", "timestamp_ntz", False), ("decimal(10,2)", "decimal(10,2)", True),
        ("decimal(10,2)", "decimal(12,2)", False),
    ],
)  # fmt: skip
def test_which_casts_of_a_column_keep_its_order(data_type: str, name: str, keeps: bool) -> None:
    assert sql_casts.preserves_order(Primitive(data_type), name) is keeps


@pytest.mark.parametrize(
    ("data_type", "name", "takes"),
    [
        (Primitive("timestamp"), "date", True), (Primitive("timestamp_ntz"), "date", True),
        (Primitive("timestamp"), "timestamp", False), (Primitive("string"), "date", False),
        (Primitive("date"), "date", False), (Array(Primitive("timestamp"), True), "date", False),
    ],
)  # fmt: skip
def test_which_casts_take_the_day_of_a_timestamp(data_type: DataType, name: str, takes: bool) -> None:
    assert sql_casts.is_timestamp_to_date(data_type, name) is takes


def test_the_order_of_a_list_is_not_kept() -> None:
    assert not sql_casts.preserves_order(Array(Primitive("long"), True), "long")
