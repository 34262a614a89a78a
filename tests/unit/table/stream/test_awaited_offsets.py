"""Who asks for the latest offset again and again: when the log is looked at, and when nobody is asked."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typing_extensions import override

from headgate.catalog.embedded import open_catalog
from headgate.table import event_follower
from headgate.table.commit_signals import CommitMark, CommitSignals
from headgate.table.event_follower import EventFollower
from headgate.table.location import CatalogIdentity
from headgate.table.opened_table import OpenedTable
from headgate.table.stream.awaited_offsets import LONGEST_WAIT_SECONDS, LOOK_ANYWAY_SECONDS, AwaitedOffsets
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import StreamReadOptions
from headgate.table.stream.table_stream import TableStream
from tests.support import tables, waiting


class Moments(CommitSignals):
    """Signals whose waits pass at once, in a time of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.time, self.waits = 100.0, list[float]()
        self.follower: EventFollower | None = None
        """Who asks for events meanwhile, as in any wait that takes its time."""

    def now(self) -> float:
        return self.time

    @override
    def wait(self, told: int, seconds: float) -> None:
        self.waits.append(seconds)
        follower = self.follower
        if follower is not None and self.told == told:
            waiting.until(lambda: follower.heard >= self.time)
        if self.told == told:
            self.time += seconds


class Run:
    """A query that asks for its next batch."""

    def __init__(self, table: OpenedTable, signals: Moments, name: str = "run") -> None:
        self.table, self.signals, self.name, self.looks = table, signals, name, 0
        self._stream = TableStream(table, StreamReadOptions(), table.snapshot())
        self.offsets = AwaitedOffsets(self._stream, signals=signals, now=signals.now)
        self.at: StreamOffset | None = None
        look = self._stream.latest_offset

        def counted(*args: object, **named: object) -> StreamOffset:
            self.looks += 1
            return look(*args, **named)  # type: ignore[arg-type]

        self._stream.latest_offset = counted  # type: ignore[method-assign]

    def ask(self, *, until: int | None = None) -> bool:
        """Whether there is a batch."""
        end = self.offsets.latest_offset(self.name, self.at, None, until=until)
        found, self.at = end != self.at, end
        return found

    @property
    def mark(self) -> str:
        return self._stream.columns.metadata.id


@pytest.fixture
def signals() -> Moments:
    return Moments()


@pytest.fixture
def run(tmp_path: Path, signals: Moments) -> Run:
    """A query over a table by its path, that has read all there is."""
    tables.create_filesystem(tables.open_filesystem(str(tmp_path)).store)
    made = Run(tables.open_filesystem(str(tmp_path)), signals)
    assert (made.ask(), made.ask()) == (True, False)
    return made


@pytest.fixture
def followed(tmp_path: Path, signals: Moments, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The same over a table of a catalog whose events are followed, however slow the machine is."""
    monkeypatch.setattr(event_follower, "_LINGERS_SECONDS", 1e6)
    with closing(open_catalog(tmp_path)) as catalog:
        staging = tables.create_managed(catalog)
        table = tables.open_managed(catalog, staging.table_id, staging.location)
        with closing(
            EventFollower(catalog.events, every=0.001, signals=signals, now=signals.now)
        ) as follower:
            signals.follower = follower
            table.member = CatalogIdentity(staging.table_id, events=follower)
            made = Run(table, signals)
            waiting.until(lambda: follower.follow() and signals.told > 0)
            assert (made.ask(), made.ask()) == (True, False)
            yield made


def commit(table: OpenedTable) -> None:
    table.commit(tables.append_change(tables.named_file("a")), base=table.snapshot())


def test_while_events_are_followed_the_catalog_is_asked_once_a_second(
    followed: Run, signals: Moments
) -> None:
    looks, polls = followed.looks, round(LOOK_ANYWAY_SECONDS / LONGEST_WAIT_SECONDS) - 1

    assert not any(followed.ask() for _ in range(polls))

    assert followed.looks == looks
    assert signals.waits == [pytest.approx(LONGEST_WAIT_SECONDS)] * polls
    followed.offsets._marks = [CommitMark(followed.offsets._signalled())]  # of the next one no signal tells
    commit(followed.table)
    assert followed.ask() or followed.ask()  # ten tenths may be a little less than one


def test_a_signal_has_the_log_looked_at_without_a_wait(run: Run, signals: Moments) -> None:
    commit(run.table)
    signals.tell([run.mark])

    assert run.ask()
    assert signals.waits == []


def test_an_event_of_another_process_is_a_signal(followed: Run, signals: Moments) -> None:
    told = signals.told
    commit(followed.table)  # the signals of this process are others
    waiting.until(lambda: signals.told > told)

    assert followed.ask()
    assert signals.waits == []


def test_without_events_every_wait_ends_with_a_look(run: Run, signals: Moments) -> None:
    looks = run.looks
    assert not run.ask()
    commit(run.table)

    assert run.ask()
    assert run.looks == looks + 2
    assert signals.waits == [pytest.approx(LONGEST_WAIT_SECONDS)] * 2


def test_what_is_committed_before_it_is_asked_is_in_the_answer(followed: Run, signals: Moments) -> None:
    """Whoever has rows committed and then calls processAllAvailable must find them."""
    follower = signals.follower
    assert follower is not None
    follower.close()
    signals.follower, follower.heard = None, signals.time - 1  # no event comes while it waits
    follower.follow = lambda: True  # type: ignore[method-assign]
    told = signals.told
    commit(followed.table)

    assert followed.ask()
    assert signals.told == told


def test_a_signal_for_another_source_ends_the_wait_and_nobody_is_asked(
    followed: Run, signals: Moments
) -> None:
    other, looks, began = signals.mark("another table"), followed.looks, signals.time
    signals.tell(["another table"])

    assert not followed.ask()

    assert (followed.looks, signals.time, other.count) == (looks, began, 1)
    assert not followed.ask()  # and the next one waits as ever
    assert signals.time > began


def test_after_a_batch_and_after_a_pause_of_its_trigger_it_looks_at_once(run: Run, signals: Moments) -> None:
    commit(run.table)
    signals.tell([run.mark])
    assert run.ask()
    looks = run.looks

    assert not run.ask()
    signals.time += 10
    assert not run.ask()

    assert (run.looks, signals.waits) == (looks + 2, [])


def test_who_is_to_come_to_an_end_never_waits(run: Run, signals: Moments) -> None:
    assert not run.ask(until=0)
    assert not run.ask(until=0)
    assert signals.waits == []


def test_each_run_of_a_query_is_told_what_it_has_not_read(followed: Run) -> None:
    late, began = followed.offsets, followed.at

    assert late.latest_offset("another", None, None, until=None) == began
    late.forget("run")
    looks = followed.looks
    assert not followed.ask()
    assert followed.looks == looks + 1
