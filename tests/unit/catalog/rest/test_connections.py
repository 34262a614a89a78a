"""One exchange over a kept connection: what is an answer, what is none, and what is never sent."""

import itertools
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from headgate.catalog.rest import connections
from headgate.catalog.rest.connections import KeptConnections, NotAnswered, NotConnected, RawAnswer
from headgate.errors import InvalidRequest
from tests.support.waiting import PATIENCE_SECONDS, until

MOST = 1_000
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


@dataclass
class Scripted:
    """A server that says what it was told to, whatever it is asked, and then hangs up."""

    port: int
    lines: list[bytes] = field(default_factory=list)
    """What came on each connection."""


@contextmanager
def scripted(*connections: Sequence[bytes]) -> Iterator[Scripted]:
    """For each connection the answers to its requests, each sent in pieces of a few bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Scripted(listener.getsockname()[1])

        def serve() -> None:
            for answers in connections:
                line, _ = listener.accept()
                with line:
                    line.settimeout(PATIENCE_SECONDS)
                    came = b""
                    for answer in answers:
                        came += _one_request(line)
                        with suppress(OSError):  # the client has seen enough
                            for at in range(0, len(answer), 7):
                                line.sendall(answer[at : at + 7])
                    server.lines.append(came)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server
        thread.join(PATIENCE_SECONDS)


def _one_request(line: socket.socket) -> bytes:
    came = b""
    while b"\r\n\r\n" not in came:
        came += line.recv(65_536)
    head, _, body = came.partition(b"\r\n\r\n")
    length = next(
        (int(each[16:]) for each in head.split(b"\r\n") if each.lower().startswith(b"content-length: ")), 0
    )
    while len(body) < length:
        body += line.recv(65_536)
    return head + b"\r\n\r\n" + body


def _connections(port: int, *, most: int = 4, path: str = "") -> KeptConnections:
    return KeptConnections(
        f"http://127.0.0.1:{port}{path}",
        most=most,
        connect_seconds=PATIENCE_SECONDS,
        answer_seconds=PATIENCE_SECONDS,
        ca_file=None,
    )


def _answer(sent: bytes, method: str = "POST") -> RawAnswer:
    with scripted([sent]) as server:
        return _connections(server.port).exchange(method, "/x", {}, b"body")


def test_a_request_is_one_head_and_one_body() -> None:
    with scripted([OK]) as server:
        _connections(server.port, path="/below").exchange(
            "POST", "/a/b%2Fc?d=é", {"X-Name": "välue"}, b"\r\n\r\nbody"
        )

    (came,) = server.lines
    assert came == (
        b"POST /below/a/b%%2Fc?d=%%C3%%A9 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept-Encoding: identity\r\n"
        b"User-Agent: headgate\r\nX-Name: v\xe4lue\r\nContent-Length: 8\r\n\r\n\r\n\r\nbody" % server.port
    )


def test_connections_are_kept_and_used_again() -> None:
    with scripted([OK, OK, OK]) as server:
        connections = _connections(server.port)
        answers = [connections.exchange("POST", f"/{number}", {}, b"") for number in range(3)]

    assert [each.content for each in answers] == [b"{}"] * 3
    assert len(server.lines) == 1


def test_a_connection_that_the_server_ended_is_not_used_again() -> None:
    with scripted([OK], [OK]) as server:
        connections = _connections(server.port)
        connections.exchange("POST", "/1", {}, b"")
        until(lambda: not connections._idle[0].is_quiet())
        connections.exchange("POST", "/2", {}, b"")

    assert len(server.lines) == 2


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        (OK, b"{}"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"{}"),
        (b"HTTP/1.1 200\r\ncontent-LENGTH:2  \r\n\r\n{}", b"{}"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n0A;x=y\r\n0123456789\r\n0\r\nEnd: 1\r\n\r\n",
            b"abc0123456789",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000, b"x" * 200_000),
    ],
    ids=["length", "continue", "spelling", "until the end", "nothing", "chunks", "long"],
)
def test_an_answer_is_read_however_it_is_framed(sent: bytes, content: bytes) -> None:
    assert _answer(sent).content == content


def test_an_answer_to_head_has_no_body() -> None:
    assert _answer(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "HEAD").content == b""


def test_headers_are_found_in_lower_case() -> None:
    answer = _answer(b"HTTP/1.1 429 Slow\r\nHeadgate-Call: a b\r\nContent-Length: 0\r\n\r\n")

    assert (answer.status, answer.headers["headgate-call"]) == (429, "a b")


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Len",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/2 200\r\n\r\n",
        b"220 smtp.example\r\n\r\n",
        b"x" * 100_000,
    ],
    ids=[
        "nothing", "half a head", "half a body", "two lengths", "no length", "compressed", "a coding",
        "no last chunk", "a chunk too long", "no chunk", "a folded header", "another version", "no HTTP",
        "a head without end",
    ],
)  # fmt: skip
def test_what_is_no_whole_answer_is_none(sent: bytes) -> None:
    with pytest.raises(NotAnswered):
        _answer(sent)


@pytest.mark.parametrize(
    "sent",
    [
        b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"More: 1\r\n" * 10_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (MOST + 1),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1" + b"0" * 5_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"8\r\n12345678\r\n" * 200 + b"0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2_000,
    ],
    ids=["announced", "fields", "length", "digits", "a chunk", "chunks", "until the end"],
)
def test_an_answer_without_end_is_none(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is told at once: nothing more is waited for, and no memory is set aside for it."""
    monkeypatch.setattr(connections, "_MOST_BYTES", MOST)

    with pytest.raises(NotAnswered) as why:
        _answer(sent)

    assert "connection ended" not in str(why.value)


def _clock(seconds: int) -> SimpleNamespace:
    """It goes on by so much with every look."""
    return SimpleNamespace(monotonic=itertools.count(step=seconds).__next__)


def test_an_answer_that_hardly_comes_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece in time, and all of them never."""
    monkeypatch.setattr(connections, "time", _clock(10_000))

    with pytest.raises(NotAnswered, match="bytes came in"):
        _answer(b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20_000)


def test_the_time_that_the_request_and_the_decision_take_is_not_that_of_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, parts = SimpleNamespace(now=0.0), iter([OK[:20], OK[20:40], OK[40:]])
    waits = iter([59.0, 0.5, 0.5])

    def receive(_most: int) -> bytes:
        clock.now += next(waits)
        return next(parts)

    def send(_request: bytes) -> None:
        clock.now += 59.0

    monkeypatch.setattr(connections, "time", SimpleNamespace(monotonic=lambda: clock.now))
    line = SimpleNamespace(sendall=send, recv=receive)

    answer, _ = connections._Connection(line, 60).exchange(b"a large body", has_body=True)  # type: ignore[arg-type]

    assert answer.content == b"{}"


def test_a_long_answer_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "time", _clock(1))
    monkeypatch.setattr(connections, "_PART_BYTES", 1_000)

    assert (
        len(_answer(b"HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n" + b"x" * 900_000).content) == 900_000
    )


def test_a_connection_is_given_up_when_no_other_answer_can_follow() -> None:
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    with scripted([closing], [OK + b"more than was asked"], [OK]) as server:
        connections = _connections(server.port)
        for number in range(3):
            connections.exchange("POST", f"/{number}", {}, b"")
            until(lambda: number == 2 or not connections._idle or not connections._idle[0].is_quiet())  # noqa: B023

    assert len(server.lines) == 3


def test_nobody_there_means_that_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    with pytest.raises(NotConnected):
        _connections(port).exchange("POST", "/", {}, b"")


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\rb", "a\0b", "€"])
def test_no_header_begins_another_one(value: str) -> None:
    with pytest.raises(InvalidRequest):
        _connections(1).exchange("POST", "/", {"Authorization": f"Bearer {value}"}, b"")


def test_a_file_without_certificates_is_named() -> None:
    with pytest.raises(InvalidRequest, match="no-such-file"):
        KeptConnections(
            "https://127.0.0.1:1", most=1, connect_seconds=1, answer_seconds=1, ca_file="/no-such-file"
        )
