"""What followers of a catalog are owed: every event at least once, in order, over each database."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import insert

from headgate.catalog.activity import subscriptions
from headgate.catalog.activity.subscriptions import EventLog
from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.commits import Ratified, TableId
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.events import Event, EventKind
from headgate.catalog.store import commit_store, event_store
from headgate.catalog.store.event_store import NewEvent
from headgate.errors import InvalidRequest
from headgate.lake.listener import Listener
from headgate.protocol.actions import Version
from tests.support import postgresql
from tests.support.catalogs import DATABASE_KINDS, a_catalog
from tests.support.proposals import inline, open_version
from tests.support.tables import create_managed
from tests.support.waiting import PATIENCE_SECONDS, until

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Case:
    """A catalog with one table at version 0, all of it told and read."""

    catalog: Catalog
    table_id: TableId
    start: int

    @property
    def log(self) -> EventLog:
        return self.catalog.events

    def ratify(self, count: int) -> None:
        """That many more versions."""
        latest = self.catalog.tail(self.table_id).latest
        for version in range(latest + 1, latest + 1 + count):
            proposal = inline(self.table_id, version, f"txn-{version}")
            assert self.catalog.propose(proposal) == Ratified(Version(version))

    def since(self, cursor: int | None = None) -> tuple[Event, ...]:
        return self.log.after(self.start if cursor is None else cursor)


@pytest.fixture(params=DATABASE_KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    with a_catalog(request.param, tmp_path) as catalog:
        staging = create_managed(catalog)
        yield Case(catalog, staging.table_id, catalog.events.newest())


def test_creating_committing_and_dropping_a_table_is_told_in_that_order(case: Case) -> None:
    case.ratify(2)
    case.catalog.drop(TableName("test", "t"))

    told = case.log.after(0)

    assert [(event.kind, event.version) for event in told] == [
        (EventKind.CREATE, 0),
        (EventKind.COMMIT, 0),
        (EventKind.COMMIT, 1),
        (EventKind.COMMIT, 2),
        (EventKind.DROP, 2),
    ]
    assert {(event.table, event.table_id) for event in told} == {("test.t", case.table_id)}
    assert told[2].txn_id == "txn-1"
    assert told[1].operation == "CREATE TABLE"


def test_a_refused_or_lost_proposal_is_no_commit_event(case: Case) -> None:
    case.ratify(1)
    with pytest.raises(InvalidRequest):
        case.catalog.propose(inline(case.table_id, 9, "gap"))
    case.catalog.propose(inline(case.table_id, 1, "late"))
    case.catalog.propose(inline(case.table_id, 1, "txn-1"))

    commits = [event.txn_id for event in case.since() if event.kind is EventKind.COMMIT]
    assert commits == ["txn-1"]


def test_a_cursor_goes_on_where_it_stopped(case: Case) -> None:
    case.ratify(5)

    first = case.log.after(case.start, limit=2)
    case.ratify(2)
    second = case.log.after(first[-1].cursor, limit=100)

    assert [event.version for event in (*first, *second)] == [1, 2, 3, 4, 5, 6, 7]
    assert case.log.after(second[-1].cursor) == ()
    assert case.log.after(case.start) == (*first, *second)  # the places given do not change


def test_what_is_told_in_a_transaction_that_fails_did_not_happen(case: Case) -> None:
    with pytest.raises(ZeroDivisionError), case.catalog._database.writing() as db:
        event_store.record_event(db, NewEvent(EventKind.RENAME, case.table_id), now_ms=1)
        raise ZeroDivisionError

    assert case.since() == ()


def test_details_come_back_as_they_were_told(case: Case) -> None:
    details = {"rule": "not-null", "columns": ["a", "ü"], "code": "HEADGATE_NOT_ALLOWED"}

    case.log.tell(NewEvent(EventKind.REFUSAL, case.table_id, operation="WRITE", details=details))

    (event,) = case.since()
    assert (event.kind, event.operation, event.details) == (EventKind.REFUSAL, "WRITE", details)
    assert (event.table, event.version) == ("test.t", 0)


def test_an_incident_is_told_once(case: Case) -> None:
    incident = NewEvent(EventKind.INCIDENT, case.table_id)

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda _: case.log.record_incident("stray/t/1", incident), range(8)))

    assert sorted(told) == [False] * 7 + [True]
    assert [event.kind for event in case.since()] == [EventKind.INCIDENT]


def test_many_writers_and_readers_see_each_version_once_and_in_order(case: Case) -> None:
    tables = [
        case.table_id,
        *(create_managed(case.catalog, TableName("test", f"t{n}")).table_id for n in "ab"),
    ]
    begin = case.log.newest()

    def write(number: int) -> None:
        for count in range(12):
            table_id = tables[(number + count) % 3]
            case.catalog.propose(open_version(table_id, 1, f"{number}-{count}"))

    def follow() -> list[Event]:
        seen: list[Event] = []
        while len(seen) < 4 * 12:
            seen += case.log.after(seen[-1].cursor if seen else begin, limit=5)
        return seen

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(follow) for _ in range(2)]
        list(pool.map(write, range(4)))
        first, second = (reader.result() for reader in readers)

    assert first == second
    for table_id in tables:
        versions = [event.version for event in first if event.table_id == table_id]
        assert versions == list(range(1, len(versions) + 1))


def test_who_commits_last_is_not_skipped_though_it_wrote_first(tmp_path: Path) -> None:
    """Two transactions on PostgreSQL, interleaved: numbers alone would hide the slower one."""
    with postgresql.server().lake(tmp_path) as catalog:
        slow, fast = (create_managed(catalog, TableName("test", name)).table_id for name in ("slow", "fast"))
        start = catalog.events.newest()
        database = catalog._database

        with database.writing() as early:
            event_store.record_event(early, NewEvent(EventKind.RENAME, slow), now_ms=1)
            early.execute(insert(commit_store.commits), _row(slow, 1))
            early.execute(
                commit_store.tables.update().where(commit_store.tables.c.table_id == slow).values(latest=1)
            )
            with database.writing() as late:
                event_store.record_event(late, NewEvent(EventKind.RENAME, fast), now_ms=2)
            catalog.propose(inline(fast, 1, "fast-1"))
            before = catalog.events.after(start)
        after = catalog.events.after(before[-1].cursor)

    assert {(event.kind, event.table_id) for event in before} == {
        (EventKind.RENAME, fast),
        (EventKind.COMMIT, fast),
    }
    assert {(event.kind, event.table_id) for event in after} == {
        (EventKind.RENAME, slow),
        (EventKind.COMMIT, slow),
    }


def _row(table_id: TableId, version: int) -> dict[str, object]:
    return {
        "table_id": table_id, "version": version, "txn_id": "by-hand", "in_commit_timestamp": 1, "size": 1,
        "sha256": "", "file_name": None, "content": b"", "operation": None,
    }  # fmt: skip


def test_old_events_are_forgotten_and_a_cursor_into_them_is_refused(case: Case) -> None:
    case.ratify(3)
    read = case.since()

    assert case.log.forget(DAY_MS) == 0
    assert case.since() == read
    assert case.log.forget(-DAY_MS) > 3

    with pytest.raises(InvalidRequest, match="forgotten") as refused:
        case.log.after(read[0].cursor)
    assert refused.value.code == "HEADGATE_EVENTS_FORGOTTEN"
    assert case.log.after(0) == case.log.after(read[-1].cursor) == ()
    case.ratify(1)
    assert [event.cursor for event in case.log.after(0)] == [read[-1].cursor + 1]


def test_a_listener_is_called_for_the_kinds_it_wants(case: Case) -> None:
    seen: list[Event] = []
    listener = Listener(case.log, seen.append, kinds={EventKind.COMMIT}, every=0.01)

    case.log.tell(NewEvent(EventKind.REFUSAL, case.table_id))
    case.ratify(3)
    until(lambda: len(seen) >= 3)
    listener.close()

    assert [event.version for event in seen] == [1, 2, 3]


def test_a_listener_that_raises_is_called_again_and_holds_nobody_up(case: Case) -> None:
    calls: list[int | None] = []

    def moody(event: Event) -> None:
        calls.append(event.version)
        if len(calls) < 3:
            raise OSError("not now")

    listener = Listener(case.log, moody, every=0.01)
    case.ratify(2)
    until(lambda: calls[-1:] == [2])
    listener.close()

    assert calls == [1, 1, 1, 2]
    assert case.catalog.tail(case.table_id).latest == 2


def test_a_named_listener_goes_on_where_its_predecessor_stopped(case: Case) -> None:
    seen: list[int | None] = []
    first = Listener(case.log, lambda event: seen.append(event.version), name="pipeline", every=0.01)
    case.ratify(2)
    until(lambda: len(seen) == 2)
    first.close()
    case.ratify(2)

    second = Listener(case.log, lambda event: seen.append(event.version), name="pipeline", every=0.01)
    until(lambda: len(seen) == 4)
    second.close()

    assert seen == [1, 2, 3, 4]
    assert second.cursor == case.log.load_cursor("pipeline") == case.log.newest()


def test_what_a_listener_did_not_finish_is_delivered_again(case: Case) -> None:
    """A process that dies in the middle of an event: its successor is called with the same one."""
    began = threading.Event()

    def dying(event: Event) -> None:
        began.set()
        raise SystemError

    first = Listener(case.log, dying, name="pipeline", every=0.01)
    case.ratify(1)
    assert began.wait(PATIENCE_SECONDS)
    first.close()
    seen: list[int | None] = []
    second = Listener(case.log, lambda event: seen.append(event.version), name="pipeline", every=0.01)
    until(lambda: bool(seen))
    second.close()

    assert seen == [1]


def test_a_stored_cursor_never_goes_back(case: Case) -> None:
    case.log.save_cursor("pipeline", 7)
    case.log.save_cursor("pipeline", 5)

    assert case.log.load_cursor("pipeline") == 7


def test_more_events_than_one_transaction_lists_come_in_order(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_store, "LISTED_AT_ONCE", 3)
    case.ratify(10)

    assert [event.version for event in case.since()] == list(range(1, 11))


def test_who_looks_at_events_waits_for_one_transaction_that_lists_some(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "_LISTED_IN_A_MOMENT", 3)
    case.ratify(5)

    early, older = case.log.window(limit=10), case.log.window(case.start + 1)
    later, whole = case.log.window(), case.log.window()

    assert [event.version for event in early.events if event.cursor > case.start] == [1, 2, 3]
    assert (early.is_behind, older.is_behind, later.is_behind) == (True, False, False)
    assert older.newest == early.newest == case.start + 3
    assert later == whole
    assert [event.version for event in whole.events if event.cursor > case.start] == [1, 2, 3, 4, 5]


def test_nobody_asks_for_a_window_without_places(case: Case) -> None:
    with pytest.raises(InvalidRequest, match="limit=0 asks for nothing"):
        case.log.window(limit=0)


def test_time_sorts_tables_but_never_the_versions_of_one() -> None:
    @dataclass(frozen=True)
    class Happening:
        table_id: str
        version: int
        at_ms: int

    a = [Happening("a", 1, 50), Happening("a", 2, 10), Happening("a", 3, 60)]
    b = [Happening("b", 1, 5), Happening("b", 2, 55)]

    ordered = event_store._by_time([*a, *b])  # type: ignore[list-item]

    assert ordered == [b[0], a[0], a[1], b[1], a[2]]


def test_a_principal_sees_the_events_of_the_tables_it_may_see(case: Case) -> None:
    other = create_managed(case.catalog, TableName("test", "secret")).table_id
    for version in range(1, 8):
        case.catalog.propose(inline(other, version, f"secret-{version}"))
    case.ratify(2)
    ada = case.catalog.acting_as("ada")
    assert ada.events.after(0) == ()

    case.catalog.granting.grant("READ", on="test.t", to="ada")

    assert {event.table for event in ada.events.window(limit=100).events} == {"test.t"}
    told = ada.events.after(case.start, limit=2)
    assert [(event.table, event.version) for event in told] == [("test.t", 1), ("test.t", 2)]
