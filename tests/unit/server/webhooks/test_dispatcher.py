"""A webhook hears of every event it asked for, in order and at least once, signed; or it stands still."""

import json
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from headgate.catalog.catalog import Catalog
from headgate.catalog.ports.directory import TableName
from headgate.catalog.ports.events import EventKind
from headgate.errors import InvalidRequest
from headgate.server.operations.parts import make_operations
from headgate.server.settings import ServerSettings
from headgate.server.webhooks import signature
from headgate.server.webhooks.dispatcher import WebhookDispatcher, WebhookState
from headgate.server.webhooks.registration import Webhook
from tests.support import proposals
from tests.support.catalogs import a_catalog
from tests.support.operated_server import served
from tests.support.tables import create_managed
from tests.support.waiting import until

SECRET = "a secret of some length"


@dataclass
class Receiver:
    """What was received, and how the next calls are answered."""

    url: str = ""
    calls: list[tuple[bytes, dict[str, str]]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    otherwise: int = 204

    @property
    def versions(self) -> list[Any]:
        return [event["version"] for body, _ in self.calls for event in json.loads(body)["events"]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = found.answers.pop(0) if found.answers else found.otherwise
            if 200 <= status < 300:
                found.calls.append((body, dict(self.headers)))
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    found.url = f"http://hook.example:{server.server_port}/x"
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with a_catalog("sqlite", tmp_path / "lake") as opened:
        yield opened


def _dispatcher(
    catalog: Catalog, url: str, monkeypatch: pytest.MonkeyPatch, *, private: bool = True, **more: Any
) -> WebhookDispatcher:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    attempts = more.pop("attempts", 1_000)
    hook = Webhook(name="billing", lake="main", url=url, secret_variable="HOOK_SECRET", **more)
    operations = make_operations(ServerSettings())
    return WebhookDispatcher(
        hook, served(catalog, operations), operations.metrics.webhook_called, private=private, seconds=0.01,
        attempts=attempts, first_pause=0.001, resolve=lambda *_: ("127.0.0.1",),
    )  # fmt: skip


def _commit(catalog: Catalog, table_id: str, *versions: int) -> None:
    for version in versions:
        catalog.propose(proposals.inline(table_id, version, f"{table_id[:8]}-{version}"))  # type: ignore[arg-type]


def _keep_from_start(catalog: Catalog) -> None:
    catalog.events.save_cursor("webhook/billing", 0)


def test_it_is_told_in_order_and_signed(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    _keep_from_start(catalog)
    dispatcher = _dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,))
    dispatcher.start()
    try:
        _commit(catalog, table_id, *range(1, 6))
        until(lambda: len(receiver.versions) == 6)
    finally:
        dispatcher.close()

    assert receiver.versions == [0, 1, 2, 3, 4, 5]
    for body, headers in receiver.calls:
        header, now = headers[signature.HEADER], int(time.time())
        assert signature.is_signed(header, SECRET.encode(), body, now=now)
        assert not signature.is_signed(header, b"another secret of length", body, now=now)
        assert not signature.is_signed(header, SECRET.encode(), body + b" ", now=now)
        assert not signature.is_signed(header, SECRET.encode(), body, now=now + 3_600)
        assert headers["Host"] == receiver.url.split("/")[2]


@pytest.mark.parametrize("header", ["", "t=1", "t=x,v1=y", "v1=,t=", "t=" + "9" * 5_000 + ",v1=x", "==,,=="])
def test_a_signature_that_is_none_is_refused(header: str) -> None:
    assert not signature.is_signed(header, b"secret", b"", now=1)


def test_a_new_one_hears_of_what_happens_from_now_on(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    dispatcher = _dispatcher(catalog, receiver.url, monkeypatch)
    dispatcher.start()
    try:
        until(lambda: dispatcher.status().cursor is not None)
        _commit(catalog, table_id, 1)
        until(lambda: receiver.versions == [1])
    finally:
        dispatcher.close()


def test_kinds_and_tables_are_those_it_asked_for(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [create_managed(catalog, TableName(schema, "t")).table_id for schema in ("a", "b", "c")]
    _keep_from_start(catalog)
    dispatcher = _dispatcher(
        catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,), tables=("a.t", "c.*")
    )
    for table_id in tables:
        _commit(catalog, table_id, 1)
    newest = catalog.events.newest()
    dispatcher.start()
    try:
        until(lambda: dispatcher.status().cursor == newest)
    finally:
        dispatcher.close()

    told = {event["table"] for body, _ in receiver.calls for event in json.loads(body)["events"]}
    assert told == {"a.t", "c.t"}


def test_a_receiver_that_refuses_is_called_again_until_it_takes_it(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    _keep_from_start(catalog)
    receiver.answers = [500, 404, 302, 307]
    dispatcher = _dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,))
    _commit(catalog, table_id, 1, 2)
    dispatcher.start()
    try:
        until(lambda: len(receiver.versions) == 3)
        until(lambda: dispatcher.status().state is WebhookState.DELIVERING)
    finally:
        dispatcher.close()

    assert receiver.versions == [0, 1, 2]


def test_who_goes_on_after_a_crash_misses_nothing(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    _keep_from_start(catalog)
    _commit(catalog, table_id, 1, 2)
    first = _dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,))
    monkeypatch.setattr(catalog.events, "save_cursor", lambda *_: None)  # it dies before the cursor is kept
    first.start()
    until(lambda: len(receiver.versions) >= 3)
    first.close()
    monkeypatch.undo()
    _commit(catalog, table_id, 3)
    second = _dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,))
    second.start()
    try:
        until(lambda: receiver.versions[-1:] == [3])
    finally:
        second.close()

    assert receiver.versions == [0, 1, 2, 0, 1, 2, 3]


def test_of_two_processes_one_delivers(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    _keep_from_start(catalog)
    both = [_dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,)) for _ in range(2)]
    for dispatcher in both:
        dispatcher.start()
    try:
        _commit(catalog, table_id, *range(1, 10))
        until(lambda: len(receiver.versions) >= 10)
    finally:
        for dispatcher in both:
            dispatcher.close()

    assert receiver.versions == list(range(10))


def test_one_that_takes_no_call_becomes_a_dead_letter_and_loses_nothing(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = create_managed(catalog).table_id
    _keep_from_start(catalog)
    _commit(catalog, table_id, 1)
    receiver.otherwise = 500
    dispatcher = _dispatcher(catalog, receiver.url, monkeypatch, attempts=3)
    dispatcher.start()
    until(lambda: dispatcher.status().state is WebhookState.DEAD)
    status = dispatcher.status()
    dispatcher.close()
    receiver.otherwise = 200
    again = _dispatcher(catalog, receiver.url, monkeypatch, kinds=(EventKind.COMMIT,))
    again.start()
    try:
        until(lambda: receiver.versions == [0, 1])
    finally:
        again.close()

    assert (status.attempts, status.problem, status.cursor) == (3, "the receiver answered 500", 0)


def test_a_private_target_is_not_called(
    catalog: Catalog, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_managed(catalog)
    _keep_from_start(catalog)
    dispatcher = _dispatcher(
        catalog, receiver.url.replace("http:", "https:"), monkeypatch, private=False, attempts=2
    )
    dispatcher.start()
    until(lambda: dispatcher.status().state is WebhookState.DEAD)
    dispatcher.close()

    assert receiver.calls == []
    assert "private network" in str(dispatcher.status().problem)


def test_a_secret_that_is_missing_or_short_is_refused(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    for secret in ("", "short"):
        with monkeypatch.context() as patched:
            patched.setattr("tests.unit.server.webhooks.test_dispatcher.SECRET", secret)
            with pytest.raises(InvalidRequest, match="longer one"):
                _dispatcher(catalog, "https://x", patched)


def test_a_certificate_of_another_name_is_refused(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """TLS is checked for the name in the settings, though the connection goes to an address."""
    key, certificate = tmp_path / "k.pem", tmp_path / "c.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other.example",
         "-days", "2", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    create_managed(catalog)
    _keep_from_start(catalog)
    dispatcher = _dispatcher(catalog, f"https://hook.example:{server.server_port}/x", monkeypatch, attempts=2)
    dispatcher.start()
    try:
        until(lambda: dispatcher.status().state is WebhookState.DEAD)
    finally:
        dispatcher.close()
        server.shutdown()
        thread.join()
        server.server_close()

    assert (asked, dispatcher.status().problem) == ([], "SSLError")
