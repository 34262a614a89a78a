"""What string literals say, by Spark's rules."""

import pytest

from headgate.protocol.predicates import spark_strings
from headgate.protocol.predicates.spark_strings import DetachedSql


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        ("''", ""),
        ("'a''b'", None),
        ('"a""b"', None),
        ("\"a''b\"", "a''b"),
        (r"'a\'b'", "a'b"),
        (r"'\\''x'", None),
        (r"'\\\'x'", "\\'x"),
        (r"'\0\b\n\r\t\Z'", "\0\b\n\r\t\x1a"),
        (r"'\%\_\q'", r"\%\_q"),
        (r"'\u0041\u20AC\U0001F600'", "A€😀"),
        (r"'\'''x'", None),
        (r"'\'\'x'", "''x"),
        (r"'\u00'", "u00"),
        (r"'\U00110000'", "\ud800"),
        (r"'\U0010FFFF'", "\U0010ffff"),
        (r"'\101\060\177'", "A0\x7f"),
        (r"'\201'", "201"),
        ("'\\\n'", "\n"),
    ],
)
def test_what_a_literal_says(quoted: str, text: str | None) -> None:
    assert spark_strings.unescape(quoted) == text


@pytest.mark.parametrize(
    ("sql", "strings"),
    [
        ("a = 'x' AND b = \"y\"", ("x", "y")),
        ("a = 'x''y' AND b = 'z'", (None, "z")),
        ("a = r'x\\n' OR a = R\"y\\\"", ("x\\n", "y\\")),
        ("-- 'no'\n a = 'x'", ("x",)),
        ("/* 'no' */ a = 'x'", ("x",)),
        ("`it's` = 'x'", ("x",)),
        ("a = X'1F' OR a = x\"1F\"", ()),
        ("bar'x'", ("x",)),
        ("max'x'", ("x",)),
    ],
)
def test_strings_are_taken_out_and_nothing_else(sql: str, strings: tuple[str | None, ...]) -> None:
    found = spark_strings.detach_strings(sql)

    assert found.strings == strings
    places = [f"headgate-string-{number}" for number in range(len(strings))]
    assert [found.text(place) for place in places] == list(strings)
    assert all(f" '{place}' " in found.sql for place in places)
    if not strings:
        assert found.sql == sql


@pytest.mark.parametrize("rest", ["'it", '"it', "`it", "/* it"])
def test_what_is_not_closed_is_left_as_it_is(rest: str) -> None:
    found = spark_strings.detach_strings(f"a = 'x' AND b = {rest}")

    assert found.strings == ("x",)
    assert found.sql.endswith(f"AND b = {rest}")


@pytest.mark.parametrize(
    ("sql", "ambiguous"),
    [
        ("a = 1", False),
        ("a = 1 -- first\nAND b = 2", False),
        ("a = 1 -- first\\\nAND b = 2", True),
        ("a = 1 AND\n b = 2 -- second\\\nAND c = 3", True),
        ("-- first\na = \\\n1", False),
        ("a = 1\nAND b = 2 -- last\\", False),
        ("a < timestamp WithOut TIME ZONE '2026-01-31'", True),
        ("withouts = 1", False),
    ],
)
def test_what_other_parsers_read_differently_is_told(sql: str, *, ambiguous: bool) -> None:
    assert DetachedSql(sql, ()).is_ambiguous is ambiguous


def test_a_literal_that_is_none_of_ours_says_what_it_says() -> None:
    found = DetachedSql("", ("x",))

    assert found.text("y") == "y"
    assert found.text("headgate-string-0") == "x"
    assert found.text("headgate-string-0headgate-string-0") is None


@pytest.mark.parametrize("text", ["", "it's", "a\\", "\\'", "a'b"])
def test_what_is_quoted_says_the_same(text: str) -> None:
    assert spark_strings.unescape(spark_strings.quote(text)) == text
