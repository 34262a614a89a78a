"""Does this store keep its word when asked to create an object only if there is none?

Some servers that speak S3 ignore the condition without a word and overwrite. There two writers
would both be told that they won a version, and one commit would be gone.
"""

import threading
from contextlib import suppress
from typing import Protocol, runtime_checkable
from uuid import uuid4

from headgate.errors import ObjectExists, StorageError, UnsafeStore
from headgate.storage.store import Store

_lock = threading.Lock()
_proven: set[str] = set()


@runtime_checkable
class NamedEndpoint(Protocol):
    """A store that another party serves, at a place with this name."""

    place: str | None


def require_conditional_puts(store: Store, folder: str) -> None:
    """Raise ``UnsafeStore`` if the store overwrites instead.

    Asked once per place and process, with an object of its own in ``folder``: on a store that does
    not keep its word, trying an object that matters would destroy it.
    """
    place = store.place if isinstance(store, NamedEndpoint) else None
    if place is None or place in _proven:
        return
    with _lock:
        if place not in _proven:
            _probe(store, f"{folder}{uuid4()}", place)
            _proven.add(place)


def _probe(store: Store, path: str, place: str) -> None:
    try:
        # The first may be refused too, if its answer was lost and it was sent again: that proves as much.
        store.put_if_absent(path, b"first")
        store.put_if_absent(path, b"second")
    except ObjectExists:
        return
    finally:
        with suppress(StorageError):  # a writer may lack the right to delete
            store.delete(path)
    raise UnsafeStore(
        f"{place} overwrites objects that it was asked to create only if they do not exist (If-None-Match), "
        "so concurrent commits could destroy each other; nothing was committed: use a server that keeps the "
        "condition, in most cases a newer release of the same",
        path=path, operation="put_if_absent",
    )  # fmt: skip
