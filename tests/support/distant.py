"""A store whose every answer takes a while, and which counts the waits."""

import threading
import time
from collections.abc import Iterator

from headgate.storage.store import ObjectMeta, Store


class DistantStore:
    """Another store far away: reads and heads take ``seconds``, ``at_once`` of them may pass together."""

    def __init__(self, store: Store, *, at_once: int = 16, seconds: float = 0.002) -> None:
        self.reads_at_once = at_once
        self.reads = 0
        self.under_way = 0
        self.peak = 0
        self._store = store
        self._seconds = seconds
        self._lock = threading.Lock()

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        self._travel()
        return self._store.read(path, last=last, at=at)

    def put(self, path: str, data: bytes) -> None:
        self._store.put(path, data)

    def put_if_absent(self, path: str, data: bytes) -> None:
        self._store.put_if_absent(path, data)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        return self._store.list_from(prefix, after=after)

    def head(self, path: str) -> ObjectMeta:
        self._travel()
        return self._store.head(path)

    def delete(self, path: str) -> None:
        self._store.delete(path)

    def _travel(self) -> None:
        with self._lock:
            self.reads += 1
            self.under_way += 1
            self.peak = max(self.peak, self.under_way)
        time.sleep(self._seconds)
        with self._lock:
            self.under_way -= 1
