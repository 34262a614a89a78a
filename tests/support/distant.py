"""A store whose every answer takes a while, and which counts the waits."""

import threading
import time

from typing_extensions import override

from headgate.storage.store import ObjectMeta, Store
from tests.support.delegating_store import DelegatingStore


class DistantStore(DelegatingStore):
    """Another store far away: reads and heads take ``seconds``, ``at_once`` of them may pass together.

    ``alone`` counts those beside which no other was under way.
    """

    def __init__(self, store: Store, *, at_once: int = 16, seconds: float = 0.002) -> None:
        super().__init__(store)
        self.reads_at_once = at_once
        self.reads = 0
        self.under_way = 0
        self.peak = 0
        self.alone = 0
        self._seconds = seconds
        self._lock = threading.Lock()

    @override
    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        self._travel()
        return super().read(path, last=last, at=at)

    @override
    def head(self, path: str) -> ObjectMeta:
        self._travel()
        return super().head(path)

    def _travel(self) -> None:
        with self._lock:
            self.reads += 1
            self.under_way += 1
            self.peak = max(self.peak, self.under_way)
            mine, first = self.reads, self.under_way == 1
        time.sleep(self._seconds)
        with self._lock:
            self.under_way -= 1
            self.alone += first and self.reads == mine
