"""A writer killed on the way from its commit to the sync of it holds nobody up and hides nothing."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.database.engine import Database, open_sqlite
from headgate.catalog.database.sqlite_group_fsync import GroupFsync
from tests.chaos.counts import AT_A_POINT
from tests.chaos.zygote import Zygote

POINTS = {
    "begun": ("begin", "after", False),
    "committed": ("end", "before", True),
    "ended": ("end", "after", True),
    "syncing": ("_find_log", "after", True),
    "synced": ("_sync", "after", True),
}
"""Around which step of a commit it dies, and whether the commit has happened."""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with closing(Zygote()) as found:
        yield found


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_commit_is_durable_when_it_is_told_and_the_next_one_is_like_any_other(
    zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setattr(Database, "migrate", lambda _database: None)
    syncs = _counted(monkeypatch)
    for number in range(AT_A_POINT):
        with closing(open_sqlite(tmp_path / str(number))) as database:
            with database.writing() as db:
                db.exec_driver_sql("CREATE TABLE notes (name TEXT)")
                db.exec_driver_sql("INSERT INTO notes VALUES ('first')")
            assert zygote.run(_note_and_die, tmp_path / str(number), point) == -signal.SIGKILL

            syncs.clear()
            assert _notes(database) == (["first", "killed"] if POINTS[point][2] else ["first"])
            assert bool(syncs) == (point != "synced")
            _note(database, "after")
            syncs.clear()
            assert _notes(database)[-1] == "after"
            assert not syncs


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    syncs, sync = list[int](), os.fdatasync

    def counted(file: int) -> None:
        syncs.append(file)
        sync(file)

    monkeypatch.setattr(os, "fdatasync", counted)
    return syncs


def _note(database: Database, name: str) -> None:
    with database.writing() as db:
        db.exec_driver_sql("INSERT INTO notes VALUES (?)", (name,))


def _notes(database: Database) -> list[str]:
    with database.reading() as db:
        return [name for (name,) in db.exec_driver_sql("SELECT name FROM notes ORDER BY rowid")]


def _note_and_die(path: Path, point: str) -> None:
    step, moment, _ = POINTS[point]
    Database.migrate = lambda *_: None  # type: ignore[method-assign]
    setattr(GroupFsync, step, _dying(getattr(GroupFsync, step), moment))
    _note(open_sqlite(path), "killed")


def _dying(step: Callable[..., Any], moment: str) -> Callable[..., Any]:
    def dying(*arguments: Any) -> Any:
        if moment == "after":
            step(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    return dying
