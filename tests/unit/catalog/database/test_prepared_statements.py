"""A prepared statement does the same whether or not somebody listens to the statements of the engine."""

from collections.abc import Iterator

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    select,
)

from headgate.catalog.database.prepared_statements import PreparedStatement, is_any_of, list_parameter

_WORDS = Table("words", MetaData(), Column("id", Integer, nullable=False), Column("word", String))
_INSERT = PreparedStatement(insert(_WORDS))
_WITH_WORDS = PreparedStatement(select(_WORDS.c.id).where(is_any_of(_WORDS.c.word, "words")))


@pytest.fixture(params=["heard", "unheard"])
def db(request: pytest.FixtureRequest) -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    if request.param == "heard":
        event.listen(engine, "after_cursor_execute", lambda *_: None)
    with engine.connect() as connection:
        _WORDS.create(connection)
        yield connection


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_as_many_rows_are_inserted_as_are_given(db: Connection, count: int) -> None:
    _INSERT.run_many(db, [{"id": each, "word": f"w{each}"} for each in range(count)])

    assert db.execute(select(_WORDS.c.id, _WORDS.c.word)).all() == [(i, f"w{i}") for i in range(count)]


@pytest.mark.parametrize("wanted", [(), ("w1",), ("w0", "w2", "nosuch")])
def test_a_list_of_any_length_is_one_parameter(db: Connection, wanted: tuple[str, ...]) -> None:
    _INSERT.run_many(db, [{"id": each, "word": f"w{each}"} for each in range(3)])

    found = _WITH_WORDS.rows(db, {"words": list_parameter(db, wanted)})

    assert sorted(id_ for (id_,) in found) == [each for each in range(3) if f"w{each}" in wanted]
