"""What the condition of a MERGE says of the target alone: enough to leave out files, never too much."""

import pytest

from headgate.protocol.predicates import from_sql
from headgate.protocol.predicates.from_sql import JoinPart, JoinSide
from headgate.protocol.predicates.tree import Always, Opaque
from headgate.protocol.schema.types import Field, Primitive, Struct

LONG = Primitive("long")
INNER = Struct((Field("a", LONG),))
OTHER = Struct((Field("key", LONG),))
TARGET = JoinSide(
    "t", Struct((Field("id", LONG), Field("only_t", LONG), Field("s", INNER), Field("st", OTHER)))
)
SOURCE = JoinSide("s", Struct((Field("id", LONG), Field("key", LONG))))


def part(sql: str) -> JoinPart:
    return from_sql.parse_join(sql, TARGET, SOURCE)


@pytest.mark.parametrize(
    ("sql", "own", "equal"),
    [
        ("t.id = s.id", None, [("id", "id")]),
        ("S.ID = T.Id", None, [("id", "ID")]),
        ("(t.id = s.id) AND (t.only_t = 7)", "only_t = 7", [("id", "id")]),
        ("only_t = key", None, [("only_t", "key")]),
        ("only_t = 5 and t.id = s.key and t.id > 2", "only_t = 5 and id > 2", [("id", "key")]),
        ("t.s.a = s.key", None, [("a", "key")]),
        ("t.id = s.id OR t.only_t = 1", None, []),
        ("t.id > s.id and t.id > 4", "id > 4", []),
        ("t.id = s.id + 1", None, []),
        ("t.id <=> s.id", None, []),
        ("id = 5", None, []),  # of either side: Spark will say that it cannot tell
        ("s.key = 3 and s.id = 4", None, []),
        ("s.a = 3", "s.a = 3", []),  # the alias comes first, but the source has no such column
        ("this is not sql ((", None, []),
        ("st.key = 3", "st.key = 3", []),
        ("st.key = s.key", None, [("key", "key")]),
        ("id = s.key", None, []),
        ("t.id = id", None, []),
        ("nowhere = 5", None, []),
        ("nowhere = s.key", None, []),
        ("t.id = nowhere", None, []),
        ("t.s = s.key", None, []),  # a struct has no order
        ("t.id + 1 = s.id", None, []),
        ("array(t.*) = 1", None, []),
        ("t.id = CAST(s.id AS TIMESTAMP WITHOUT TIME ZONE) and t.only_t = 1", None, []),
    ],
)
def test_what_a_condition_says(sql: str, own: str | None, equal: list[tuple[str, str]]) -> None:
    found = part(sql)

    assert [(column.path[-1], ".".join(name)) for column, name in found.equal] == equal
    assert found.own == (Always() if own is None else from_sql.parse(own, TARGET.schema))


def test_what_is_not_understood_of_the_target_selects_every_row() -> None:
    assert isinstance(part("hash(t.id) = 3 and t.id = s.id").own, Opaque)


def test_a_column_may_have_the_name_of_an_alias() -> None:
    first, second = (JoinSide(alias, Struct((Field(alias, LONG),))) for alias in ("t", "s"))

    found = from_sql.parse_join("t > 4 and t = s and s < 9", first, second)

    assert found.own == from_sql.parse("t > 4", first.schema)
    assert [(column.path, name) for column, name in found.equal] == [(("t",), ("s",))]
