"""Many reads of one store, answered in the order asked for; awaited together where each takes long."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

from typing_extensions import Buffer

from headgate.storage.store import Store

Item = TypeVar("Item")
Answer = TypeVar("Answer")

AHEAD_BYTES = 64 * 1024 * 1024
"""What may be read ahead of its turn, as far as the largest answer until then foretells it."""


@runtime_checkable
class ParallelReads(Protocol):
    """A store whose answers take so long that it pays to wait for several at once."""

    reads_at_once: int


@runtime_checkable
class OrderedPuts(Protocol):
    """A store that creates many objects in less time than one after the other takes."""

    def put_in_order(self, objects: Sequence[tuple[str, Buffer]]) -> None:
        """Create each object; one that is there stays, and ``ObjectExists`` is raised if it differs.

        None appears before those that come earlier. All are durable once this returns; should it
        raise, only objects before the one that the error names may be there.
        """
        ...


def map_in_order(
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
    # Asked of the attribute: whether an object is of a protocol Python finds out anew each time.
    at_once: int = getattr(store, "reads_at_once", 1)
    return _read_ahead(work, items, at_once, size) if at_once > 1 else map(work, items)


def submit(pool: ThreadPoolExecutor, work: Callable[[], Answer]) -> "Future[Answer]":
    """Have the pool do it; at the exit of the interpreter, when pools take nothing more, it is done here."""
    try:
        return pool.submit(work)
    except RuntimeError:
        done: Future[Answer] = Future()
        try:
            done.set_result(work())
        except Exception as exc:  # whoever asks for the result gets it
            done.set_exception(exc)
        return done


def _read_ahead(
    work: Callable[[Item], Answer], items: Iterable[Item], at_once: int, size: Callable[[Answer], int]
) -> Iterator[Answer]:
    waiting: deque[Future[Answer]] = deque()
    largest = 1
    pool = ThreadPoolExecutor(at_once)
    try:
        for item in items:
            waiting.append(submit(pool, partial(work, item)))
            while len(waiting) >= max(1, min(at_once, AHEAD_BYTES // largest)):
                answer = waiting.popleft().result()
                largest = max(largest, size(answer))
                yield answer
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
