"""Small writes that wait for each other: all of them are done, and none undoes another."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection

from headgate.catalog.database.engine import Database, open_sqlite
from headgate.catalog.database.gathered_writes import GatheredWrites, SmallWrite
from headgate.catalog.store import name_store
from headgate.errors import CatalogUnavailable, InvalidRequest
from tests.support.waiting import PATIENCE_SECONDS


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(open_sqlite(tmp_path / "catalog.db")) as opened:
        yield opened


def making(schema: str) -> SmallWrite:
    return lambda db: name_store.insert_schema(db, schema, 0)


def exists(database: Database, schema: str) -> bool:
    with database.reading() as db:
        return name_store.schema_exists(db, schema)


def test_who_does_not_gather_writes_at_once(database: Database) -> None:
    GatheredWrites(database).run(making("a"))

    assert exists(database, "a")


def test_what_is_gathered_is_written_in_one_transaction_at_the_end(database: Database) -> None:
    writes, before = GatheredWrites(database), database.writes

    with writes.gathering():
        writes.run(making("a"))
        writes.run(making("b"))
        assert not exists(database, "a")

    assert exists(database, "a") and exists(database, "b")
    assert database.writes == before + 1


def test_one_that_is_refused_undoes_only_itself(database: Database) -> None:
    writes = GatheredWrites(database)

    def half_done(db: Connection) -> None:
        name_store.insert_schema(db, "half", 0)
        raise InvalidRequest("no")

    with writes.gathering():
        writes.run(making("a"))
        writes.run(half_done)
        writes.run(making("b"))

    assert exists(database, "a") and exists(database, "b")
    assert not exists(database, "half")


def test_that_nothing_could_be_written_is_said(database: Database) -> None:
    writes = GatheredWrites(database)

    def fail(_: Connection) -> None:
        raise CatalogUnavailable("gone")

    with pytest.raises(CatalogUnavailable), writes.gathering():
        writes.run(making("a"))
        writes.run(fail)

    assert not exists(database, "a")
    writes.run(making("b"))
    assert exists(database, "b"), "and what comes later is written at once again"


def test_many_are_not_kept_for_ever(database: Database) -> None:
    writes = GatheredWrites(database)

    with writes.gathering():
        for number in range(40):
            writes.run(making(f"s{number}"))
        assert exists(database, "s0")
        assert not exists(database, "s39")

    assert exists(database, "s39")


def test_another_thread_does_not_gather(database: Database) -> None:
    writes = GatheredWrites(database)

    with writes.gathering():
        other = threading.Thread(target=lambda: writes.run(making("a")))
        other.start()
        other.join(PATIENCE_SECONDS)
        assert exists(database, "a")
