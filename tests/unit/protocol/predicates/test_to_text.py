"""Predicates in messages."""

import pytest

from headgate.protocol.predicates import from_sql, to_text
from headgate.protocol.schema.types import Field, Primitive, Struct

SCHEMA = Struct(
    (
        Field("a", Primitive("long")),
        Field("s", Primitive("string")),
        Field("d", Primitive("date")),
        Field("f", Primitive("double")),
        Field("b", Primitive("boolean")),
    )
)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("a = 1", "a = 1"),
        ("a <> 1 AND s = 'x'", "a <> 1 and s = 'x'"),
        ("a = 1 AND (s = 'x' OR d > DATE'2024-01-02')", "a = 1 and (s = 'x' or d > '2024-01-02')"),
        ("a IN (3, 1, 2)", "a in (1, 2, 3)"),
        ("a IN (1, 2, 3, 4, 5)", "a in (1, 2, 3, 4, 5)"),
        ("a IN (1, 2, 3, 4, 5, 6)", "a in (1, 2, 3, 4, 5, …)"),
        ("(a = 1 AND s = 'x') OR a = 2", "(a = 1 and s = 'x') or a = 2"),
        ("f > 1.5", "f > 1.5"),
        ("b", "b = True"),
        ("s LIKE 'x%'", "s starts with 'x'"),
        ("NOT s LIKE 'x%'", "s does not start with 'x'"),
        ("a IS NULL", "a is null"),
        ("a IS NOT NULL", "a is not null"),
        ("true", "true"),
        ("false", "false"),
    ],
)
def test_a_predicate_reads_like_sql(sql: str, text: str) -> None:
    assert to_text.render(from_sql.parse(sql, SCHEMA)) == text


def test_what_was_not_understood_is_shown_as_it_came() -> None:
    assert "rand()" in to_text.render(from_sql.parse("a = rand()", SCHEMA)).lower()
