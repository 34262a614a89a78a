"""Do offsets hold for any text, and does reading take time in proportion to its length?"""

import sys
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.errors import InvalidRequest
from headgate.sql.parse.statements import parse_statement
from headgate.sql.parse.tokens import tokenize_statement
from headgate.sql.statements.sql_text import TableMention

NAMES = st.one_of(
    st.from_regex(r"[a-z][a-z0-9_]{0,5}x9", fullmatch=True),
    st.text(min_size=1, max_size=6).map(lambda name: "`{}`".format(name.replace("`", "``"))),
)
TABLES = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
NOISE = st.sampled_from((" ", "\n", " /* FROM x */ ", " -- JOIN y\n", "\t", " /* a /* b */ , c */ "))
LITERALS = st.one_of(
    st.text(max_size=8).map(lambda said: "'{}'".format(said.replace("\\", "\\\\").replace("'", "\\'"))),
    st.integers().map(str),
    st.just("extract(DAY FROM a)"),
    st.just("(a IS DISTINCT FROM b)"),
    st.just('"FROM t"'),
    st.just(":p"),
)
SHAPES = (
    "SELECT {value} FROM {table}",
    "SELECT * FROM (SELECT {value} FROM {table}) q",
    "SELECT {value} WHERE a IN (SELECT b FROM {table} VERSION AS OF 3)",
    "WITH c AS (SELECT {value}) SELECT * FROM c JOIN {table} ON c.a = {value}",
    "FROM {table} |> SELECT {value}",
    "SELECT {value} UNION ALL TABLE {table}",
)


@given(shape=st.sampled_from(SHAPES), table=TABLES, value=LITERALS, noise=NOISE)
def test_offsets_slice_exactly_the_name(shape: str, table: str, value: str, noise: str) -> None:
    text = shape.replace(" ", noise).replace("{table}", table).replace("{value}", value)
    if table.lower() == "c" or ("``" in table and "`" not in table.strip("`")):
        return
    (found,) = parse_statement(text).whole.mentions

    assert text[found.start : found.name_end] == table


@given(st.text(alphabet="abFROMSELECT tjoin.,()[]{}'\"`@|>-*/+:?;$\\\n1", max_size=80))
def test_any_text_is_read_or_refused_and_nothing_without_a_frame_changes(text: str) -> None:
    try:
        whole = parse_statement(text).whole
    except InvalidRequest as refused:
        assert refused.code
        return
    assert whole.text == text
    assert whole.replaced(lambda _: None) == text
    assert all(0 <= each.start < each.name_end <= each.end <= len(text) for each in whole.mentions)


@given(st.text(max_size=60))
def test_tokens_are_slices_of_the_text_in_order(text: str) -> None:
    tokens = tokenize_statement(text).tokens

    assert all(text[each.start : each.end] == each.text for each in tokens)
    assert all(first.end <= second.start for first, second in pairwise(tokens))


def calls_made(run: Callable[[], object]) -> int:
    """How many functions are called: a measure that no slow machine changes."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


LONG = (
    lambda n: "SELECT a FROM t WHERE x = 'abc' UNION ALL " * n + "SELECT 1",
    lambda n: "SELECT * FROM " + "t, " * n + "t",
    lambda n: "(" * n + "SELECT 1 FROM t" + ")" * n,
    lambda n: "SELECT " + "s.t.a, " * n + "1 FROM s.t",
    lambda n: "SELECT " + "f(" * n + "1" + ")" * n + " FROM t",
    lambda n: "WITH " + ", ".join(f"c{i} AS (TABLE t)" for i in range(n)) + " SELECT 1",
    lambda n: "SELECT * FROM " + "(SELECT * FROM " * n + "t" + ")" * n,
    lambda n: "INSERT INTO t VALUES " + ", ".join("(1, DEFAULT)" for _ in range(n)),
    lambda n: "UPDATE t SET " + ", ".join(f"a{i} = CASE WHEN b THEN 1 END" for i in range(n)),
    lambda n: "MERGE INTO t USING s ON a = b " + "WHEN MATCHED AND a IN (1) THEN DELETE " * n,
    lambda n: "SELECT * FROM t TIMESTAMP AS OF " + "1 + " * n + "1",
    lambda n: "SELECT " + "/* " * n + "*/ " * n + "1 FROM t",
    lambda n: "EXPLAIN " * n + "SELECT 1 FROM t",
    lambda n: "CREATE TABLE t (" + ", ".join(f"a{i} INT" for i in range(n)) + ")",
)


@pytest.mark.parametrize("build", LONG)
def test_twice_the_text_takes_twice_the_steps(build: Callable[[int], str]) -> None:
    once = calls_made(lambda: parse_statement(build(300)))
    twice = calls_made(lambda: parse_statement(build(600)))

    assert twice <= 2.2 * once + 200


def test_nesting_has_no_bound() -> None:
    depth = 20_000
    text = "SELECT * FROM " + "(SELECT * FROM " * depth + "s.t" + ")" * depth
    found: list[TableMention] = list(parse_statement(text).whole.mentions)

    assert [each.ref.parts for each in found] == [("s", "t")]
