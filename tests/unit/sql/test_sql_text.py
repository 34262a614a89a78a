"""What becomes of a text when frames take the place of tables?"""

import pytest

from headgate.sql.parse.statements import parse_statement
from headgate.sql.statements.sql_text import SqlText, TableMention


def lake_frame(mention: TableMention) -> str | None:
    """Tables of the schema ``lake`` get a frame."""
    return f"f_{mention.ref.parts[-1]}" if mention.ref.parts[:1] == ("lake",) else None


REPLACED = (
    ("SELECT * FROM lake.t", "SELECT * FROM {f_t} AS `t`"),
    ("SELECT * FROM lake.t x, b.c", "SELECT * FROM {f_t} x, b.c"),
    ("SELECT * FROM lake.t@v3 WHERE a", "SELECT * FROM {f_t} AS `t` WHERE a"),
    ("TABLE lake.t", "TABLE {f_t}"),
    ("SELECT lake.t.a, t.b FROM lake.t", "SELECT `t`.a, t.b FROM {f_t} AS `t`"),
    ("SELECT '{a}', b FROM lake.t x -- {", "SELECT '{{a}}', b FROM {f_t} x -- {{"),
    ("SELECT * FROM lake.t TABLESAMPLE (5 ROWS)", "SELECT * FROM {f_t} TABLESAMPLE (5 ROWS) AS `t`"),
    ("SELECT * FROM lake.`a``{b`", "SELECT * FROM {f_a`{b} AS `a``{{b`"),
)


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_a_frame_takes_the_place_of_a_table(text: str, expected: str) -> None:
    assert parse_statement(text).whole.replaced(lake_frame) == expected


def test_a_template_of_the_users_own_keeps_its_braces() -> None:
    whole = parse_statement("SELECT '{{a}}' FROM {df} JOIN lake.t USING (id)").whole

    assert whole.replaced(lake_frame, is_template=True) == (
        "SELECT '{{a}}' FROM {df} JOIN {f_t} AS `t` USING (id)"
    )


def test_a_text_without_tables_of_the_lake_comes_back_unchanged() -> None:
    text = "SELECT '{a}' FROM b.c VERSION AS OF 3 -- {x}\n;"

    assert parse_statement(text).whole.replaced(lake_frame) == text


def test_two_texts_keep_what_they_mention_when_one_follows_the_other() -> None:
    first = parse_statement("SELECT * FROM a.b WHERE c = :d").whole
    second = parse_statement("SELECT e.f.g FROM e.f WHERE h = ?").whole
    both = first.followed_by(second)

    assert [both.text[each.start : each.end] for each in both.mentions] == ["a.b", "e.f"]
    assert [both.text[each.start : each.end] for each in both.parameters] == [":d", "?"]
    assert [both.text[each.start : each.end] for each in both.qualifiers] == ["e.f"]


def test_the_source_of_a_merge_keeps_its_name_where_spark_runs_it() -> None:
    clauses = "ON t.a = s.a WHEN MATCHED THEN DELETE"
    bare = parse_statement(f"MERGE INTO hive.t USING lake.s {clauses}").whole
    aliased = parse_statement(f"MERGE INTO hive.t USING lake.s AS x {clauses}").whole

    assert bare.replaced(lake_frame) == f"MERGE INTO hive.t USING {{f_s}} AS `s` {clauses}"
    assert aliased.replaced(lake_frame) == f"MERGE INTO hive.t USING {{f_s}} AS x {clauses}"


def test_a_text_of_spark_alone_stays_as_it_is_with_the_table_it_writes() -> None:
    whole = parse_statement("INSERT INTO hive.t SELECT * FROM lake.s").whole

    assert whole.replaced(lake_frame) == "INSERT INTO hive.t SELECT * FROM {f_s} AS `s`"
    assert isinstance(whole, SqlText)
