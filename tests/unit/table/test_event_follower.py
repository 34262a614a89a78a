"""One thread follows the events of a catalog while somebody waits: what it tells of, and when it ends."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.embedded import open_catalog
from headgate.catalog.ports.directory import StagingTable, TableName
from headgate.catalog.ports.events import Event, EventFeed
from headgate.catalog.unity.not_offered import NotOffered
from headgate.errors import CatalogUnavailable, HeadgateError, InvalidRequest
from headgate.table import event_follower
from headgate.table.commit_signals import CommitSignals
from headgate.table.event_follower import EventFollower
from tests.support import tables, waiting


class Feed:
    """The events of a catalog, which may fail for a while."""

    def __init__(self, inside: EventFeed) -> None:
        self.inside, self.failures, self.asked = inside, list[HeadgateError](), 0

    def newest(self) -> int:
        return self.inside.newest()

    def after(self, cursor: int, *, limit: int = 1_000) -> tuple[Event, ...]:
        self.asked += 1
        if self.failures:
            raise self.failures.pop()
        return self.inside.after(cursor, limit=limit)

    def __getattr__(self, name: str) -> object:
        return getattr(self.inside, name)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(open_catalog(tmp_path)) as opened:
        yield opened


@pytest.fixture
def feed(catalog: Catalog) -> Feed:
    return Feed(catalog.events)


@pytest.fixture
def signals() -> CommitSignals:
    return CommitSignals()


@pytest.fixture
def follower(feed: Feed, signals: CommitSignals) -> Iterator[EventFollower]:
    with closing(EventFollower(feed, every=0.001, signals=signals)) as made:  # type: ignore[arg-type]
        yield made


def make(catalog: Catalog, name: str) -> StagingTable:
    return tables.create_managed(catalog, TableName("s", name))


def commit(catalog: Catalog, staging: StagingTable) -> None:
    table = tables.open_managed(catalog, staging.table_id, staging.location)
    table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot())


def test_a_commit_is_told_to_who_waits_for_that_table(
    catalog: Catalog, follower: EventFollower, signals: CommitSignals
) -> None:
    mine, other = make(catalog, "mine"), make(catalog, "other")
    marks = signals.mark(mine.table_id), signals.mark(other.table_id)
    waiting.until(follower.follow)
    waiting.until(lambda: marks[0].count > 0)  # that it begins concerns everybody
    before = marks[1].count

    commit(catalog, mine)
    waiting.until(lambda: follower.follow() and marks[0].count > before)

    assert marks[1].count == before


@pytest.mark.parametrize("failure", [InvalidRequest("forgotten"), CatalogUnavailable("busy")], ids=type)
def test_after_a_failure_it_begins_anew_and_tells_everybody(
    failure: HeadgateError,
    catalog: Catalog,
    feed: Feed,
    follower: EventFollower,
    signals: CommitSignals,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_follower, "_AFTER_FAILURE_SECONDS", 0.001)
    mark = signals.mark(make(catalog, "t").table_id)
    waiting.until(lambda: follower.follow() and mark.count == 1)

    feed.failures.append(failure)

    waiting.until(lambda: follower.follow() and mark.count == 2)


def test_what_is_behind_many_other_events_is_heard_of_once_they_are_read(
    catalog: Catalog, feed: Feed, signals: CommitSignals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is told that nothing was committed until a moment relies on it."""
    other, mine = make(catalog, "other"), make(catalog, "mine")
    time, told = iter(range(10**9)), list[tuple[float, int]]()
    follower = EventFollower(feed, every=0.001, signals=signals, now=lambda: float(next(time)))  # type: ignore[arg-type]
    monkeypatch.setattr(event_follower, "_PAGE", 2)
    mark, cursor = signals.mark(mine.table_id), feed.newest()
    for staging in (other, other, other, mine):
        commit(catalog, staging)

    monkeypatch.setattr(feed, "newest", lambda: cursor)
    monkeypatch.setattr(follower._stop, "wait", lambda _: told.append((follower.heard, mark.count)))
    monkeypatch.setattr(follower, "_is_wanted", lambda: len(told) < 5)
    follower._run()

    begun, first, second, *_ = told
    assert first == begun  # there is more: of its last moment nothing is known
    assert [count for _, count in told][2:] == [begun[1] + 1] * 3
    assert second[0] == begun[0]
    assert told[3][0] > second[0]


def test_where_there_are_no_events_it_says_so_and_asks_no_more(signals: CommitSignals) -> None:
    none = NotOffered("events", "compare versions")
    follower = EventFollower(none, every=0.001, signals=signals)

    assert not follower.follow()
    waiting.until(lambda: follower._is_useless and follower._thread is None)
    assert not follower.follow()
    assert follower._thread is None


def test_it_ends_when_nobody_waits_and_begins_again_when_somebody_does(
    feed: Feed, follower: EventFollower, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting.until(follower.follow)
    monkeypatch.setattr(event_follower, "_LINGERS_SECONDS", 0.0)
    follower.follow()
    waiting.until(lambda: follower._thread is None)
    asked = feed.asked

    monkeypatch.undo()
    waiting.until(follower.follow)
    waiting.until(lambda: feed.asked > asked)


def test_one_that_is_closed_follows_no_more(feed: Feed, follower: EventFollower) -> None:
    waiting.until(follower.follow)

    follower.close()

    assert not follower.follow()
    assert follower._thread is None
