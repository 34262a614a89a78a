"""From a location to the store that holds it."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from obstore.store import ObjectStore as Client
from obstore.store import from_url

from headgate.errors import InvalidRequest
from headgate.storage.credentials import CredentialSource
from headgate.storage.local import LocalStore
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store
from headgate.storage.vended_clients import VendedPlace

if TYPE_CHECKING:  # obstore has it for type checkers alone
    from obstore.store import RetryConfig

Locate = Callable[[str], Store]

_REMOTE = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "abfs": "abfs", "abfss": "abfss"}
"""The schemes of stores that are known, and what obstore calls each."""

# Shorter than obstore's three minutes, because a commit asks up to ``max_unanswered`` times.
_PATIENT: "RetryConfig" = {"max_retries": 10, "retry_timeout": timedelta(seconds=30)}
_ONCE: "RetryConfig" = {"max_retries": 0}
_HERE = ("", "localhost")
_SCHEME_ALONE = re.compile(r"[^/]*:(/|$)")
"""How a URL begins; a folder may have a colon in the middle of its name."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


def locate(location: str, vended: CredentialSource | None = None) -> Store:
    """The store rooted at a folder, a ``file:`` or a bucket URL.

    Credentials come from the environment, unless ``vended`` has some now; those are renewed by asking it.
    """
    parts = _split(location)
    scheme = parts.scheme
    if scheme in ("", "file"):
        return LocalStore(local_path(location))
    if scheme not in _REMOTE:
        raise InvalidRequest(
            f"{location!r}: {scheme}:// is not a store Headgate knows; use a folder or one of "
            + ", ".join(f"{name}://" for name in sorted(_REMOTE))
        )
    if parts.query or parts.fragment:  # what comes before would be another place
        raise InvalidRequest(
            f"{location!r} is not a place: a bucket URL must not have ? or #; if they belong to a name, "
            "write them as %3F and %23"
        )
    url = _REMOTE[scheme] + location.removeprefix(scheme)
    if vended is not None and any(each.config for each in vended()):
        return _vended(VendedPlace(url, vended))
    return _remote(url)


def _vended(place: VendedPlace) -> Store:
    # Without a client of the whole bucket: what was vended for a table does not open another one's files.
    endpoint = place.current().config.get("s3.endpoint", "")
    return ObjectStore(
        place.client(_PATIENT),
        once=place.client(_ONCE),
        place=_place_name(urlsplit(place.url), endpoint),
        vended=place.current,
    )


def _place_name(parts: SplitResult, endpoint: str) -> str:
    return f"{parts.scheme}://{parts.netloc}" + (f" at {endpoint}" if endpoint else "")


def _remote(url: str) -> Store:
    # No client options: they would replace all those of the environment, such as AWS_ALLOW_HTTP.
    client = _client(url)
    once = from_url(url, retry_config=_ONCE)
    parts = urlsplit(url)
    endpoint = next((os.environ[name] for name in _ENDPOINTS if name in os.environ), "")
    bucket = cache(lambda: _client(f"{parts.scheme}://{parts.netloc}"))
    return ObjectStore(client, once=once, place=_place_name(parts, endpoint), bucket=bucket)


def _client(url: str) -> Client:
    return from_url(url, retry_config=_PATIENT)


def local_path(location: str) -> str:
    """The absolute path of a local location."""
    parts = _split(location)
    if parts.scheme != "file":
        return os.path.abspath(location)
    if parts.query or parts.fragment:  # what comes before would be another folder
        raise InvalidRequest(
            f"{location!r} is not a folder: a file: URL must not have ? or #; if they belong to a name, "
            "write them as %3F and %23, or give the path without file:"
        )
    if parts.netloc.lower() not in _HERE:  # the rest of it would be another folder of this one
        raise InvalidRequest(
            f"{location!r} is a folder of the machine {parts.netloc!r}, not of this one: write file:/// "
            "before an absolute path, or give the path without file:"
        )
    return os.path.abspath(unquote(parts.path))


def is_local(location: str) -> bool:
    """Whether the location is a folder of this machine."""
    return _split(location).scheme in ("", "file")


def _split(location: str) -> SplitResult:
    if "\0" in location:
        raise InvalidRequest(f"{location!r} is not a place: no store has a name with a zero in it")
    try:
        parts = urlsplit(location)
    except ValueError as exc:
        raise InvalidRequest(f"{location!r} is not a place: {exc}; write it as a path or a URL") from exc
    is_url = parts.scheme == "file" or _SCHEME_ALONE.match(location) is not None
    return parts if is_url else SplitResult("", "", location, "", "")
