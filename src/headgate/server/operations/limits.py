"""How much of a server may one request take? Rows by route, and what is refused before a handler sees it.

Everything here happens while the request is read: bodies come up to their limit and in their time, plain and
not compressed, and JSON of a sane shape. What goes on is bytes that are here already.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from litestar.types import HTTPScope, Receive

from headgate.errors import RequestRefused
from headgate.server.operations import json_shape
from headgate.server.settings import ServerSettings

_LONGEST_ADDRESS = 8 * 1024


class BodySize(Enum):
    """How large the bodies of a route may be."""

    NONE = "none"
    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class RouteLimit:
    """What the requests of some routes may take."""

    name: str
    paths: str
    body: BodySize
    is_timed: bool = True
    """Whether its answer must come to an end in the time of a request; a stream of events does not."""


ROUTE_LIMITS: tuple[RouteLimit, ...] = (
    RouteLimit("probes and metrics", r"/(health|ready|metrics|schema)(/.*)?", BodySize.NONE),
    RouteLimit("events", r"/api/headgate/v1/lakes/[^/]+/events(/stream)?", BodySize.NONE, is_timed=False),
    RouteLimit("the console's live pages", r"/console/lakes/[^/]+/live", BodySize.NONE, is_timed=False),
    RouteLimit("the console", r"/(console(/.*)?)?", BodySize.SMALL),
    RouteLimit("tokens", r"/.*/(auth|oauth|oauth2)/tokens?", BodySize.SMALL),
    RouteLimit("grants", r"/api/2\.1/unity-catalog/permissions(/.*)?", BodySize.SMALL),
    RouteLimit(
        "older names", r"/api/2\.1/unity-catalog/(catalogs|schemas|staging-tables)(/.*)?", BodySize.SMALL
    ),
    RouteLimit("credentials", r"/.*/temporary-(table|path)-credentials", BodySize.SMALL),
    RouteLimit("everything else", r".*", BodySize.LARGE),
)
_COMPILED = tuple((re.compile(row.paths, re.DOTALL), row) for row in ROUTE_LIMITS)


@lru_cache(maxsize=1_024)
def limit_for(path: str) -> RouteLimit:
    """The first row that fits."""
    return next(row for paths, row in _COMPILED if paths.fullmatch(path))


def headers_of(scope: HTTPScope) -> Mapping[str, str]:
    """The headers of a request, by names in lower case."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def require_modest_head(scope: HTTPScope, headers: Mapping[str, str], settings: ServerSettings) -> None:
    """Refuse headers or an address that are too long, and bodies that are compressed."""
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_ADDRESS:
        raise _refusal(414, "ADDRESS_TOO_LONG", f"an address has at most {_LONGEST_ADDRESS} characters")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > settings.header_bytes:
        raise _refusal(
            431, "HEADERS_TOO_LARGE", f"headers have at most {settings.header_bytes} bytes together"
        )
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise _refusal(415, "BODY_ENCODED", "a body is taken as it is: send it without Content-Encoding")


def require_announced_size(headers: Mapping[str, str], most: int) -> None:
    """Refuse a body that is said to be too large, before any of it is read."""
    announced = headers.get("content-length", "0")
    if announced.isascii() and announced.isdecimal() and len(announced) <= 20 and int(announced) <= most:
        return
    raise _too_large(most)


def require_size(body: bytes, most: int) -> None:
    """Refuse a body that is too large for what is asked."""
    if len(body) > most:
        raise _too_large(most)


def has_body(headers: Mapping[str, str]) -> bool:
    """Whether something is to come that has to be waited for."""
    return "transfer-encoding" in headers or int(headers.get("content-length", "0")) > 0


def may_be_large(headers: Mapping[str, str], settings: ServerSettings) -> bool:
    """Whether a body is said to be large, or nothing is said: then its sender is asked for first (T9)."""
    announced = headers.get("content-length", "0")
    return "transfer-encoding" in headers or int(announced) > settings.small_body_bytes


def body_limit(row: RouteLimit, settings: ServerSettings) -> int:
    """How many bytes a body may have."""
    sizes = {BodySize.NONE: 0, BodySize.SMALL: settings.small_body_bytes, BodySize.LARGE: settings.body_bytes}
    return sizes[row.body]


def announced_size(headers: Mapping[str, str]) -> int | None:
    """How many bytes a body is said to have; None if nothing is said, or it comes in chunks."""
    if "transfer-encoding" in headers or "content-length" not in headers:
        return None
    return int(headers["content-length"])


async def read_body(receive: Receive, *, announced: int | None, most: int, seconds: float) -> bytes:
    """The whole body, which may have so many bytes and take so long."""
    try:
        async with asyncio.timeout(seconds):
            return await _read_all(receive, announced, most)
    except TimeoutError as exc:
        raise _refusal(408, "BODY_TOO_SLOW", f"a body comes within {seconds:g} s: send it faster") from exc


async def _read_all(receive: Receive, announced: int | None, most: int) -> bytes:
    """All of it; not its end, which is a message of its own, if all that was announced is here."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _refusal(400, "BODY_CUT_OFF", "the caller hung up in the middle of the body")
        if message["type"] != "http.request":
            continue
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
        if size == announced or not message.get("more_body", False):
            return b"".join(parts)


def require_sane_json(body: bytes, settings: ServerSettings) -> None:
    """Refuse what is no text, JSON of too many values, and then JSON that is nested too deeply."""
    try:
        body.decode()
    except UnicodeDecodeError as exc:
        raise _refusal(400, "BODY_NOT_UTF_8", f"a body is UTF-8, and this one is not at {exc.start}") from exc
    if body.lstrip()[:1] not in (b"{", b"["):
        return
    if json_shape.has_more_values(body, settings.json_values):
        raise _refusal(413, "JSON_TOO_WIDE", f"a body has at most {settings.json_values} values: send fewer")
    if json_shape.is_deeper(body, settings.json_depth):
        raise _refusal(400, "JSON_TOO_DEEP", f"JSON is nested at most {settings.json_depth} deep")


def _too_large(most: int) -> RequestRefused:
    if most == 0:
        return _refusal(413, "BODY_TOO_LARGE", "this takes no body: leave it out")
    return _refusal(413, "BODY_TOO_LARGE", f"a body of this kind has at most {most} bytes: send it in parts")


def _refusal(status: int, code: str, sentence: str) -> RequestRefused:
    return RequestRefused(f"the request was refused: {sentence}", code=f"HEADGATE_{code}", status=status)
