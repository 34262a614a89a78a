"""What time is it where files get their times? What a store says of a file that was just written there.

How old a file is must not depend on the clock of whoever asks: one that is ahead would find a file old that
was written a moment ago.
"""

from contextlib import suppress

from headgate.errors import ObjectNotFound, StorageError, StorageUnavailable
from headgate.storage.store import Store

_ATTEMPTS = 5


def now_ms(store: Store, path: str) -> int:
    """The store's time, by an object that is written for this and deleted again.

    Several may use the same path at once: whoever finds its object deleted by another writes it again.
    """
    for _ in range(_ATTEMPTS):
        store.put(path, b"now")
        try:
            return store.head(path).modified_ms
        except ObjectNotFound:
            continue
        finally:
            with suppress(StorageError):  # a writer may lack the right to delete
                store.delete(path)
    raise StorageUnavailable("the store's time could not be found out", path=path, operation="head")
