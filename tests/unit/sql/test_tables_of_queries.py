"""Which tables does a query read, and where does it name them?"""

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.query import Query
from headgate.sql.statements.sql_text import AsOf, ChangesRange, SqlParameter, SqlText, TableMention

NAMES: tuple[tuple[str, list[str]], ...] = (
    ("SELECT * FROM t", ["t"]),
    ("select * from a.b, c.d.e x", ["a.b", "c.d.e"]),
    ("SELECT * FROM `a.b`.`c``d` JOIN `x y`", ["`a.b`.`c``d`", "`x y`"]),
    ("SELECT * FROM a . b /* here */ . c", ["a . b /* here */ . c"]),
    ("SELECT 1", []),
    ("VALUES (1), ((SELECT max(x) FROM t))", ["t"]),
    ("TABLE t", ["t"]),
    ("FROM t", ["t"]),
    ("FROM t SELECT a, b", ["t"]),
    ("(SELECT * FROM a) UNION ALL (SELECT * FROM b) ORDER BY 1", ["a", "b"]),
    (
        "SELECT * FROM a UNION SELECT * FROM b EXCEPT TABLE c INTERSECT (SELECT * FROM d)",
        ["a", "b", "c", "d"],
    ),
    ("SELECT * EXCEPT (a, b), c FROM t MINUS SELECT * FROM u", ["t", "u"]),
    ("SELECT * FROM a JOIN b ON a.x = b.x, c CROSS JOIN d", ["a", "b", "c", "d"]),
    ("SELECT * FROM a NATURAL LEFT JOIN b LEFT SEMI JOIN c USING (x), d", ["a", "b", "c", "d"]),
    ("SELECT * FROM ((a JOIN b ON a.x = b.x) JOIN c ON 1 = 1), d", ["a", "b", "c", "d"]),
    ("SELECT * FROM ((SELECT 1) UNION (SELECT * FROM c)) q, d", ["c", "d"]),
    ("SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.x = a.x) z, c", ["a", "b", "c"]),
    ("SELECT * FROM a JOIN LATERAL (SELECT * FROM b) z ON true", ["a", "b"]),
    ("SELECT * FROM t LATERAL VIEW explode(x) e AS y, z WHERE y > 1", ["t"]),
    ("SELECT * FROM t TABLESAMPLE (10 PERCENT) AS s, u", ["t", "u"]),
    ("SELECT * FROM t PIVOT (sum(x) FOR y IN (1, 2)), u", ["t", "u"]),
    ("SELECT (SELECT max(x) FROM u WHERE u.a = t.a) FROM t WHERE EXISTS (SELECT 1 FROM v)", ["u", "t", "v"]),
    ("SELECT * FROM t WHERE a IN (SELECT a FROM u) AND b NOT IN (TABLE v)", ["t", "u", "v"]),
    ("SELECT extract(DAY FROM ts), trim(BOTH 'x' FROM s), substring(s FROM 2 FOR 3) FROM t", ["t"]),
    ("SELECT overlay(a PLACING b FROM 3), trim(FROM a) FROM t", ["t"]),
    ("SELECT a IS DISTINCT FROM b, c IS NOT DISTINCT FROM d FROM t", ["t"]),
    ("SELECT a AS from, b AS select, t.from FROM t", ["t"]),
    ("SELECT 'FROM x', \"FROM y\", `FROM z` FROM t", ["t"]),
    ("SELECT 1 -- FROM x\n FROM t /* FROM y /* JOIN z */ FROM w */", ["t"]),
    ("SELECT 1 -- FROM x \\\n FROM y\n FROM t", ["t"]),
    ("SELECT r'\\', x FROM t -- '", ["t"]),
    ("SELECT $a$ FROM x $a$ FROM t", ["t"]),
    ("SELECT /*+ BROADCAST(x), MERGE(y) */ * FROM t", ["t"]),
    ("SELECT * FROM range(5) r, explode(array(1)) e, t", ["t"]),
    ("SELECT * FROM f(TABLE t PARTITION BY a, x => TABLE(SELECT * FROM u)), g(TABLE(v))", ["t", "u", "v"]),
    ("SELECT * FROM VALUES (1, 2), (3, 4) AS v(a, b), t", ["t"]),
    ("SELECT * FROM VALUES 1, 2 v, t", ["t"]),
    ("SELECT * FROM {df} d, t JOIN {other} USING (id)", ["t"]),
    (
        "FROM t |> WHERE a > 1 |> JOIN u ON t.a = u.a |> SELECT a, b |> UNION ALL (SELECT * FROM v)",
        ["t", "u", "v"],
    ),
    ("SELECT count(*) FILTER (WHERE a > 1) OVER (PARTITION BY b ORDER BY c) FROM t", ["t"]),
    ("SELECT a FROM t GROUP BY a WITH ROLLUP HAVING a > 1 ORDER BY a LIMIT 5", ["t"]),
    ("SELECT * FROM a.b.c.d", ["a.b.c.d"]),
    ("EXPLAIN FORMATTED SELECT * FROM t", ["t"]),
    ("DESCRIBE QUERY SELECT * FROM t", ["t"]),
    ("SET VAR v = (SELECT max(a) FROM t)", ["t"]),
    ("INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT * FROM t", ["t"]),
    ("SELECT * FROM t;", ["t"]),
    ("SELECT * FROM (", []),
    ("SELECT 'open FROM t", []),
)
CTES: tuple[tuple[str, list[str]], ...] = (
    ("WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
    ("WITH a AS (SELECT * FROM x), b AS (SELECT * FROM a) SELECT * FROM a JOIN B", ["x"]),
    ("WITH a (n, m) AS (TABLE x) SELECT * FROM a, y", ["x", "y"]),
    ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r", []),
    ("WITH a AS (WITH b AS (TABLE x) TABLE b) SELECT * FROM a, b", ["x", "b"]),
    ("SELECT * FROM (WITH a AS (TABLE x) SELECT * FROM a) q JOIN a", ["x", "a"]),
    ("WITH a AS (TABLE x) SELECT * FROM s.a", ["x", "s.a"]),
    ("WITH a AS (TABLE x) SELECT * FROM t WHERE b IN (SELECT b FROM a)", ["x", "t"]),
    ("EXPLAIN WITH t AS (SELECT * FROM t) SELECT * FROM t", ["t"]),
    ("WITH c MAX RECURSION LEVEL 5 AS (TABLE x) TABLE c", ["x"]),
)


def query_of(text: str) -> SqlText:
    command = parse_statement(text).command
    assert isinstance(command, Query)
    assert command.sql.text == text
    return command.sql


def mention_of(text: str) -> TableMention:
    (found,) = query_of(text).mentions
    return found


@pytest.mark.parametrize(("text", "names"), NAMES)
def test_the_tables_of_a_query_are_found_where_they_stand(text: str, names: list[str]) -> None:
    assert [text[each.start : each.name_end] for each in query_of(text).mentions] == names


@pytest.mark.parametrize(("text", "names"), CTES)
def test_what_a_with_clause_names_is_no_table(text: str, names: list[str]) -> None:
    assert [text[each.start : each.name_end] for each in query_of(text).mentions] == names


def test_parts_of_a_name_are_without_their_quotes_and_keep_their_dots() -> None:
    assert mention_of("SELECT * FROM `a.b`.`c``d`.e").ref.parts == ("a.b", "c`d", "e")


@pytest.mark.parametrize("name", ["delta.`/a/b`", "DELTA . `/a/b`", "headgate.`/a/b`"])
def test_a_path_stands_behind_delta_and_headgate(name: str) -> None:
    found = mention_of(f"SELECT * FROM {name}")

    assert (found.ref.path, found.ref.parts) == ("/a/b", ())


def test_a_schema_may_be_called_delta() -> None:
    assert mention_of("SELECT * FROM delta.orders").ref.parts == ("delta", "orders")


MOMENT = SqlText("'2026-11-18 09:30:00.123'")
VERSIONS = (
    ("t@v3", "t@v3", AsOf("3")),
    ("t@V3 AS x", "t@V3", AsOf("3")),
    ("t@20261118093000123", "t@20261118093000123", AsOf(timestamp=MOMENT)),
    ("delta.`/x`@v12", "delta.`/x`@v12", AsOf("12")),
    ("t VERSION AS OF 3 WHERE a", "t VERSION AS OF 3", AsOf("3")),
    ("t VERSION AS OF '3' x", "t VERSION AS OF '3'", AsOf("3")),
    ("t FOR VERSION AS OF 3", "t FOR VERSION AS OF 3", AsOf("3")),
    ("t FOR SYSTEM_VERSION AS OF 3", "t FOR SYSTEM_VERSION AS OF 3", AsOf("3")),
    ("t VERSION AS OF :v JOIN u", "t VERSION AS OF :v", AsOf(SqlParameter("v"))),
    ("t VERSION AS OF ?", "t VERSION AS OF ?", AsOf(SqlParameter(position=0))),
)
MOMENTS = (
    "'2026-01-01'",
    "TIMESTAMP '2026-01-01'",
    "now() - INTERVAL 1 DAY",
    "current_timestamp() - INTERVAL '1' DAY",
    "current_timestamp - INTERVAL 1 DAY 2 HOURS",
    "now() - INTERVAL '1 02:00' DAY TO MINUTE",
    "current_date()",
    "date_sub(current_date(), 1)",
    "CAST('2026-01-01' AS TIMESTAMP)",
    "'2026-01-01'::timestamp",
    "CASE WHEN true THEN now() ELSE '2026-01-01' END",
    "(now())",
    "'2026-' || '01-01'",
    "date '2026-01-01' + 1 * 2",
    "- 5",
    "a[1].b",
)
BEHIND = (
    "",
    " WHERE a > 1",
    " AS x",
    " x",
    " JOIN u ON 1 = 1",
    ", u",
    " LIMIT 5",
    " |> WHERE a",
    " TABLESAMPLE (5 ROWS)",
)


@pytest.mark.parametrize(("relation", "span", "as_of"), VERSIONS)
def test_the_version_belongs_to_the_name(relation: str, span: str, as_of: AsOf) -> None:
    text = f"SELECT * FROM {relation}"
    found = query_of(text).mentions[0]

    assert (text[found.start : found.end], found.as_of) == (span, as_of)


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_moment_ends_where_its_expression_ends(moment: str, behind: str) -> None:
    text = f"SELECT * FROM t TIMESTAMP AS OF {moment}{behind}"
    found = query_of(text).mentions[0]

    assert found.as_of == AsOf(timestamp=SqlText(moment))
    assert text[found.end :] == behind


def test_at_with_anything_but_a_moment_is_left_to_spark() -> None:
    found = query_of("SELECT * FROM t@2026").mentions[0]

    assert (found.end, found.as_of) == (15, None)


def test_changes_are_read_by_a_function() -> None:
    text = "SELECT * FROM table_changes('a.`b.c`', 1, now()) x"
    found = mention_of(text)

    assert text[found.start : found.end] == "table_changes('a.`b.c`', 1, now())"
    assert found.ref.parts == ("a", "b.c")
    assert found.changes == ChangesRange(SqlText("1"), SqlText("now()"))


def test_changes_are_read_by_path_and_by_parameter() -> None:
    by_path = mention_of("SELECT * FROM table_changes_by_path('/x', 1)")
    by_parameter = mention_of("SELECT * FROM table_changes(:t, :since)")

    assert (by_path.ref.path, by_path.changes) == ("/x", ChangesRange(SqlText("1")))
    assert by_parameter.ref.parameter == SqlParameter("t")


@pytest.mark.parametrize(
    ("clause", "changes"),
    [
        ("CHANGES FROM VERSION 1", ChangesRange(SqlText("1"), is_timestamp=False)),
        (
            "CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION 3 INCLUSIVE",
            ChangesRange(SqlText("1"), SqlText("3"), is_timestamp=False, excludes_start=True),
        ),
        (
            "CHANGES FROM TIMESTAMP now() TO TIMESTAMP '2027-01-01' EXCLUSIVE",
            ChangesRange(SqlText("now()"), SqlText("'2027-01-01'"), is_timestamp=True, excludes_end=True),
        ),
    ],
)
def test_changes_are_read_by_a_clause(clause: str, changes: ChangesRange) -> None:
    text = f"SELECT * FROM t {clause} AS x"
    found = mention_of(text)

    assert (text[found.end :], found.changes) == (" AS x", changes)


def test_options_belong_to_the_name() -> None:
    text = "SELECT * FROM t WITH ('versionAsOf' = '3', a.b = 1) x"
    found = mention_of(text)

    assert text[found.end :] == " x"
    assert found.options == (("versionAsOf", "3"), ("a.b", "1"))


def test_a_name_may_be_given_as_an_identifier() -> None:
    found = query_of("SELECT * FROM IDENTIFIER('a.b') x, IDENTIFIER(:t), IDENTIFIER('a' || 'b'), c").mentions

    assert [each.ref.parts for each in found] == [("a", "b"), (), ("c",)]
    assert found[1].ref.parameter == SqlParameter("t")


def test_a_stream_is_marked() -> None:
    found = query_of("SELECT * FROM STREAM a, STREAM(b)").mentions

    assert [(each.ref.parts, each.is_stream) for each in found] == [(("a",), True), (("b",), True)]


ALIASES = (
    ("SELECT * FROM t", 15),
    ("SELECT * FROM t x", None),
    ("SELECT * FROM t AS x", None),
    ("SELECT * FROM t `x`", None),
    ("SELECT * FROM t AS x (a, b)", None),
    ("SELECT * FROM t WHERE a", 15),
    ("SELECT * FROM t@v3 WHERE a", 18),
    ("SELECT * FROM t TABLESAMPLE (5 ROWS) REPEATABLE (3) WHERE a", 51),
    ("SELECT * FROM t TABLESAMPLE (5 ROWS) x", None),
    ("TABLE t", None),
    ("SELECT * FROM delta.`/x`", None),
    ("SELECT * FROM t LATERAL VIEW explode(a) e", 15),
    ("SELECT * FROM t LEFT JOIN {df}", 15),
)


@pytest.mark.parametrize(("text", "alias_at"), ALIASES)
def test_an_alias_has_a_place_where_the_user_gives_none(text: str, alias_at: int | None) -> None:
    assert mention_of(text).alias_at == alias_at


def test_columns_behind_the_whole_name_of_a_table_are_found() -> None:
    text = "SELECT s.t.a, s.t.*, x.t.a, `S`.T.b.c, l.s.t.a, s.t(1), u.v.a FROM l.s.t JOIN u.v AS w"

    assert [text[each.start : each.end] for each in query_of(text).qualifiers] == [
        "s.t",
        "s.t",
        "`S`.T",
        "l.s.t",
    ]


def test_parameters_are_found_and_fields_of_variants_are_none() -> None:
    text = "SELECT a:b, c::int, :x, ? FROM t WHERE d = :y AND e = ? LIMIT :n"
    found = query_of(text).parameters

    assert [text[each.start : each.end] for each in found] == [":x", "?", ":y", "?", ":n"]
    assert [each.parameter.position for each in found] == [None, 0, None, 1, None]
