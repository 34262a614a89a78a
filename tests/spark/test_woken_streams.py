"""An idle stream asks nobody, and a commit wakes it: of this process, of others, or known to no event."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import headgate
from headgate import Lake, Table
from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.events import Event
from headgate.spark.streaming.stream_source import _TableSource
from headgate.table import commit_signals
from headgate.table.commit_signals import COMMIT_SIGNALS, CommitSignals
from headgate.table.stream import awaited_offsets
from tests.support import waiting
from tests.support.catalogs import a_catalog
from tests.support.http_server import serving

pytestmark = pytest.mark.spark
_POLLS = 20


class Running:
    """Queries without an end, the rows they brought, and how often who was asked meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.rows, self.calls = list[int](), Counter[str]()
        self.queries = list[StreamingQuery]()

    def start(self, stream: DataFrame) -> StreamingQuery:
        def keep(batch: DataFrame, _number: int) -> None:
            self.rows.extend(row.id for row in batch.collect())

        place = str(self._folder / f"checkpoint {len(self.queries)}")
        query = stream.writeStream.foreachBatch(keep).option("checkpointLocation", place).start()
        self.queries.append(query)
        return query

    def has(self, *ids: int) -> None:
        """These rows are there, or come."""
        waiting.until(lambda: self._failure() is not None or len(self.rows) >= len(ids))
        assert self._failure() is None
        assert sorted(self.rows) == sorted(ids)

    def stays_idle(self) -> None:
        """Spark polls so many times."""
        enough = self.calls["poll"] + _POLLS
        waiting.until(lambda: self._failure() is not None or self.calls["poll"] >= enough)

    def asks_nobody(self) -> None:
        """So many polls are answered without asking the catalog; on a busy machine others may ask it."""
        enough = self._unasked + _POLLS
        waiting.until(lambda: self._failure() is not None or self._unasked >= enough)
        assert self._failure() is None

    @property
    def _unasked(self) -> int:
        return self.calls["poll"] - self.calls["tail"]

    def _failure(self) -> object:
        return next((query.exception() for query in self.queries if query.exception() is not None), None)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    made = Running(tmp_path)

    def counts(owner: type, name: str, kind: str) -> None:
        call = getattr(owner, name)

        def counted(*args: object, **named: object) -> object:
            made.calls[kind] += 1
            return call(*args, **named)

        monkeypatch.setattr(owner, name, counted)

    counts(_TableSource, "latestOffset", "poll")
    counts(Catalog, "tail", "tail")
    yield made
    for query in made.queries:
        query.stop()


@pytest.fixture
def only_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks because some time has passed."""
    monkeypatch.setattr(awaited_offsets, "LOOK_ANYWAY_SECONDS", 1e6)


@pytest.fixture
def from_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is committed is not told to this process, as if another had done it."""
    monkeypatch.setattr(commit_signals, "COMMIT_SIGNALS", CommitSignals())


def a_table(lake: Lake, name: str = "s.t") -> Table:
    made = lake.create_table(name, "id BIGINT")
    made.append([{"id": 0}])
    return made


@pytest.mark.usefixtures("only_signals", "spark")
def test_an_idle_stream_asks_nobody_and_a_commit_of_this_process_wakes_it(
    lake: Lake, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventLog, "after", lambda *_, **__: ())  # no event ever tells
    table = a_table(lake)
    running.start(table.read_stream())
    running.has(0)

    running.asks_nobody()
    lake.table("s.t").append([{"id": 1}])

    running.has(0, 1)


@pytest.mark.usefixtures("only_signals", "from_elsewhere", "spark")
def test_an_event_wakes_it_when_somebody_else_commits(lake: Lake, running: Running) -> None:
    table = a_table(lake)
    running.start(table.read_stream())
    running.has(0)

    running.asks_nobody()
    table.append([{"id": 1}])

    running.has(0, 1)


@pytest.mark.usefixtures("from_elsewhere", "spark")
def test_a_stream_whose_events_are_lost_looks_all_the_same(
    lake: Lake, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_feed: EventLog, _cursor: int, *, limit: int = 1) -> tuple[Event, ...]:
        return ()

    monkeypatch.setattr(EventLog, "after", nothing)
    table = a_table(lake)
    running.start(table.read_stream())
    running.has(0)
    running.stays_idle()

    table.append([{"id": 1}])

    running.has(0, 1)


@pytest.mark.usefixtures("from_elsewhere", "spark")
def test_a_table_by_its_path_is_looked_at_again_and_again(running: Running, tmp_path: Path) -> None:
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append([{"id": 0}])
    running.start(table.read_stream())
    running.has(0)

    headgate.at_path(tmp_path / "t").append([{"id": 1}])

    running.has(0, 1)


@pytest.mark.usefixtures("spark")
def test_a_commit_of_this_process_wakes_a_stream_of_a_table_by_its_path(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait for ever, if nothing woke it."""
    table = headgate.at_path(tmp_path / "t", columns="id BIGINT")
    table.append([{"id": 0}])
    waits = _waiting(monkeypatch)
    running.start(table.read_stream())
    running.has(0)
    waiting.until(waits.is_set)

    headgate.at_path(tmp_path / "t").append([{"id": 1}])

    running.has(0, 1)
    monkeypatch.undo()
    COMMIT_SIGNALS.tell_all()


@pytest.mark.usefixtures("only_signals", "from_elsewhere", "spark")
def test_an_event_wakes_a_stream_of_a_lake_behind_a_server(tmp_path: Path, running: Running) -> None:
    with (
        a_catalog("sqlite", tmp_path / "lake") as behind,
        serving(behind) as url,
        headgate.connect(f"{url}/main") as lake,
        headgate.connect(f"{url}/main") as another,
    ):
        lake.create_schema("s")
        query = running.start(a_table(lake).read_stream())
        running.has(0)

        running.asks_nobody()
        another.table("s.t").append([{"id": 1}])

        running.has(0, 1)
        query.stop()


@pytest.mark.usefixtures("spark")
def test_a_query_that_waits_is_stopped_and_others_go_on(lake: Lake, running: Running) -> None:
    table = a_table(lake)
    stopped, goes_on = (running.start(table.read_stream()) for _ in range(2))
    running.has(0, 0)
    running.stays_idle()

    stopped.stop()
    table.append([{"id": 1}])

    assert not stopped.isActive
    running.has(0, 0, 1)
    assert goes_on.isActive


@pytest.mark.usefixtures("only_signals", "spark")
def test_either_of_two_sources_wakes_a_query(lake: Lake, running: Running) -> None:
    one, two = a_table(lake), a_table(lake, "s.u")
    running.start(one.read_stream().union(two.read_stream()))
    running.has(0, 0)
    running.stays_idle()

    two.append([{"id": 2}])
    running.has(0, 0, 2)
    running.stays_idle()
    one.append([{"id": 1}])
    running.has(0, 0, 1, 2)


@pytest.mark.usefixtures("only_signals")
def test_all_that_this_process_committed_is_available(
    spark: SparkSession, lake: Lake, running: Running
) -> None:
    """``processAllAvailable`` waits for what is there when it is called."""
    query, expected = running.start(a_table(lake).read_stream()), [0]
    for number in range(1, 6):
        with lake.transaction() as changes:
            changes.table("s.t").append(spark.range(number, number + 1).select("id"))
        expected.append(number)
        query.processAllAvailable()
        assert sorted(running.rows) == expected


def _waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Have waits last until a signal ends them; set while somebody waits."""
    wait, waits = CommitSignals.wait, threading.Event()

    def told(signals: CommitSignals, seen: int, _seconds: float) -> None:
        waits.set()
        wait(signals, seen, 1e6)

    monkeypatch.setattr(CommitSignals, "wait", told)
    return waits
