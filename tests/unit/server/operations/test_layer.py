"""What every request passes (T9, T10, T11): each limit refuses what is one more, in the dialect asked."""

import asyncio
import json
import logging
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from litestar import Request, get, post

from headgate.catalog.catalog import Catalog
from headgate.catalog.wire.lake_description import BASE_PATH
from headgate.catalog.wire.operations import OPERATIONS, PortOperation
from headgate.errors import CommitUnknown
from headgate.server.operations import limits, logs
from headgate.server.operations.layer import _Replay
from headgate.server.operations.limits import BodySize
from tests.support.catalogs import a_catalog
from tests.support.operated_server import NamedTokens, OperatedServer, operated
from tests.support.waiting import PATIENCE_SECONDS, until

OWN = "/api/headgate/v1/echo"
UNITY = "/api/2.1/unity-catalog/delta/v1/echo"
OLDER = "/api/2.1/unity-catalog/echo"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path) as opened:
        yield opened


def _echo(path: str) -> object:
    @post(path, status_code=200)
    async def echo(request: Request) -> dict[str, int]:  # type: ignore[type-arg]
        return {"bytes": len(await request.body())}

    return echo


ECHOES = tuple(_echo(path) for path in (OWN, UNITY, OLDER))


def _raw(server: OperatedServer, sent: bytes, *, close: bool = False) -> bytes:
    """What comes back for these bytes, until the server hangs up or has nothing more to say."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
        line.sendall(sent)
        if close:
            line.shutdown(socket.SHUT_WR)
        received = b""
        while b"\r\n\r\n" not in received or (b"}" not in received and b"204" not in received):
            part = line.recv(65_536)
            if not part:
                break
            received += part
        return received


def test_a_body_of_the_largest_size_passes_and_one_byte_more_does_not(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES, body_bytes=1_000) as server:
        fits = server.ask(OWN, method="POST", body=b"x" * 1_000)
        announced = server.ask(OWN, method="POST", body=b"x" * 1_001)
        chunk = b"%x\r\n%b\r\n" % (1_001, b"x" * 1_001)
        streamed = _raw(
            server,
            b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%b0\r\n\r\n"
            % (OWN.encode(), chunk),
        )

    assert (fits.status, fits.json) == (200, {"bytes": 1_000})
    assert (announced.status, announced.json["code"]) == (413, "HEADGATE_BODY_TOO_LARGE")
    assert streamed.startswith(b"HTTP/1.1 413 ")


def test_an_endless_body_is_cut_off_in_bounded_memory(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES, body_bytes=100_000) as server:
        server.ask(OWN, method="POST", body=b"x")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        sent = 0
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
            line.sendall(b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" % OWN.encode())
            try:
                while sent < 512 * 1024 * 1024:
                    sent += line.send(chunk)
            except OSError:
                pass  # the server hung up
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        alive = server.ask("/health")

    assert sent < 512 * 1024 * 1024
    assert grown < 100 * 1024  # kilobytes
    assert alive.status == 200


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
def test_every_operation_of_our_clients_may_carry_commits(operation: PortOperation) -> None:
    """A group of commits, above all, of which each may be inline."""
    path = f"{BASE_PATH}/lakes/main/{operation.path}"

    assert limits.limit_for(path).body is BodySize.LARGE


@pytest.mark.parametrize("path", [OWN, UNITY, OLDER])
def test_each_api_is_refused_in_its_own_words(catalog: Catalog, path: str) -> None:
    with operated(catalog, routes=ECHOES, body_bytes=10) as server:
        answer = server.ask(path, method="POST", body=b"x" * 11)

    names = {
        OWN: lambda body: body["code"],
        UNITY: lambda body: body["error"]["type"],
        OLDER: lambda body: body["error_code"],
    }
    expected = {
        OWN: "HEADGATE_BODY_TOO_LARGE",
        UNITY: "InvalidParameterValueException",
        OLDER: "INVALID_ARGUMENT",
    }
    assert answer.status == 413
    assert names[path](answer.json) == expected[path]


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate, gzip", "GZIP"])
def test_a_compressed_body_is_refused(catalog: Catalog, encoding: str) -> None:
    with operated(catalog, routes=ECHOES) as server:
        answer = server.ask(OWN, method="POST", body=b"x", headers={"Content-Encoding": encoding})
        plain = server.ask(OWN, method="POST", body=b"x", headers={"Content-Encoding": "identity"})

    assert (answer.status, answer.json["code"]) == (415, "HEADGATE_BODY_ENCODED")
    assert plain.status == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"[" * 5 + b"]" * 5, 200, None),
        (b"[" * 6 + b"]" * 6, 400, "HEADGATE_JSON_TOO_DEEP"),
        (b'{"a":' * 6 + b"1" + b"}" * 6, 400, "HEADGATE_JSON_TOO_DEEP"),
        (b'["[[[[[[[[[["]', 200, None),
        (b"[" + b"0," * 49 + b"0]", 200, None),
        (b"[" + b"0," * 50 + b"0]", 413, "HEADGATE_JSON_TOO_WIDE"),
    ],
)
def test_json_of_an_insane_shape_is_refused(
    catalog: Catalog, body: bytes, status: int, code: str | None
) -> None:
    with operated(catalog, routes=ECHOES, json_depth=5, json_values=50) as server:
        answer = server.ask(OWN, method="POST", body=body)

    assert (answer.status, answer.json.get("code")) == (status, code)


@pytest.mark.parametrize("body", [b'{"a": "\xff"}', b"\xed\xa0\x80", b'"\xc0\xaf"'])
def test_a_body_that_is_no_text_is_refused(catalog: Catalog, body: bytes) -> None:
    with operated(catalog, routes=ECHOES) as server:
        answer = server.ask(OWN, method="POST", body=body)

    assert (answer.status, answer.json["code"]) == (400, "HEADGATE_BODY_NOT_UTF_8")


def test_headers_and_addresses_have_an_end(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES, header_bytes=2_000) as server:
        headers = server.ask("/health", headers={"X-Much": "x" * 2_000})
        address = server.ask("/health?" + "x" * 9_000)
        probe = server.ask("/health", method="GET", body=b"x")

    assert (headers.status, headers.json["code"]) == (431, "HEADGATE_HEADERS_TOO_LARGE")
    assert (address.status, address.json["code"]) == (414, "HEADGATE_ADDRESS_TOO_LONG")
    assert (probe.status, probe.json["code"]) == (413, "HEADGATE_BODY_TOO_LARGE")


def test_a_body_that_does_not_come_is_given_up(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES, body_seconds=0.2) as server:
        answer = _raw(server, b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc" % OWN.encode())
        alive = server.ask("/health")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"HEADGATE_BODY_TOO_SLOW" in answer
    assert alive.status == 200


def test_a_body_is_whole_as_soon_as_all_that_was_announced_is_here(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES) as server:
        whole = _raw(server, b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" % OWN.encode())
        parts = _raw(
            server,
            b"POST %b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n" % OWN.encode(),
        )
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_SECONDS) as line:
            answers = []
            for body in (b"abcd", b"", b"ab"):  # one after another over one connection
                head = b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
                line.sendall(head % (OWN.encode(), len(body)) + body)
                answers.append(line.recv(65_536).rpartition(b"\r\n\r\n")[2])

    assert whole.endswith(b'{"bytes":3}')
    assert parts.endswith(b'{"bytes":3}')
    assert answers == [b'{"bytes":4}', b'{"bytes":0}', b'{"bytes":2}']


def test_nobody_waits_for_the_end_of_a_body_that_is_all_here() -> None:
    coming = iter({"type": "http.request", "body": part, "more_body": True} for part in (b"ab", b"c"))

    async def receive() -> Any:
        return next(coming)  # fails if it is asked for the end

    read = limits.read_body(receive, announced=3, most=10, seconds=PATIENCE_SECONDS)

    assert asyncio.run(read) == b"abc"


def test_an_application_is_told_of_the_end_of_its_caller_and_not_of_the_end_of_a_body() -> None:
    coming = iter(({"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}))

    async def receive() -> Any:
        return next(coming)

    async def two_messages(replay: _Replay) -> list[Any]:
        return [await replay(), await replay()]

    assert asyncio.run(two_messages(_Replay(b"abc", receive))) == [
        {"type": "http.request", "body": b"abc", "more_body": False},
        {"type": "http.disconnect"},
    ]


def test_who_hangs_up_in_mid_body_leaves_nothing_behind(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"POST %b HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc" % OWN.encode())
            until(lambda: server.operations.drain.in_flight == 1)
        until(lambda: server.operations.drain.in_flight == 0)


@contextmanager
def _stuck(
    catalog: Catalog, **settings: object
) -> Iterator[tuple[OperatedServer, threading.Event, threading.Event]]:
    entered, leave = threading.Event(), threading.Event()

    @post("/api/headgate/v1/stuck", status_code=200, sync_to_thread=True)
    def stuck(caller: object) -> dict[str, str]:
        entered.set()
        leave.wait(PATIENCE_SECONDS)
        return {}

    @get("/api/headgate/v1/stuck", status_code=200, sync_to_thread=True)
    def look(caller: object) -> dict[str, str]:
        return stuck.fn(caller)

    with operated(catalog, routes=(stuck, look), **settings) as server:
        try:
            yield server, entered, leave
        finally:
            leave.set()


def test_an_answer_that_takes_too_long_is_unknown_and_not_denied(catalog: Catalog) -> None:
    with _stuck(catalog, request_seconds=0.2) as (server, _, _):
        written = server.ask("/api/headgate/v1/stuck", method="POST")
        read = server.ask("/api/headgate/v1/stuck")

    assert (written.status, written.json["code"]) == (500, CommitUnknown.code)
    assert (read.status, read.json["code"]) == (503, "HEADGATE_CATALOG_UNAVAILABLE")
    assert read.headers["retry-after"] == "1"


def test_one_caller_cannot_take_the_places_of_others(catalog: Catalog) -> None:
    tokens = NamedTokens()
    with _stuck(catalog, authenticator=tokens, requests_per_principal=1) as (server, entered, leave):
        ada, bob = {"Authorization": "Bearer ada"}, {"Authorization": "Bearer bob"}
        first: list[int] = []
        stuck = threading.Thread(
            target=lambda: first.append(
                server.ask("/api/headgate/v1/stuck", method="POST", headers=ada).status
            )
        )
        stuck.start()
        assert entered.wait(PATIENCE_SECONDS)
        again = server.ask("/api/headgate/v1/lakes/main/events", headers=ada)
        other = server.ask("/api/headgate/v1/lakes/main/events", headers=bob)
        leave.set()
        stuck.join()
        later = server.ask("/api/headgate/v1/lakes/main/events", headers=ada)

    assert (again.status, again.json["code"]) == (503, "HEADGATE_TOO_MANY_REQUESTS")
    assert (other.status, first, later.status) == (200, [200], 200)


def test_a_full_server_says_so_and_still_answers_probes(catalog: Catalog) -> None:
    with _stuck(catalog, requests=1) as (server, entered, leave):
        stuck = threading.Thread(target=lambda: server.ask("/api/headgate/v1/stuck", method="POST"))
        stuck.start()
        assert entered.wait(PATIENCE_SECONDS)
        refused, probe = server.ask("/api/headgate/v1/lakes/main/events"), server.ask("/health")
        leave.set()
        stuck.join()

    assert (refused.status, refused.json["code"], probe.status) == (503, "HEADGATE_SERVER_BUSY", 200)


def test_a_draining_server_finishes_what_it_has_and_takes_nothing_new(catalog: Catalog) -> None:
    with _stuck(catalog) as (server, entered, leave):
        first: list[int] = []
        stuck = threading.Thread(
            target=lambda: first.append(server.ask("/api/headgate/v1/stuck", method="POST").status)
        )
        stuck.start()
        assert entered.wait(PATIENCE_SECONDS)
        ready = server.ask("/ready")
        server.operations.drain.begin()
        refused, health, unready = (
            server.ask(path) for path in ("/api/headgate/v1/lakes/main/events", "/health", "/ready")
        )
        leave.set()
        stuck.join()

    assert (ready.status, first, health.status) == (200, [200], 200)
    assert (refused.status, refused.json["code"]) == (503, "HEADGATE_SERVER_STOPPING")
    assert (unready.status, unready.json["code"]) == (503, "HEADGATE_NOT_READY")


def test_every_answer_has_the_id_of_its_request(catalog: Catalog) -> None:
    with operated(catalog, routes=ECHOES) as server:
        answers = [
            server.ask(path, headers={"X-Request-Id": "abc-123"})
            for path in (
                "/health",
                "/nowhere",
                "/api/headgate/v1/lakes/none/events",
                "/health?" + "x" * 9_000,
            )
        ]
        made = {server.ask("/health").headers["x-request-id"] for _ in range(3)}

    assert [answer.headers["x-request-id"] for answer in answers] == ["abc-123"] * 4
    assert [answer.json["requestId"] for answer in answers[1:]] == ["abc-123"] * 3
    assert len(made) == 3


@pytest.mark.parametrize("offered", ["x" * 65, "a b", "a\tb", "<script>", "a;b", "é", "-", '"'])
def test_a_harmful_id_is_not_taken(catalog: Catalog, offered: str) -> None:
    with operated(catalog) as server:
        answer = server.ask("/health", headers={"X-Request-Id": offered.encode("latin-1").decode("latin-1")})

    assert answer.headers["x-request-id"] != offered
    assert answer.headers["x-request-id"].isalnum()


def test_a_failure_nobody_expected_is_a_500_without_details(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    @get("/api/headgate/v1/broken", status_code=200, sync_to_thread=True)
    def broken() -> dict[str, str]:
        raise RuntimeError("the canary password=hunter2 is inside")

    with operated(catalog, routes=(broken,)) as server:
        answer = server.ask("/api/headgate/v1/broken")

    assert (answer.status, answer.json["code"]) == (500, "HEADGATE_INTERNAL")
    assert b"canary" not in answer.body
    assert answer.json["requestId"] == answer.headers["x-request-id"]
    assert any("canary" in str(record.exc_info) for record in caplog.records)


def test_each_request_is_one_line_of_the_access_log(
    catalog: Catalog, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="headgate.access")
    with operated(catalog, authenticator=NamedTokens()) as server:
        server.ask(
            "/api/headgate/v1/lakes/main/events",
            headers={"Authorization": "Bearer ada", "X-Request-Id": "r1"},
        )
        server.ask("/nowhere/%0d%0ainjected?token=hunter2", headers={"X-Request-Id": "r2"})
        until(lambda: len(caplog.records) >= 2)  # they follow the answers

    lines = [getattr(record, logs.FIELDS) for record in caplog.records if record.name == "headgate.access"]
    assert [(line["request_id"], line["principal"], line["status"], line["route"]) for line in lines] == [
        ("r1", "ada", 200, "/api/headgate/v1/lakes/{lake}/events"),
        ("r2", None, 404, "none"),
    ]
    assert all(line["milliseconds"] > 0 for line in lines)
    assert "hunter2" not in json.dumps(lines)


def test_methods_that_a_route_does_not_have_make_no_series_of_it(catalog: Catalog) -> None:
    """T10: the page of metrics grows with the routes, and not with what is tried at them."""
    with operated(catalog) as server:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert server.ask("/ready", method=method).status == 405
        shown = server.ask("/metrics").body.decode()

    assert [line for line in shown.splitlines() if 'route="/ready"' in line] == []
    assert 'headgate_requests_total{method="PUT",route="none",status="405"} 1.0' in shown
