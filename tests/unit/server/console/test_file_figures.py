"""Figures of many files are made beside the requests that ask for them, once."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from headgate.catalog.ports.commits import TableId
from headgate.protocol.actions import Version
from headgate.server.console.file_figures import FileFigures, FileFiguresCache
from headgate.server.console.views.files_view import FilesView
from headgate.table.read.snapshot import Snapshot
from tests.support.waiting import PATIENCE_SECONDS, until

ORDERS, STOCK = TableId("orders"), TableId("stock")


@dataclass(frozen=True)
class AtVersion:
    """All of a snapshot that the cache itself looks at."""

    version: Version


@dataclass
class Maker:
    """Makes figures as soon as it may, and counts them."""

    may: threading.Event = field(default_factory=threading.Event)
    versions: list[int] = field(default_factory=list)

    def __call__(self, snapshot: Snapshot) -> FilesView:
        assert self.may.wait(PATIENCE_SECONDS)
        self.versions.append(snapshot.version)
        return cast(FilesView, f"the files of {snapshot.version}")


def at(version: int) -> Snapshot:
    return cast(Snapshot, AtVersion(Version(version)))


def made(version: int) -> FileFigures:
    return FileFigures(Version(version), cast(FilesView, f"the files of {version}"))


def coming(version: int) -> FileFigures:
    return FileFigures(Version(version), None)


def patient(make: Callable[[Snapshot], FilesView]) -> FileFiguresCache:
    return FileFiguresCache(make, patience=PATIENCE_SECONDS)


def test_what_is_made_in_a_moment_is_there_at_once_and_once() -> None:
    maker = Maker()
    maker.may.set()
    cache = patient(maker)

    assert not cache.is_ready(ORDERS, Version(1))
    assert cache.figures(ORDERS, at(1)) == cache.figures(ORDERS, at(1)) == made(1)
    assert cache.is_ready(ORDERS, Version(1)) and not cache.is_ready(ORDERS, Version(2))
    assert cache.figures(STOCK, at(7)) == made(7)
    assert maker.versions == [1, 7]


def test_who_comes_too_early_is_told_which_version_to_ask_for() -> None:
    maker = Maker()
    cache = FileFiguresCache(maker, patience=0)

    assert cache.figures(ORDERS, at(1)) == coming(1)
    assert not cache.is_ready(ORDERS, Version(1))
    maker.may.set()
    until(lambda: cache.is_ready(ORDERS, Version(1)))
    assert cache.figures(ORDERS, at(1)) == made(1)


def test_a_table_that_is_written_all_the_time_is_seen_all_the_same() -> None:
    """Each look finds a newer version, and none waits for ever."""
    maker = Maker()
    cache = FileFiguresCache(maker, patience=0)

    assert [cache.figures(ORDERS, at(version)) for version in (1, 2, 3)] == [coming(1)] * 3
    maker.may.set()
    until(lambda: cache.is_ready(ORDERS, Version(1)))

    assert cache.figures(ORDERS, at(4), wanted=1) == made(1)
    assert maker.versions == [1]
    assert patient(maker).figures(ORDERS, at(4), wanted=1) == made(4)


def test_who_does_not_ask_for_an_older_version_gets_the_newest() -> None:
    maker = Maker()
    maker.may.set()
    cache = patient(maker)

    assert [cache.figures(ORDERS, at(version)) for version in (1, 2)] == [made(1), made(2)]
    assert cache.figures(ORDERS, at(2), wanted=1) == made(2)


def test_what_cannot_be_made_is_tried_again() -> None:
    tries: list[int] = []

    def broken(snapshot: Snapshot) -> Any:
        tries.append(snapshot.version)
        raise OSError("no such file")

    cache = patient(broken)

    for _ in range(2):
        with pytest.raises(OSError, match="no such file"):
            cache.figures(ORDERS, at(1))
    assert tries == [1, 1]


def test_only_the_tables_looked_at_last_are_remembered() -> None:
    maker = Maker()
    maker.may.set()
    cache = patient(maker)
    for number in range(16):
        cache.figures(TableId(str(number)), at(1))

    cache.figures(TableId("0"), at(1))
    cache.figures(TableId("16"), at(1))

    assert cache.is_ready(TableId("0"), Version(1)) and not cache.is_ready(TableId("1"), Version(1))
    assert len(maker.versions) == 17


def test_what_nobody_remembers_is_not_made() -> None:
    """The only worker is on the first table still when that is driven out, and so is the second one."""
    maker = Maker()
    cache = FileFiguresCache(maker, patience=0)
    for number in range(18):
        cache.figures(TableId(str(number)), at(number))

    maker.may.set()
    until(lambda: cache.is_ready(TableId("17"), Version(17)))

    assert maker.versions == [0, *range(2, 18)]
