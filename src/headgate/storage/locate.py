"""From a location to the store that holds it."""

import os
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from obstore.store import from_url

from headgate.errors import InvalidRequest
from headgate.storage.api import Store
from headgate.storage.local import LocalStore
from headgate.storage.object_store import ObjectStore

Locate = Callable[[str], Store]

_REMOTE = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "abfs": "abfs", "abfss": "abfss"}


def locate(location: str) -> Store:
    """The store rooted at a folder, a ``file:`` or a bucket URL; credentials come from the environment."""
    scheme = urlsplit(location).scheme
    if scheme in ("", "file"):
        return LocalStore(local_path(location))
    if scheme not in _REMOTE:
        raise InvalidRequest(
            f"{location!r}: {scheme}:// is not a store Headgate knows; use a folder or one of "
            + ", ".join(f"{name}://" for name in sorted(_REMOTE))
        )
    return ObjectStore(from_url(_REMOTE[scheme] + location.removeprefix(scheme)))


def local_path(location: str) -> str:
    """The absolute path of a local location."""
    parts = urlsplit(location)
    return os.path.abspath(unquote(parts.path) if parts.scheme == "file" else location)


def is_local(location: str) -> bool:
    """Whether the location is a folder of this machine."""
    return urlsplit(location).scheme in ("", "file")
