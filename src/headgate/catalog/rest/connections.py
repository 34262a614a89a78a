"""How do a request and its answer cross one kept connection? In HTTP/1.1, with as few steps as that takes.

Every commit through a server is one such exchange, and a general client of HTTP spent 0.25 ms of CPU on each,
most of it to parse headers as if they were those of a letter; this one spends a tenth of that.

    POST /api/… HTTP/1.1      →    one write: the head and the body
    HTTP/1.1 200 OK           ←    read up to the empty line, then as much as it announces

What a general client also does is not here: redirects, cookies, proxies, compression. An answer that is not
as HTTP/1.1 says is no answer, nor is one that does not come to an end, or hardly comes at all.
``benchmarks/server_commits.py`` justifies it.
"""

import re
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from urllib3.util.wait import wait_for_read

from headgate.catalog.rest import tls_failures
from headgate.errors import InvalidRequest

_PART_BYTES = 64 * 1024
_MOST_HEAD_BYTES = 64 * 1024
_MOST_BYTES = 1024 * 1024 * 1024
"""No answer has more; the longest tell of all versions of a table."""
_MOST_HEADS = 16
"""An answer may be announced by others, such as 100 Continue, and fields may follow it."""
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [^\r\n]*)?")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*)")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_UNSAFE_IN_FIELDS = re.compile(r"[^\t\r\n -~\x80-\xff]")
_PLAIN_TARGET = re.compile(r"[!-~]+")
_MOST_DIGITS = 19
_WITHOUT_BODY = frozenset({204, 304})


class NotConnected(Exception):
    """There is no connection, so nothing was sent."""


class NotAnswered(Exception):
    """Something was sent, and what came back is no whole answer."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it came; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a server is."""

    host: str
    port: int
    named: str
    """As requests call it."""
    prefix: str
    tls: ssl.SSLContext | None


class KeptConnections:
    """The connections of one process to one server; safe to share between threads."""

    def __init__(
        self, root: str, *, most: int, connect_seconds: float, answer_seconds: float, ca_file: str | None
    ) -> None:
        parts = urlsplit(root)
        tls = _tls(ca_file) if parts.scheme == "https" else None
        port = parts.port or (80 if tls is None else 443)
        self._place = _Place(parts.hostname or "", port, parts.netloc, parts.path, tls)
        self._connect_seconds = connect_seconds
        self._answer_seconds = answer_seconds
        self._idle: deque[_Connection] = deque(maxlen=most)

    def exchange(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> RawAnswer:
        """The answer; ``NotConnected`` or ``NotAnswered`` if there is none."""
        request = _request(self._place, method, target, headers, body)
        connection = self._taken() or _Connection(self._connected(), self._answer_seconds)
        try:
            answer, reusable = connection.exchange(request, has_body=method != "HEAD")
        except BaseException:
            connection.close()
            raise
        if reusable and len(self._idle) < (self._idle.maxlen or 0):
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def close(self) -> None:
        """Let go of those that are not in use."""
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _taken(self) -> "_Connection | None":
        """One that is kept, and over which nothing came since: not even its end."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.is_quiet():
                return connection
            connection.close()

    def _connected(self) -> socket.socket:
        place = self._place
        try:
            line = socket.create_connection((place.host, place.port), self._connect_seconds)
        except (OSError, UnicodeError) as exc:
            raise NotConnected(str(exc) or type(exc).__name__) from exc
        try:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if place.tls is not None:
                line = place.tls.wrap_socket(
                    line, server_hostname=place.host, suppress_ragged_eofs=False
                )  # else whoever cuts the line could pass half an answer off as a whole one
            line.settimeout(self._answer_seconds)
        except ssl.SSLError as exc:
            line.close()
            raise NotConnected(tls_failures.why_not_connected(exc, place.named)) from exc
        except OSError as exc:
            line.close()
            raise NotConnected(str(exc) or type(exc).__name__) from exc
        return line


class _Connection:
    """One connection, used by one thread at a time."""

    __slots__ = ("_came", "_line", "_seconds", "_since", "_unread")

    def __init__(self, line: socket.socket, seconds: float) -> None:
        self._line = line
        self._unread = b""
        self._seconds = seconds
        self._since: float | None = None
        """Since when an answer comes, or its last large part."""
        self._came = 0
        """How many bytes came since then."""

    def is_quiet(self) -> bool:
        if self._unread or (isinstance(self._line, ssl.SSLSocket) and self._line.pending()):
            return False
        return not wait_for_read(self._line, 0)

    def close(self) -> None:
        self._line.close()

    def exchange(self, request: bytes, *, has_body: bool) -> tuple[RawAnswer, bool]:
        """The answer, and whether another may follow it."""
        try:
            self._since, self._came = None, 0
            with suppress(BrokenPipeError):  # a large body may be refused before it is all there
                self._line.sendall(request)
            return self._answer(has_body=has_body)
        except OSError as exc:
            raise NotAnswered(str(exc) or type(exc).__name__) from exc

    def _answer(self, *, has_body: bool) -> tuple[RawAnswer, bool]:
        minor, status, headers = self._head()
        named = headers.get("connection", "").lower()
        reusable = "close" not in named and (minor == 1 or "keep-alive" in named)
        if not has_body or status in _WITHOUT_BODY:
            return RawAnswer(status, headers, b""), reusable
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise NotAnswered("the answer is compressed, which was not asked for")
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if coding is not None:
            if coding.lower() != "chunked":
                raise NotAnswered(f"the answer is encoded as {coding!r}")
            return RawAnswer(status, headers, self._chunks()), reusable and length is None
        if length is None:
            return RawAnswer(status, headers, self._rest()), False
        if not (length.isascii() and length.isdecimal() and len(length) <= _MOST_DIGITS):
            raise NotAnswered(f"the answer announces {length[:_MOST_DIGITS]!r} bytes")
        return RawAnswer(status, headers, self._read(_bounded(int(length)))), reusable

    def _head(self) -> tuple[int, int, Mapping[str, str]]:
        for _ in range(_MOST_HEADS):
            found = _parse_head(self._read_past(b"\r\n\r\n", _MOST_HEAD_BYTES))
            if found[1] >= 200:
                return found
        raise NotAnswered("an answer is announced again and again, and does not come")

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        whole = 0
        while True:
            size = _CHUNK.fullmatch(self._read_past(b"\r\n", _MOST_HEAD_BYTES))
            if size is None:
                raise NotAnswered("a part of the answer does not say how long it is")
            if not (length := int(size[1], 16)):
                break
            whole = _bounded(whole + length)
            parts.append(self._read(length))
            if self._read(2) != b"\r\n":
                raise NotAnswered("a part of the answer is longer than it says")
        for _ in range(_MOST_HEADS):
            if not self._read_past(b"\r\n", _MOST_HEAD_BYTES):  # fields that follow the body
                return b"".join(parts)
        raise NotAnswered("what follows the answer does not end")

    def _read_past(self, mark: bytes, most: int) -> bytes:
        """What comes before a mark, which is read too."""
        while (at := self._unread.find(mark)) < 0:
            if len(self._unread) > most:
                raise NotAnswered("the head of the answer does not end")
            self._unread += self._received()
        found, self._unread = self._unread[:at], self._unread[at + len(mark) :]
        return found

    def _read(self, count: int) -> bytes:
        if len(self._unread) >= count:
            found, self._unread = self._unread[:count], self._unread[count:]
            return found
        parts, missing = [self._unread], count - len(self._unread)
        self._unread = b""
        while missing > 0:
            part = self._received(min(missing, 16 * _PART_BYTES))
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _rest(self) -> bytes:
        parts, self._unread = [self._unread], b""
        whole = _bounded(len(parts[0]))
        while part := self._part(_PART_BYTES):
            parts.append(part)
            whole = _bounded(whole + len(part))
        return b"".join(parts)

    def _received(self, most: int = _PART_BYTES) -> bytes:
        part = self._part(most)
        if not part:
            raise NotAnswered("the connection ended before the answer did")
        return part

    def _part(self, most: int) -> bytes:
        """What comes next; a wait for it has an end, and so have many short ones for next to nothing."""
        part, now = self._line.recv(most), time.monotonic()
        self._came += len(part)
        if self._since is None or self._came >= _PART_BYTES:
            self._since, self._came = now, 0
        elif part and now - self._since > self._seconds:
            raise NotAnswered(f"of the answer only {self._came} bytes came in {self._seconds:g} s")
        return part


def _bounded(length: int) -> int:
    if length > _MOST_BYTES:
        raise NotAnswered(
            f"the answer has {length} bytes or more, and {_MOST_BYTES} is the most that is read"
        )
    return length


def _parse_head(head: bytes) -> tuple[int, int, Mapping[str, str]]:
    first, *rest = head.split(b"\r\n")
    status = _STATUS.fullmatch(first)
    if status is None:
        raise NotAnswered("what came is not HTTP/1.1")
    headers: dict[str, str] = {}
    for line in rest:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise NotAnswered("what came has a line that is no header")
        name, value = field[1].decode().lower(), field[2].decode("latin-1").rstrip(" \t")
        if name == "content-length" and headers.get(name, value) != value:
            raise NotAnswered("the answer announces two lengths")
        headers[name] = value
    return int(status[1]), int(status[2]), headers


def _request(
    place: _Place, method: str, target: str, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    whole = place.prefix + target
    path = whole if _PLAIN_TARGET.fullmatch(whole) else quote(whole, safe="%/:=&?~+!$,;'@()*[]")
    fields = {"Host": place.named, "Accept-Encoding": "identity", "User-Agent": "headgate", **headers}
    if body is not None or method in ("POST", "PUT", "PATCH"):
        fields["Content-Length"] = str(len(body or b""))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    if _UNSAFE_IN_FIELDS.search(lines) or lines.count("\n") + lines.count("\r") != 2 * len(fields):
        raise InvalidRequest("a token or a name has a character that no header takes: correct it")
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + (body or b"")


def _tls(ca_file: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as exc:
        raise InvalidRequest(
            f"the certificates in {ca_file!r} cannot be read: {exc}. Name another file with "
            "Settings(http=HttpSettings(ca_file=…))"
        ) from exc
    context.set_alpn_protocols(["http/1.1"])
    return context
