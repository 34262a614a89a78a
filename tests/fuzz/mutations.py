"""How is a valid request spoiled? In its values, its shape, its bytes or its address; by a seed, so again."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.fuzz.valid_requests import RecordedRequest

VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**40,
    1e308,
    -0.0,
    0.5,
    "",
    " ",
    "x" * 5_000,
    "\0",
    "\ud800",
    "\u202e",
    "\r\nSet-Cookie: a=b",
    "../../etc/passwd",
    "/etc/passwd",
    "file:///etc/passwd",
    "%2e%2e%2f",
    "a.b.c.d",
    "'; DROP TABLE tables; --",
    "\\",
    '"',
    "NaN",
    "1",
    "null",
    "{}",
    "😀",
    "İ",
    "s3://bucket/x",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"a": {"b": {"c": []}}},
    [1, "a", None],
    "00000000000000000001.json",
    "_delta_log",
    "owner",
)
SEGMENTS = (
    "",
    ".",
    "..",
    "%2e%2e",
    "%00",
    "%0d%0a",
    "a%2Fb",
    "x" * 300,
    "%F0%9F%98%80",
    "%ff",
    "main",
    "test",
    "t",
    "0",
    "-1",
    "main.test.t",
    "a.b.c.d",
    "%1F",
    "*",
    "'",
    "main%1Ftest%1Ft",
    "select",
    "null",
)
QUERIES = (
    "after=x",
    "limit=-1",
    "max_results=2147483648",
    "page_token=%00",
    "force=maybe",
    "catalog=",
    "a=b&a=c",
    "%",
)


def mutate(
    request: RecordedRequest, chooser: random.Random, others: tuple[RecordedRequest, ...]
) -> RecordedRequest:
    """The request, spoiled in one way or a few."""
    for _ in range(chooser.choice((1, 1, 1, 2, 4))):
        request = chooser.choice(WAYS)(request, chooser, others)
    return request


def _value(request: RecordedRequest, chooser: random.Random, _: Any) -> RecordedRequest:
    return _edited(request, chooser, lambda: copy.deepcopy(chooser.choice(VALUES)))


def _borrowed(request: RecordedRequest, chooser: random.Random, others: Any) -> RecordedRequest:
    """A part of another request in the place of one of this."""
    donor = _parsed(chooser.choice(others))
    places = list(_places(donor))
    return _edited(request, chooser, lambda: _at(donor, chooser.choice(places)) if places else donor)


def _edited(request: RecordedRequest, chooser: random.Random, value: Callable[[], Any]) -> RecordedRequest:
    parsed = _parsed(request)
    places = list(_places(parsed))
    if not places:
        return replace(request, body=_encoded(value()))
    *way, last = chooser.choice(places)
    holder = _at(parsed, way)
    match chooser.randrange(6):
        case 0:
            del holder[last]
        case 1 if isinstance(holder, dict):
            holder[str(value())[:50]] = holder.pop(last)
        case 2 if isinstance(holder, list):
            holder.extend(copy.deepcopy(holder[last]) for _ in range(chooser.choice((1, 3, 500))))
        case _:
            holder[last] = value()
    return replace(request, body=_encoded(parsed))


def _nested(request: RecordedRequest, chooser: random.Random, _: Any) -> RecordedRequest:
    depth = chooser.choice((10, 99, 101, 5_000))
    opened, closed = chooser.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return replace(request, body=opened * depth + (request.body or b"1") + closed * depth)


def _bytes(request: RecordedRequest, chooser: random.Random, _: Any) -> RecordedRequest:
    body = bytearray(request.body or b"{}")
    at = chooser.randrange(len(body)) if body else 0
    match chooser.randrange(6):
        case 0:
            body[at : at + 1] = bytes([chooser.randrange(256)])
        case 1:
            del body[at:]
        case 2:
            body[at:at] = chooser.randbytes(chooser.choice((1, 4, 64)))
        case 3:
            body += bytes(body)
        case 4:
            body[at:at] = b"\xff\xfe\xed\xa0\x80"
        case _:
            body[at:at] = bytes(body[at : at + 40]) * 3
    return replace(request, body=bytes(body))


def _address(request: RecordedRequest, chooser: random.Random, _: Any) -> RecordedRequest:
    path, _, query = request.path.partition("?")
    segments = path.split("/")
    if chooser.randrange(3) == 0:
        return replace(request, path=f"{path}?{query}&{chooser.choice(QUERIES)}")
    segments[chooser.randrange(4, len(segments)) if len(segments) > 4 else -1] = chooser.choice(SEGMENTS)
    return replace(request, path="/".join(segments))


def _method(request: RecordedRequest, chooser: random.Random, _: Any) -> RecordedRequest:
    return replace(
        request, method=chooser.choice(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
    )


def _other_body(request: RecordedRequest, chooser: random.Random, others: Any) -> RecordedRequest:
    return replace(request, body=chooser.choice(others).body)


WAYS = (
    _value,
    _value,
    _value,
    _value,
    _value,
    _borrowed,
    _borrowed,
    _nested,
    _bytes,
    _bytes,
    _address,
    _method,
    _other_body,
)


def _parsed(request: RecordedRequest) -> Any:
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        return {}


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if len(way) > 30:
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in list(inner)[:50]:
        yield (*way, key)
        yield from _places(each, (*way, key))


def _at(value: Any, way: Any) -> Any:
    for key in way:
        value = value[key]
    return value
