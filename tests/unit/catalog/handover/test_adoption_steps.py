"""A table comes and goes while every call to store and database fails in turn: the log decides, all agree."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import Connection

from headgate.catalog.catalog import Catalog
from headgate.catalog.coordinator.ledger import MemoryLedger
from headgate.catalog.coordinator.ledger_coordinator import LedgerCoordinator
from headgate.catalog.database.engine import Database
from headgate.catalog.decision import Decision, TableHead, decide
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.commits import TableId
from headgate.catalog.ports.directory import TableEntry, TableName
from headgate.catalog.store import transfer_store
from headgate.clock import SystemWorld
from headgate.errors import (
    CatalogUnavailable,
    CommitUnknown,
    HeadgateError,
    InvalidRequest,
    Retry,
    TableNotFound,
)
from headgate.protocol.actions import EpochMillis, Version
from headgate.protocol.log import codec, file_names
from headgate.storage import locations
from headgate.storage.locate import locate
from headgate.table.alter import adoption, coordination
from headgate.table.opened_table import OpenedTable
from tests.support import adopted, tables
from tests.support.adopted import NAME
from tests.support.faulty_store import FaultyStore
from tests.support.owned import CONF, Place
from tests.support.owned import NAME as OWNER

Answer = TypeVar("Answer")
FATES = ("die after", "lost reply", "lost request")
AN_HOUR = 60 * 60 * 1000


class Died(BaseException):
    """The process is gone; nothing catches this."""


class Wire:
    """Carries calls until the n-th, which meets its fate; of what comes after, nothing if it died."""

    def __init__(self, fails_at: int, fate: str) -> None:
        self.calls = 0
        self._fails_at = fails_at
        self._fate = fate

    def call(
        self, name: str, perform: Callable[[], Answer], *, unanswered: Callable[[bool], Answer], writes: bool
    ) -> Answer:
        self.begin(lambda: unanswered(True))
        answer = perform()
        self.end(lambda: unanswered(False))
        return answer

    def begin(self, unanswered: Callable[[], object]) -> None:
        self.calls += 1
        if self.calls > self._fails_at and self._fate == "die after":
            raise Died
        if self._now("lost request"):
            unanswered()

    def end(self, unanswered: Callable[[], object]) -> None:
        if self._now("die after"):
            raise Died
        if self._now("lost reply"):
            unanswered()

    def _now(self, fate: str) -> bool:
        return self.calls == self._fails_at and self._fate == fate


class FaultyDatabase:
    """Another database at the far end of a wire; each transaction is a call."""

    def __init__(self, inner: Database, wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    @property
    def has_one_writer(self) -> bool:
        return self._inner.has_one_writer

    def reading(self) -> AbstractContextManager[Connection]:
        return self._carried(self._inner.reading, CatalogUnavailable("no answer"))

    def writing(self) -> AbstractContextManager[Connection]:
        return self._carried(self._inner.writing, CommitUnknown("no answer"))

    @contextmanager
    def _carried(
        self, transaction: Callable[[], AbstractContextManager[Connection]], doubt: HeadgateError
    ) -> Iterator[Connection]:
        self._wire.begin(lambda: _raise(CatalogUnavailable("no answer")))
        with transaction() as db:
            yield db
        self._wire.end(lambda: _raise(doubt))


def _raise(exc: HeadgateError) -> None:
    raise exc


class Hurried(SystemWorld):
    """Nobody waits, and an hour may have passed."""

    def __init__(self, ahead_ms: int = 0) -> None:
        self._ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._ahead_ms

    def sleep(self, seconds: float) -> None:
        pass


class Lake:
    """A lake in a folder, and a table in its warehouse."""

    def __init__(self, folder: Path) -> None:
        self.inner = open_catalog(folder)
        self.table = folder / "warehouse" / "t"

    def catalog(self, wire: Wire | None = None, *, ahead_ms: int = 0) -> Catalog:
        database: Any = self.inner._database if wire is None else FaultyDatabase(self.inner._database, wire)
        files = locate if wire is None else (lambda place: FaultyStore(locate(place), wire))
        return Catalog(database, warehouse=self.inner.warehouse, locate=files, world=Hurried(ahead_ms))

    def opened(self, catalog: Catalog, entry: TableEntry, wire: Wire | None = None) -> OpenedTable:
        store = locate(entry.location)
        return tables.open_managed(
            catalog,
            entry.table_id,
            entry.location,
            store=store if wire is None else FaultyStore(store, wire),
            world=Hurried(),
        )

    def read_deciding_version(self, version: int) -> str | None:
        """What the version with which the table changes hands says it does."""
        path = self.table / file_names.published_path(Version(version))
        if not path.exists():
            return None
        info = codec.decode(Version(version), path.read_bytes()).info
        return info.operation if info is not None else None


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Path]:
    """A lake whose warehouse has a table that is not yet its own, at version 2."""
    with _folder() as folder:
        with closing(open_catalog(folder)) as catalog:
            catalog.create_schema("test")
            adopted.welcome(catalog)
            adopted.ordinary(folder / "warehouse" / "t")
        yield folder


@pytest.fixture(scope="module")
def taken(ordinary: Path) -> Iterator[Path]:
    """The same with the table adopted, and two commits of the catalog's, one of them not published."""
    with _folder() as folder:
        shutil.copytree(ordinary, folder, dirs_exist_ok=True)
        with closing(open_catalog(folder)) as catalog:
            table = adopted.managed(catalog, adopted.adopt(catalog, folder / "warehouse" / "t"))
            adopted.append(table, "managed-0.parquet")
            table.publish()
            adopted.append(table, "managed-1.parquet")
        yield folder


@contextmanager
def _folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def _run(work: Callable[[], object]) -> str:
    """What whoever asked was told."""
    try:
        work()
    except Died:
        return "died"
    except CommitUnknown:
        return "unknown"
    except HeadgateError as exc:
        return "unknown" if exc.retry is Retry.SAME else "refused"
    return "done"


def _check_verdict(verdict: str, *, happened: bool) -> None:
    assert verdict != "done" or happened
    assert verdict != "refused" or not happened


@pytest.mark.parametrize("fate", FATES)
def test_whichever_call_fails_a_table_comes_wholly_or_not_at_all(ordinary: Path, fate: str) -> None:
    fails_at, finished = 1, False
    while not finished:
        with _folder() as folder:
            shutil.copytree(ordinary, folder, dirs_exist_ok=True)
            lake, wire = Lake(folder), Wire(fails_at, fate)
            place = locations.canonical(str(lake.table))
            store = FaultyStore(locate(place), wire)
            asker = adopted.registry(lake.catalog(wire), world=Hurried())
            verdict = _run(partial(adoption.adopt, asker, store, place, NAME))
            finished = wire.calls < fails_at
            happened = lake.read_deciding_version(3) == adoption.ADOPT
            _check_verdict(verdict, happened=happened)

            _go_on_after_adopting(lake, happened=happened, again_by="ann" if fails_at % 2 else "bob")
            lake.inner.close()
        fails_at += 1
    assert verdict == "done"
    assert fails_at > 10


def _go_on_after_adopting(lake: Lake, *, happened: bool, again_by: str) -> None:
    survivor = lake.catalog(ahead_ms=0 if again_by == "ann" else AN_HOUR)
    if not happened:
        with pytest.raises(TableNotFound):
            survivor.resolve(NAME)
        assert adopted.adopt(survivor, lake.table, proposer=again_by).name == NAME
    entry = survivor.resolve(NAME)
    table = lake.opened(survivor, entry)
    assert adopted.append(table, "after.parquet") == 4
    assert adopted.files(table) == ["after.parquet", "before-0.parquet", "before-1.parquet"]
    assert table.publish() == 4
    _check_log(table, 4)
    assert survivor.adoptions.under_way() == ()


@pytest.mark.parametrize("fate", FATES)
def test_whichever_call_fails_a_table_leaves_wholly_or_not_at_all(taken: Path, fate: str) -> None:
    fails_at, finished = 1, False
    while not finished:
        with _folder() as folder:
            shutil.copytree(taken, folder, dirs_exist_ok=True)
            lake, wire = Lake(folder), Wire(fails_at, fate)
            entry, faulty = lake.inner.resolve(NAME), lake.catalog(wire)
            table = lake.opened(faulty, entry, wire)
            asker = adopted.registry(faulty, world=Hurried())
            leave = partial(adoption.release, keep_timestamps=True)
            verdict = _run(partial(leave, asker, table, entry.table_id))
            finished = wire.calls < fails_at
            happened = lake.read_deciding_version(6) == adoption.RELEASE
            _check_verdict(verdict, happened=happened)

            _go_on_after_releasing(lake, entry, happened=happened, again=bool(fails_at % 2))
            lake.inner.close()
        fails_at += 1
    assert verdict == "done"
    assert fails_at > 15


def _go_on_after_releasing(lake: Lake, entry: TableEntry, *, happened: bool, again: bool) -> None:
    survivor = lake.catalog(ahead_ms=0 if again else AN_HOUR)
    files = [f"{name}-{number}.parquet" for name in ("before", "managed") for number in range(2)]
    if not happened and not again:  # somebody else, later, who knows nothing of it
        adopted.append(lake.opened(survivor, entry), "kept.parquet")
        files.append("kept.parquet")
    if not happened:
        adoption.release(
            adopted.registry(survivor, world=Hurried()),
            lake.opened(survivor, entry),
            entry.table_id,
            keep_timestamps=True,
        )
    with pytest.raises(TableNotFound, match="at_path"):
        lake.opened(survivor, entry).snapshot()
    with pytest.raises(TableNotFound):
        survivor.resolve(NAME)
    ordinary = tables.open_filesystem(str(lake.table))
    latest = adopted.append(ordinary, "after.parquet")
    assert adopted.files(ordinary) == sorted([*files, "after.parquet"])
    _check_log(ordinary, latest)
    assert survivor.adoptions.under_way() == ()


def _check_log(table: OpenedTable, latest: int) -> None:
    """It is whole and in order, and nothing is in it twice."""
    history = table.history()
    assert [found.version for found in history] == list(range(latest, -1, -1))
    assert len({found.info.txn_id for found in history}) == latest + 1
    times = [found.timestamp for found in history]
    assert times == sorted(times, reverse=True)


def test_a_table_of_a_commit_owner_must_be_taken_back_first(tmp_path: Path) -> None:
    """K11: also while only its feature is left."""
    place = Place()
    place.owners[OWNER] = LedgerCoordinator(MemoryLedger(), 1, place.world)
    tables.create_filesystem(place.store, world=place.world)
    coordination.coordinate(place.opened(), place.find, OWNER, CONF)

    with closing(open_catalog(tmp_path)) as catalog, pytest.raises(InvalidRequest, match="uncoordinate"):
        adoption.adopt(adopted.registry(catalog), place.store, "/nowhere", NAME)


HEAD = TableHead(Version(5), Version(3), EpochMillis(100), Version(2), frozen=True)


@pytest.mark.parametrize(
    ("target", "first", "any_version", "expected"),
    [
        (6, None, False, Decision.FROZEN),
        (4, None, True, Decision.FROZEN),
        (4, None, False, Decision.LOST),
        (2, None, True, Decision.LOST),
        (7, None, False, Decision.GAP),
        (6, 4, False, Decision.REPLAY),
    ],
)
def test_while_a_table_leaves_every_question_has_its_answer(
    target: int, first: int | None, any_version: bool, expected: Decision
) -> None:
    known = None if first is None else Version(first)

    assert decide(HEAD, Version(target), known, any_version=any_version) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("s3://bucket/a", "s3a://bucket/a/"),
        ("s3://bucket/a b", "s3://bucket/a%20b"),
        ("s3://bucket/a%2fb", "s3://bucket//a/./b"),
        ("s3://bucket/a%2525", "s3://bucket/a%25%32%35"),
        ("s3://bucket/x/../a", "s3://bucket/x/%2e%2e/a"),
        ("abfss://box@account.dfs.core.windows.net/t", "abfss://box@account.dfs.core.windows.net/t/"),
    ],
)
def test_two_spellings_of_a_place_are_one(one: str, other: str) -> None:
    assert locations.canonical(one) == locations.canonical(other)
    assert locations.canonical(locations.canonical(one)) == locations.canonical(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("s3://a/t", "s3://b/t"), ("s3://a/t", "gs://a/t"), ("s3://a/t%2520", "s3://a/t%20"), ("/a/b", "/a/bc")],
)
def test_two_places_are_two(one: str, other: str) -> None:
    assert not locations.overlap(locations.canonical(one), locations.canonical(other))


def test_a_question_mark_in_a_bucket_url_must_be_escaped() -> None:
    with pytest.raises(InvalidRequest, match="%3F"):
        locations.canonical("s3://bucket/a?b")

    assert locations.canonical("s3://bucket/a%3Fb") == "s3://bucket/a%3Fb"


def test_a_place_is_kept_from_the_warehouse_on() -> None:
    for warehouse, place, kept in [
        ("s3://b/w", "s3://b/w/t", "t"),
        ("s3://b/w", "s3://b/w2/t", "s3://b/w2/t"),
        ("/nowhere/w", "/nowhere/w/a/b", "a/b"),
        ("/nowhere/w", "s3://b/w/t", "s3://b/w/t"),
    ]:
        assert locations.stored_location(place, warehouse) == kept
        assert locations.absolute_location(kept, warehouse) == place
    assert list(locations.self_and_ancestors("s3://b/a/t")) == ["s3://b/a/t", "s3://b/a", "s3://b"]
    assert list(locations.self_and_ancestors("/a/b")) == ["/a/b", "/a"]


def test_an_error_about_a_table_that_never_was_says_so(tmp_path: Path) -> None:
    with closing(open_catalog(tmp_path)) as catalog, catalog._database.reading() as db:
        assert "has no table" in transfer_store.not_live_error(db, TableId("x")).message
        assert not transfer_store.is_name_reserved(db, TableName("test", "t"), 0)
