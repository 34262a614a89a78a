"""Those who wait at the same moment go together: the work is done once for all, and each gets its own answer.

Whoever comes first leads at once, alone. Whoever comes while it works queues up, and the first of those leads
all that wait when it is done. So nobody waits for company, and the busier it is the larger the groups.

Threads commit to one SQLite catalog, and a transaction takes 3 ms. The first leads alone; five come while
it works:

    0 ms   A leads [A]
    1 ms   B, C, D, E and F wait
    3 ms   A has its answer; B is called to lead [B, C, D, E, F]
    6 ms   all five have theirs, by one transaction and one sync
"""

import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(eq=False, slots=True)
class _Waiter(Generic[Item, Answer]):
    """One who waits, until called: to lead, or with an answer."""

    item: Item
    called: threading.Event = field(default_factory=threading.Event)
    leads: bool = False
    answers: list[Answer] = field(default_factory=list)


class GroupCommit(Generic[Item, Answer]):
    """Does ``work`` for the items of many threads; groups of the same lane follow each other.

    ``work`` answers each item of a group, in order. Should it be interrupted, the others of the
    group get ``interrupted``: nobody knows what became of them.
    """

    def __init__(
        self, work: Callable[[Sequence[Item]], Sequence[Answer]], *, limit: int, interrupted: Answer
    ) -> None:
        self._work = work
        self._limit = limit
        self._interrupted = interrupted
        self._lock = threading.Lock()
        self._lanes: dict[Hashable, deque[_Waiter[Item, Answer]]] = {}  # those where somebody is at work

    def submit(self, lane: Hashable, item: Item) -> Answer:
        """The answer to ``item``, which is worked on after all that came to the lane before it."""
        place = _Waiter[Item, Answer](item)
        with self._lock:
            place.leads = lane not in self._lanes
            self._lanes.setdefault(lane, deque()).append(place)
        if not place.leads:
            self._wait(lane, place)
        if place.leads:
            self._lead(lane)
        return place.answers[0]

    def _wait(self, lane: Hashable, place: _Waiter[Item, Answer]) -> None:
        try:
            place.called.wait()
        except BaseException:
            with self._lock:
                if place in self._lanes.get(lane, ()):
                    self._lanes[lane].remove(place)
                    if place.leads:
                        self._call_next(lane)
            raise

    def _lead(self, lane: Hashable) -> None:
        with self._lock:
            queue = self._lanes[lane]
            group = [queue.popleft() for _ in range(min(len(queue), self._limit))]
        answers: Sequence[Answer] = [self._interrupted] * len(group)
        try:
            answers = self._work([place.item for place in group])
        finally:
            with self._lock:
                self._call_next(lane)
            for place, answer in zip(group, answers, strict=True):
                place.answers.append(answer)
                place.called.set()

    def _call_next(self, lane: Hashable) -> None:
        queue = self._lanes[lane]
        if not queue:
            del self._lanes[lane]
            return
        queue[0].leads = True
        queue[0].called.set()
