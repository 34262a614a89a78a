"""A connection is kept from one transaction to the next, with nothing of the first, unless it failed."""

from pathlib import Path

import pytest
from sqlalchemy import text

from headgate.catalog.database.engine import Database, open_sqlite
from headgate.errors import CatalogUnavailable, HeadgateError, InvalidRequest


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = open_sqlite(tmp_path / "catalog.db")
    with found.writing() as db:
        db.execute(text("CREATE TABLE notes (note TEXT)"))
    return found


def _notes(database: Database) -> list[str]:
    with database.reading() as db:
        return list(db.scalars(text("SELECT note FROM notes")))


def test_the_same_connection_serves_one_transaction_after_the_other(database: Database) -> None:
    with database.reading() as first:
        pass
    with database.writing() as second:
        second.execute(text("INSERT INTO notes VALUES ('written')"))

    assert second is first
    assert _notes(database) == ["written"]
    database.close()


def test_two_transactions_at_once_have_one_each(database: Database) -> None:
    with database.reading() as first, database.reading() as second:
        assert first is not second
        assert database.connections_in_use() == 2

    assert database.connections_in_use() == 0
    database.close()


@pytest.mark.parametrize("failure", [InvalidRequest("no"), CatalogUnavailable("no"), KeyboardInterrupt()])
def test_one_that_failed_is_not_kept_and_nothing_of_it_is_there(
    database: Database, failure: BaseException
) -> None:
    with pytest.raises((HeadgateError, KeyboardInterrupt)), database.writing() as failed:
        failed.execute(text("INSERT INTO notes VALUES ('half')"))
        raise failure

    assert failed.closed
    assert _notes(database) == []
    database.close()


def test_none_is_left_open_when_the_database_is_closed(database: Database) -> None:
    with database.reading() as kept:
        pass

    database.close()

    assert kept.closed


def test_one_that_comes_back_after_that_is_closed_too(database: Database) -> None:
    with database.reading() as used:
        database.close()
        assert used.scalar(text("SELECT 1")) == 1

    assert used.closed
