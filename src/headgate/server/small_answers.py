"""How is a server of somebody else asked? For an answer that is small, soon there, and from nowhere else.

What it says may be as long as it likes, and may lead to an address within our own network: so an answer is
read up to a limit, as it is and not unpacked, and redirections are not followed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import urllib3

_ISSUER_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class SmallAnswer:
    """What came back."""

    status: int
    content: bytes
    is_whole: bool
    """Whether this is all of it."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """What is sent."""

    content: bytes
    headers: Mapping[str, str]


def form_body(fields: Mapping[str, str]) -> RequestBody:
    """A form as a browser sends one."""
    return RequestBody(urlencode(fields).encode(), {"Content-Type": "application/x-www-form-urlencoded"})


def ask(pool: urllib3.PoolManager, url: str, most_bytes: int, sent: RequestBody | None = None) -> SmallAnswer:
    """The answer to a GET, or if something is sent to a POST; ``HTTPError`` if there is none."""
    answer = pool.request(
        "GET" if sent is None else "POST",
        url,
        body=None if sent is None else sent.content,
        headers=None if sent is None else dict(sent.headers),
        redirect=False,
        preload_content=False,
    )
    try:
        content = answer.read(most_bytes + 1, decode_content=False)
    finally:
        answer.release_conn()
    return SmallAnswer(answer.status, content, is_whole=len(content) <= most_bytes)


def ask_issuer(url: str, timeout: urllib3.Timeout, sent: RequestBody | None = None) -> bytes:
    """What an issuer of tokens answers, asked once; ``HTTPError`` for all but a good answer."""
    with urllib3.PoolManager(retries=False, timeout=timeout) as pool:
        answer = ask(pool, url, _ISSUER_BYTES, sent)
    if answer.status != 200 or not answer.is_whole:
        raise urllib3.exceptions.HTTPError(f"status {answer.status}, {len(answer.content)} bytes")
    return answer.content
