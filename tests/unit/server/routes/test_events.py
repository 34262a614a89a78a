"""Events as pages and as a stream: in order, none twice, only what the caller may see, and with an end."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from tests.support import proposals
from tests.support.catalogs import a_catalog
from tests.support.operated_server import NamedTokens, OperatedServer, operated
from tests.support.tables import create_managed
from tests.support.waiting import PATIENCE_SECONDS, until

PATH = "/api/headgate/v1/lakes/main/events"
QUICK = {"events_seconds": 0.01, "heartbeat_seconds": 0.02}


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path) as opened:
        yield opened


class _Stream:
    """The lines of a stream, read as they come."""

    def __init__(self, server: OperatedServer, **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("GET", PATH, headers={"Accept": "text/event-stream", **named})
        self.answer = self._connection.getresponse()

    def lines(self) -> Iterator[str]:
        while line := self.answer.readline():
            yield line.decode().rstrip("\n")

    def events(self, count: int) -> list[dict[str, object]]:
        data = (line.removeprefix("data: ") for line in self.lines() if line.startswith("data: "))
        return [json.loads(next(data)) for _ in range(count)]

    def close(self) -> None:
        self._connection.close()


@contextmanager
def _stream(server: OperatedServer, **headers: str) -> Iterator[_Stream]:
    stream = _Stream(server, **headers)
    try:
        yield stream
    finally:
        stream.close()


def _commit(catalog: Catalog, table_id: str, *versions: int) -> None:
    for version in versions:
        catalog.propose(proposals.inline(table_id, version, f"{table_id[:8]}-{version}"))  # type: ignore[arg-type]


def test_pages_go_on_where_the_last_one_ended(catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    _commit(catalog, table_id, 1, 2, 3)
    with operated(catalog) as server:
        first = server.ask(f"{PATH}?limit=2").json
        second = server.ask(f"{PATH}?after={first['cursor']}").json
        none = server.ask(f"{PATH}?after={second['cursor']}").json

    kinds = [(event["kind"], event["version"]) for event in first["events"] + second["events"]]
    assert kinds == [("create", 0), ("commit", 0), ("commit", 1), ("commit", 2), ("commit", 3)]
    assert none == {"events": [], "cursor": second["cursor"]}


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "limit=0", "limit=1001", f"after={2**63}", f"after={10**30}"]
)
def test_a_cursor_or_a_limit_that_is_none_is_refused(catalog: Catalog, query: str) -> None:
    with operated(catalog) as server:
        assert server.ask(f"{PATH}?{query}").status == 400


@pytest.mark.parametrize("seen", ["-1", "x", str(2**63), "9" * 400, "١"])
def test_a_last_id_that_is_none_is_refused(catalog: Catalog, seen: str) -> None:
    with operated(catalog) as server:
        asked = {"Accept": "text/event-stream", "Last-Event-ID": seen.encode().decode("latin-1")}
        assert server.ask(PATH, headers=asked).status == 400


def test_a_stream_tells_what_happened_and_what_happens(catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    _commit(catalog, table_id, 1)
    with operated(catalog, **QUICK) as server, _stream(server) as stream:
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        before = stream.events(3)
        _commit(catalog, table_id, 2)
        after = stream.events(1)

    assert [(event["kind"], event["version"]) for event in before + after] == [
        ("create", 0), ("commit", 0), ("commit", 1), ("commit", 2),
    ]  # fmt: skip


def test_who_comes_back_misses_nothing_and_hears_nothing_twice(catalog: Catalog) -> None:
    table_id = create_managed(catalog).table_id
    _commit(catalog, table_id, 1)
    with operated(catalog, **QUICK) as server:
        with _stream(server) as stream:
            seen = stream.events(3)[-1]["cursor"]
        _commit(catalog, table_id, 2, 3)
        with _stream(server, Last_Event_ID=str(seen)) as stream:
            later = stream.events(2)

    assert [event["version"] for event in later] == [2, 3]


def test_a_stream_says_that_it_lives(catalog: Catalog) -> None:
    with operated(catalog, **QUICK) as server, _stream(server) as stream:
        lines = stream.lines()
        assert sum(next(lines) == ": alive" for _ in range(9)) >= 4


def test_only_what_the_caller_may_see(catalog: Catalog) -> None:
    mine, other = (create_managed(catalog, TableName("s", name)).table_id for name in ("mine", "other"))
    catalog.granting.grant("READ", "s.mine", "ada")
    with operated(catalog, authenticator=NamedTokens(), **QUICK) as server:
        page = server.ask(PATH, headers={"Authorization": "Bearer ada"}).json
        everything = server.ask(PATH, headers={"Authorization": "Bearer owner"}).json
        nobody = server.ask(PATH)
        with _stream(server, Authorization="Bearer ada") as stream:
            streamed = stream.events(2)
            lines = stream.lines()
            told = {next(lines) for _ in range(6)}

    assert {event["table_id"] for event in page["events"]} == {mine}
    assert {event["table_id"] for event in everything["events"]} == {mine, other}
    assert {event["table_id"] for event in streamed} == {mine}
    assert told == {": alive", ""}
    assert nobody.status == 401


def test_a_page_leads_past_what_the_caller_may_not_see(catalog: Catalog) -> None:
    """T10: else every look of who follows a large lake would begin where the first one did."""
    _commit(catalog, create_managed(catalog, TableName("s", "other")).table_id, 1, 2, 3)
    create_managed(catalog, TableName("s", "mine"))
    _commit(catalog, catalog.resolve(TableName("s", "other")).table_id, 4, 5)
    catalog.granting.grant("READ", "s.mine", "ada")
    with operated(catalog, authenticator=NamedTokens()) as server:
        ada = {"Authorization": "Bearer ada"}
        first = server.ask(f"{PATH}?limit=1", headers=ada).json
        second = server.ask(f"{PATH}?after={first['cursor']}", headers=ada).json
        nothing = server.ask(PATH, headers={"Authorization": "Bearer bob"}).json

    assert len(first["events"]) == 1
    assert first["cursor"] == first["events"][0]["cursor"]
    assert [event["table"] for event in second["events"]] == ["s.mine"]
    assert second["cursor"] == nothing["cursor"] == catalog.events.newest()
    assert nothing["events"] == []


def test_a_stream_ends_when_the_token_is_no_longer_good(catalog: Catalog) -> None:
    tokens = NamedTokens()
    with (
        operated(catalog, authenticator=tokens, **QUICK) as server,
        _stream(server, Authorization="Bearer ada") as stream,
    ):
        next(stream.lines())
        tokens.gone.add("ada")
        assert set(stream.lines()) <= {": alive", ""}


def test_a_stream_with_much_to_tell_ends_too_when_the_token_is_no_longer_good(catalog: Catalog) -> None:
    tokens, table_id = NamedTokens(), create_managed(catalog).table_id
    versions = iter(range(1, 100_000))
    stop = threading.Event()

    def keep_busy() -> None:
        while not stop.is_set():
            _commit(catalog, table_id, next(versions))

    with (
        operated(catalog, authenticator=tokens, events_seconds=0.001, heartbeat_seconds=0.05) as server,
        _stream(server, Authorization="Bearer owner") as stream,
    ):
        busy = threading.Thread(target=keep_busy)
        busy.start()
        try:
            stream.events(5)
            tokens.gone.add("owner")
            for _ in stream.lines():
                pass  # it comes to an end
        finally:
            stop.set()
            busy.join()


def test_a_stream_ends_when_the_server_stops(catalog: Catalog) -> None:
    with operated(catalog, **QUICK) as server, _stream(server) as stream:
        next(stream.lines())
        threading.Timer(0.05, server.operations.drain.begin).start()
        assert set(stream.lines()) <= {": alive", ""}
        until(lambda: server.operations.drain.in_flight == 0)


def test_one_caller_has_so_many_streams_and_gets_their_places_back(catalog: Catalog) -> None:
    with operated(catalog, streams_per_principal=1, **QUICK) as server:
        with _stream(server) as stream:
            next(stream.lines())
            refused = server.ask(PATH, headers={"Accept": "text/event-stream"})
        until(lambda: server.operations.streams.in_use() == 0)
        with _stream(server) as again:
            assert again.answer.status == 200

    assert (refused.status, refused.json["code"]) == (503, "HEADGATE_TOO_MANY_REQUESTS")


def test_a_lake_that_is_not_served_is_not_found(catalog: Catalog) -> None:
    with operated(catalog) as server:
        assert server.ask("/api/headgate/v1/lakes/none/events").status == 404
