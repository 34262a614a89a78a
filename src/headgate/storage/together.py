"""Many reads of one store, answered in the order asked for; awaited together where each takes long."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar, runtime_checkable

from headgate.storage.api import Store

Item = TypeVar("Item")
Answer = TypeVar("Answer")

AHEAD_BYTES = 64 * 1024 * 1024
"""What may be read ahead of its turn, as far as the largest answer until then foretells it."""


@runtime_checkable
class Distant(Protocol):
    """A store whose answers take so long that it pays to wait for several at once."""

    reads_at_once: int


def in_order(
    store: Store,
    work: Callable[[Item], Answer],
    items: Iterable[Item],
    *,
    size: Callable[[Answer], int] = lambda _: 0,
) -> Iterator[Answer]:
    """What ``work``, which reads from the store, gives for each item.

    An error is raised when its item's turn comes, so the first one in order is the one seen. With
    a ``size`` of answers in bytes fewer are read ahead if they are large.
    """
    if isinstance(store, Distant) and store.reads_at_once > 1:
        return _ahead(work, items, store.reads_at_once, size)
    return map(work, items)


def _ahead(
    work: Callable[[Item], Answer], items: Iterable[Item], at_once: int, size: Callable[[Answer], int]
) -> Iterator[Answer]:
    waiting: deque[Future[Answer]] = deque()
    largest = 1
    pool = ThreadPoolExecutor(at_once)
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            while len(waiting) >= max(1, min(at_once, AHEAD_BYTES // largest)):
                answer = waiting.popleft().result()
                largest = max(largest, size(answer))
                yield answer
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
