"""SQL conditions become the predicates Spark would evaluate, or are unknown."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from headgate.errors import InvalidRequest
from headgate.protocol.predicates import from_sql, spark_strings
from headgate.protocol.predicates.tree import (
    Always,
    And,
    Column,
    Compare,
    In,
    IsNull,
    Never,
    NotNull,
    NotStartsWith,
    Op,
    Opaque,
    Or,
    Predicate,
    StartsWith,
    referenced_columns,
)
from headgate.protocol.schema.types import Array, Field, Map, Primitive, Struct

NAMES = {
    "i": "integer", "l": "long", "s": "string", "d": "double", "f": "float", "n": "decimal(10,2)",
    "big": "decimal(38,30)", "day": "date", "ts": "timestamp", "wall": "timestamp_ntz", "b": "boolean",
    "raw": "binary", "set": "integer", "a.b": "integer",
}  # fmt: skip
SCHEMA = Struct(
    (
        *(Field(name, Primitive(data_type)) for name, data_type in NAMES.items()),
        Field("a", Struct((Field("b", Struct((Field("C", Primitive("string")),))),))),
        Field("m", Map(Primitive("string"), Primitive("long"), True)),
        Field("list", Array(Primitive("long"), True)),
        Field(
            "lines",
            Array(Struct((Field("sku", Primitive("string"), metadata={"delta.columnMapping.id": 2}),)), True),
        ),
        Field("code", Primitive("string"), metadata={"__CHAR_VARCHAR_TYPE_STRING": "char(5)"}),
        Field(
            "coded",
            Struct((Field("c", Primitive("string")), Field("n", Primitive("integer")))),
            metadata={"__CHAR_VARCHAR_TYPE_STRING": "struct<c:char(5),n:int>"},
        ),
        Field("word", Primitive("string"), metadata={"__COLLATIONS": {"word": "ICU.UNICODE_CI"}}),
    )
)


def parse(sql: str, time_zone: str = "UTC") -> Predicate:
    return from_sql.parse(sql, SCHEMA, time_zone=time_zone)


def column(name: str) -> Column:
    return Column((name,), Primitive(NAMES[name]))


def compared(name: str, op: str, value: object) -> Compare:
    return Compare(column(name), Op(op), value)  # type: ignore[arg-type]  # any value of the tests


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("i = 1", compared("i", "=", 1)),
        ("I == 1", compared("i", "=", 1)),
        ("1 < i", compared("i", ">", 1)),
        ("i <> -1", compared("i", "<>", -1)),
        ("NOT i < 1", compared("i", ">=", 1)),
        ("!(i != 1)", compared("i", "=", 1)),
        ("i > 1.5", compared("i", ">", 1)),
        ("i >= 1.5", compared("i", ">", 1)),
        ("i < 1.5", compared("i", "<=", 1)),
        ("i <= -1.5", compared("i", "<=", -2)),
        ("i = 1.5", Never()),
        ("i <> 1.5", NotNull(column("i"))),
        ("i = 2.0", compared("i", "=", 2)),
        ("i = 2e0", compared("i", "=", 2)),
        ("i = 5L", compared("i", "=", 5)),
        ("l > 99999999999999999999", Never()),
        ("l = -9223372036854775808", compared("l", "=", -(2**63))),
        ("i = '12'", compared("i", "=", 12)),
        ("set = 1", compared("set", "=", 1)),
        ("`a.b` = 1", compared("a.b", "=", 1)),
        ("i = CAST('7' AS DECIMAL(3,1))", compared("i", "=", 7)),
        ("i = CAST(NULL AS INT)", Never()),
        ("CAST(i AS BIGINT) = 1", compared("i", "=", 1)),
        ("n = 1.5", compared("n", "=", Decimal("1.50"))),
        ("n = 1.5BD", compared("n", "=", Decimal("1.50"))),
        ("n > 1.005", compared("n", ">", Decimal("1.00"))),
        ("n < 1", compared("n", "<", Decimal("1.00"))),
        ("n > 123456789012", Never()),
        ("n <> 1.5D", And((NotNull(column("n")), Opaque("n <> 1.5")))),
        ("d = 0.1", compared("d", "=", 0.1)),
        ("d = 3", compared("d", "=", 3.0)),
        ("f = 16777216", compared("f", "=", 16777216.0)),
        ("s = 'it\\'s'", compared("s", "=", "it's")),
        ('s = "x"', compared("s", "=", "x")),
        ("s = r'a\\b'", compared("s", "=", "a\\b")),
        ("s = 'a\\\\b\\n\\u0041\\101'", compared("s", "=", "a\\b\nAA")),
        ("s = 'a' -- it's a comment", compared("s", "=", "a")),
        ("a.b.c = 'x'", Compare(Column(("a", "b", "C"), Primitive("string")), Op.EQ, "x")),
        ("day = '2024-02-29'", compared("day", "=", date(2024, 2, 29))),
        ("day = DATE'2024-02-29'", compared("day", "=", date(2024, 2, 29))),
        ("day > TIMESTAMP'2024-02-29 12:00:00'", compared("day", ">", date(2024, 2, 29))),
        ("day >= TIMESTAMP_NTZ'2024-02-29 00:00:00'", compared("day", ">=", date(2024, 2, 29))),
        ("ts = '2024-02-29 12:00:00.5'", compared("ts", "=", datetime(2024, 2, 29, 12, 0, 0, 500_000))),
        ("ts = TIMESTAMP'2024-02-29T12:00:00+02:00'", compared("ts", "=", datetime(2024, 2, 29, 10))),
        ("ts >= DATE'2024-02-29'", compared("ts", ">=", datetime(2024, 2, 29))),
        ("wall = TIMESTAMP_NTZ'2024-02-29 12:00:00'", compared("wall", "=", datetime(2024, 2, 29, 12))),
        ("wall = TIMESTAMP'2024-02-29 12:00:00'", compared("wall", "=", datetime(2024, 2, 29, 12))),
        ("CAST(ts AS DATE) > '2024-02-29'", compared("ts", ">=", datetime(2024, 3, 1))),
        ("to_date(ts) <= DATE'2024-02-29'", compared("ts", "<", datetime(2024, 3, 1))),
        ("b", compared("b", "=", True)),
        ("NOT b", compared("b", "=", False)),
        ("b IS TRUE", compared("b", "=", True)),
        ("b IS NOT TRUE", Or((compared("b", "=", False), IsNull(column("b"))))),
        ("true AND b", compared("b", "=", True)),
        ("false OR b", compared("b", "=", True)),
        ("i IS NULL", IsNull(column("i"))),
        ("NOT isnull(i)", NotNull(column("i"))),
        ("isnotnull(i)", NotNull(column("i"))),
        ("i <=> NULL", IsNull(column("i"))),
        ("i IS DISTINCT FROM 1", Or((compared("i", "<>", 1), IsNull(column("i"))))),
        ("i IN (3, 1, 3, NULL)", In(column("i"), (1, 3))),
        ("i = 3 OR i = 1", In(column("i"), (1, 3))),
        ("i = 3 AND i = 1", And((compared("i", "=", 3), compared("i", "=", 1)))),
        ("i NOT IN (1, 2)", And((compared("i", "<>", 1), compared("i", "<>", 2)))),
        ("i NOT IN (1, NULL)", Never()),
        ("i BETWEEN 1 AND 2", And((compared("i", ">=", 1), compared("i", "<=", 2)))),
        ("i NOT BETWEEN 1 AND 2", Or((compared("i", "<", 1), compared("i", ">", 2)))),
        ("s LIKE 'ab%'", StartsWith(column("s"), "ab")),
        ("s LIKE 'ab%c'", And((StartsWith(column("s"), "ab"), Opaque("s LIKE 'ab%c'")))),
        ("s LIKE 'ab'", compared("s", "=", "ab")),
        ("s LIKE 'a\\%b%'", StartsWith(column("s"), "a%b")),
        ("s LIKE 'a!%%' ESCAPE '!'", StartsWith(column("s"), "a%")),
        ("s NOT LIKE 'ab%'", NotStartsWith(column("s"), "ab")),
        ("NOT (s NOT LIKE 'ab%')", StartsWith(column("s"), "ab")),
        ("s LIKE '%'", NotNull(column("s"))),
        ("s NOT LIKE '%'", Never()),
        ("startswith(s, 'ab')", StartsWith(column("s"), "ab")),
        ("startswith(s, NULL)", Never()),
        ("NOT (i = 1 AND b)", Or((compared("i", "<>", 1), compared("b", "=", False)))),
        ("1 = 1 OR true", Always()),
        ("NULL", Never()),
        ("(i) = (1)", compared("i", "=", 1)),
        ("TRY_CAST(i AS BIGINT) = 1", compared("i", "=", 1)),
        ("i IS NOT NULL", NotNull(column("i"))),
        ("isnull(i)", IsNull(column("i"))),
        ("i <=> 1", compared("i", "=", 1)),
        ("1 <=> i", compared("i", "=", 1)),
        ("NOT i <=> 1", Or((compared("i", "<>", 1), IsNull(column("i"))))),
        ("i IS NOT DISTINCT FROM 1", compared("i", "=", 1)),
        ("i IS DISTINCT FROM NULL", NotNull(column("i"))),
        ("i BETWEEN l AND 5 AND i > 0", And((Opaque("i BETWEEN l AND 5"), compared("i", "<=", 5),
                                             compared("i", ">", 0)))),
        ("to_date(ts) IN ('2024-07-02')", And((compared("ts", ">=", datetime(2024, 7, 2)),
                                               compared("ts", "<", datetime(2024, 7, 3))))),
        ("to_date(ts) NOT IN ('2024-07-02')", Or((compared("ts", "<", datetime(2024, 7, 2)),
                                                  compared("ts", ">=", datetime(2024, 7, 3))))),
        ("to_date(ts) IN ('2024-07-02', NULL)", And((compared("ts", ">=", datetime(2024, 7, 2)),
                                                     compared("ts", "<", datetime(2024, 7, 3))))),
        ("to_date(ts) NOT IN ('2024-07-02', NULL)", Never()),
        ("NOT startswith(s, 'ab')", NotStartsWith(column("s"), "ab")),
    ],
)  # fmt: skip
def test_conditions_that_are_understood(sql: str, expected: Predicate) -> None:
    assert parse(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "i = rand()", "i + 1 = 2", "i = l", "s = 1", "i = 'x'", "i = '01'", "i = true", "b = 1", "l = 1e300",
        "f = 16777217", "d = CAST('NaN' AS DOUBLE)", "big = 123456789.5", "raw = X'00'", "code = 'a'",
        "coded.c = 'a'",
        "word = 'a'", "word LIKE 'a%'", "s = 'a\U0010ffff'", "s = 'a' 'b'", "s = 'it''s'", "s LIKE '_b'",
        "s NOT LIKE 'a%b'",
        "s LIKE 'a\\\\b'", "s ILIKE 'a%'", "s RLIKE 'a'", "s LIKE ANY ('a', 'b')", "s LIKE s", "day = '2024'",
        "day = '2024-1-1'", "day = '2024-01-01 00:00:00'", "ts = 'tomorrow'", "ts IN ('2024-01-01')",
        "wall = '2024-01-01 00:00:00Z'", "i IN (SELECT 1)", "i IN (1, 'x')", "i IN (1, 2e0)", "i IN (l)",
        "m['k'] = 1", "m.k = 1", "list[0] = 1", "a IS NULL", "a.b IS NULL", "i = 1; i = 2",
        "i = = 1", "(i, l) = (1, 2)",
        "CAST(l AS INT) = 1", "CAST(s AS INT) = 1", "CAST(i AS STRING) = '1'",
        "CAST(s AS DATE) = DATE'2024-01-01'",
        "i = CAST('x' AS INT)", "i = CAST(300 AS TINYINT)", "i = 0x1F", "to_date(ts, 'yyyy') = '2024-01-01'",
        "CAST(ts AS DATE) = TIMESTAMP'2024-01-01 00:00:00'", "exists(list, x -> x > 1)", "coalesce(i, 1) = 1",
        "i = 1 ORDER BY i", "'x'", "s", "(i = 1) = b", "(i = 1) IS NULL", "i = CAST(1.5 AS DECIMAL(3,0))",
        "i IN ()", "i <=> l", "to_date(ts) <=> '2024-01-01'", "to_date(ts) <=> NULL", "length(s) <=> 1",
        "i BETWEEN SYMMETRIC 2 AND 1", "i IS TRUE", "i IS 5", "lower(s) LIKE 'a%'", "to_date(ts) LIKE '2%'",
        "s ILIKE 'a!%' ESCAPE '!'", "s RLIKE 'ab' ESCAPE '!'", "s LIKE 'ab' ESCAPE '!!'",
        "s LIKE 'ab' ESCAPE ''", "s LIKE 'ab' ESCAPE NULL", "s LIKE 'ab' ESCAPE :mark",
        "startswith(lower(s), 'a')", "startswith(s, s)", "my_function(b)",
        "isnull(i, 1)", "isnull()", "isnull(lower(s))", "i = -true", "(a.b).c = 'x'",
        "a.* = 1", "a.b.c.d.* = 1", "i = 1e", "i = .5.5", "i = CAST(1 AS BOOLEAN)",
        "CAST(i AS BOOLEAN) = true", "i = 999999999999999999999999999999999999999",
        "l < 99999999999999999999", "NOT l >= 9223372036854775808", "l > -9223372036854775808.5",
        "i IN (99999999999999999999999999999999999999, 0.10)", "n = CAST(1 AS DECIMAL(38, 2))",
        "ts <> '2024-01-01 00:00:00+18:30'", "i = 1 -- as in C:\\temp\\\n AND l = 2",
        "CAST(s AS STRING COLLATE UTF8_LCASE) = 'a'", "s = CAST('a' AS STRING COLLATE UTF8_LCASE)",
        "CAST(ts AS TIMESTAMP WITHOUT TIME ZONE) = '2024-01-01 00:00:00'", "i = 16777216F", "l <= -16777216F",
        "i IS DISTINCT FROM 'x'", "NOT day <=> 'x'", "ts IS DISTINCT FROM 'tomorrow'",
    ],
)  # fmt: skip
def test_conditions_that_are_not(sql: str) -> None:
    assert isinstance(parse(sql), Opaque)


DEEP = Struct((Field("v", Primitive("boolean")), Field("u", Struct((Field("n", Primitive("long")),)))))
for _name in "wzyx":
    DEEP = Struct((Field(_name, DEEP),))


@pytest.mark.parametrize(
    ("sql", "path", "value"),
    [
        ("x.y.z.w.v", "x.y.z.w.v", True), ("t.x.y.z.w.v", "x.y.z.w.v", True),
        ("x.y.z.w.u.n = 1", "x.y.z.w.u.n", 1), ("1 = `x`.`Y`.`z`.`w`.`u`.`n`", "x.y.z.w.u.n", 1),
    ],
)  # fmt: skip
def test_fields_of_structs_in_structs(sql: str, path: str, value: object) -> None:
    found = from_sql.parse(sql, DEEP, alias="t")

    assert isinstance(found, Compare)
    assert (".".join(found.column.path), found.op, found.value) == (path, Op.EQ, value)


def test_an_end_that_is_not_known_leaves_the_other() -> None:
    assert parse("length(s) BETWEEN 1 AND 2") == And((Opaque("LENGTH(s) BETWEEN 1 AND 2"),) * 2)
    assert parse("i NOT BETWEEN 1 AND l") == Or((compared("i", "<", 1), Opaque("i BETWEEN 1 AND l")))


def test_what_is_too_long_or_too_deep_is_not_known() -> None:
    for sql in ("i = " + "9" * 5000, "n < " + "9" * 400 + "D", "NOT " * 5000 + "b"):
        assert isinstance(parse(sql), Opaque)


def test_an_unknown_part_leaves_the_others() -> None:
    found = parse("i = 1 AND length(s) = 2 AND (b OR rand() < 1)")

    assert isinstance(found, And)
    assert found.parts[0] == compared("i", "=", 1)
    assert [part.path for part in referenced_columns(found)] == [("i",), ("b",)]


def test_the_session_zone_decides_what_a_text_means() -> None:
    new_york = parse("ts >= '2024-07-01 00:00:00'", "America/New_York")
    offset = parse("ts >= DATE'2024-07-01'", "+02:00")

    assert new_york == compared("ts", ">=", datetime(2024, 7, 1, 4))
    assert offset == compared("ts", ">=", datetime(2024, 6, 30, 22))


@pytest.mark.parametrize(
    "sql",
    [
        "ts = '2024-03-10 02:30:00'",  # does not exist there
        "ts = '1850-01-01'",
        "wall = TIMESTAMP'2024-01-01 00:00:00'",
        "day = TIMESTAMP'2024-01-01 00:00:00'",
    ],
)
def test_what_a_changing_clock_makes_doubtful_is_unknown(sql: str) -> None:
    assert isinstance(parse(sql, "America/New_York"), Opaque)


def test_the_day_of_a_timestamp_has_slack_where_clocks_change() -> None:
    found = parse("CAST(ts AS DATE) = '2024-07-02'", "America/New_York")

    assert isinstance(found, And)
    assert found.parts[:2] == (
        compared("ts", ">=", datetime(2024, 7, 1, 4)), compared("ts", "<", datetime(2024, 7, 4, 4))
    )  # fmt: skip
    assert isinstance(found.parts[2], Opaque)


def test_an_unknown_zone_makes_only_local_times_unknown() -> None:
    assert isinstance(parse("ts = '2024-01-01'", "Mars/Olympus"), Opaque)
    assert parse("ts = '2024-01-01 00:00:00Z'", "Mars/Olympus") == compared("ts", "=", datetime(2024, 1, 1))


@pytest.mark.parametrize(
    ("sql", "hints"),
    [
        ("dya = '2024-01-01'", ["'dya'", "did you mean 'day'"]),
        ("C = 1", ["there is no column 'C'"]),
        ("a.b.d = 1", ["'a.b' has no 'd'; it has 'C'"]),
        ("a.x.y = 1", ["'a' has no 'x'"]),
        ("i.x = 1", ["'i' has no 'x'"]),
        ("b = true OR nothing_like_it IS NULL", ["'nothing_like_it'"]),
    ],
)
def test_a_missing_column_is_named_with_its_neighbours(sql: str, hints: list[str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        parse(sql)

    assert all(hint in str(raised.value) for hint in hints), str(raised.value)


def test_a_field_without_its_struct_is_found() -> None:
    nested = Struct((Field("s", Struct((Field("deep", Primitive("long")),))),))

    with pytest.raises(InvalidRequest, match=r"did you mean 's\.deep'"):
        from_sql.parse("deep = 1", nested)


def test_an_alias_of_the_table_is_no_column() -> None:
    assert from_sql.parse("T.i = 1", SCHEMA, alias="t") == compared("i", "=", 1)
    assert from_sql.parse("t.a.b.c = 'x'", SCHEMA, alias="t") == parse("a.b.c = 'x'")
    with pytest.raises(InvalidRequest):
        parse("t.i = 1")


def test_an_empty_condition_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        parse("  ")


def test_thousands_of_parts_are_no_trouble() -> None:
    found = parse(" OR ".join(f"i = {number}" for number in range(3000)))

    assert found == In(column("i"), tuple(range(3000)))


@pytest.mark.parametrize("text", ["", "it's", 'a"b', "a\\", "\\'", "😀\n", "`x`", "-- no", "%_"])
def test_quoted_texts_say_what_they_did(text: str) -> None:
    detached = spark_strings.detach_strings(f"s = {spark_strings.quote(text)} AND `it's` = 1")

    assert detached.strings == (text,)


def test_lists_of_structs_are_asked_about_in_several_parts() -> None:
    lines = Column(
        ("lines",),
        Array(Struct((Field("sku", Primitive("string"), metadata={"delta.columnMapping.id": 2}),)), True),
    )

    found = parse("lines IS NULL OR i = 1 OR lines IS NOT NULL")

    assert set(referenced_columns(found)) == {lines, column("i")}
