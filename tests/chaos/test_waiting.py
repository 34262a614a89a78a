"""A writer that waits for the lock of another gets it when it is free, or says that it did not."""

import threading
from pathlib import Path

import pytest

from headgate.catalog.database import engine
from headgate.catalog.database.engine import open_sqlite
from headgate.errors import CatalogUnavailable
from tests.support.waiting import PATIENCE_SECONDS


def test_a_writer_gets_the_lock_that_another_connection_gives_back(tmp_path: Path) -> None:
    holder, waiter = open_sqlite(tmp_path / "db"), open_sqlite(tmp_path / "db")
    done = threading.Event()

    def wait() -> None:
        with waiter.writing():
            done.set()

    with holder.writing():
        thread = threading.Thread(target=wait)
        thread.start()
        assert not done.wait(0.02)
    assert done.wait(PATIENCE_SECONDS)
    thread.join()


def test_a_lock_that_never_comes_is_an_unavailable_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_TURN_SECONDS", 0.1)
    holder, waiter = open_sqlite(tmp_path / "db"), open_sqlite(tmp_path / "db")
    monkeypatch.setattr(engine, "_BUSY_SECONDS", 0)

    with holder.writing(), pytest.raises(CatalogUnavailable, match="locked"), waiter.writing():
        pass

    monkeypatch.undo()
    with waiter.writing() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
