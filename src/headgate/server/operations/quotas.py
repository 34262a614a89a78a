"""How much of a server may one caller take? So many requests at once, and so many streams of events.

A place is taken when the caller is known and given back when the answer is out. Whoever has all of them is
told to come again, which changes nothing and starves nobody else.
"""

import threading
from collections import Counter
from collections.abc import Callable

from headgate.errors import CatalogUnavailable


class Quota:
    """So many places for each caller; safe to share between threads."""

    def __init__(self, thing: str, most: int) -> None:
        self._thing = thing
        self._most = most
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, principal: str) -> Callable[[], None]:
        """Take a place, and give what gives it back; ``CatalogUnavailable`` if the caller has them all."""
        with self._lock:
            if self._taken[principal] >= self._most:
                raise CatalogUnavailable(
                    f"one caller has at most {self._most} {self._thing} at once, and this is one more: "
                    "wait for an answer to one of the others, and come again",
                    code="HEADGATE_TOO_MANY_REQUESTS",
                )
            self._taken[principal] += 1
        given_back = threading.Lock()

        def give_back() -> None:
            if given_back.acquire(blocking=False):
                self._give_back(principal)

        return give_back

    def _give_back(self, principal: str) -> None:
        with self._lock:
            self._taken[principal] -= 1
            if not self._taken[principal]:
                del self._taken[principal]  # callers come and go

    def in_use(self) -> int:
        """How many places are taken, by all callers."""
        with self._lock:
            return self._taken.total()
