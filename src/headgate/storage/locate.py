"""From a location to the store that holds it."""

import os
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from obstore.store import ObjectStore as Client
from obstore.store import from_url

from headgate.errors import InvalidRequest
from headgate.storage import location_spelling
from headgate.storage.credentials import CredentialSource
from headgate.storage.local import LocalStore
from headgate.storage.object_store import ObjectStore
from headgate.storage.store import Store
from headgate.storage.vended_clients import VendedPlace

if TYPE_CHECKING:  # obstore has it for type checkers alone
    from obstore.store import RetryConfig

Locate = Callable[[str], Store]

_REMOTE = frozenset({"s3", "s3a", "gs", "az", "abfs", "abfss"})
"""The schemes of stores that are known."""

# Shorter than obstore's three minutes, because a commit asks up to ``max_unanswered`` times.
_PATIENT: "RetryConfig" = {"max_retries": 10, "retry_timeout": timedelta(seconds=30)}
_ONCE: "RetryConfig" = {"max_retries": 0}
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


def locate(location: str, vended: CredentialSource | None = None) -> Store:
    """The store rooted at a folder, a ``file:`` or a bucket URL.

    Credentials come from the environment, unless ``vended`` has some now; those are renewed by asking it.
    """
    parts = location_spelling.split_location(location)
    scheme = parts.scheme
    if scheme in ("", "file"):
        return LocalStore(location_spelling.local_path(location))
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
    url = location_spelling.store_scheme(scheme) + location.removeprefix(scheme)
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
