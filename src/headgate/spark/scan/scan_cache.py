"""What is kept between two reads of one snapshot? How its files are read, and what the JVM made of them.

To name hundreds of thousands of files to the JVM takes longer than most queries do. What is kept lives as
long as the live files of the snapshot in this process. The JVM's part lives as long as their Spark context
too, and the JVM may drop it when it is short of memory.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaObject
from pyspark import SparkContext

from headgate.table.read.live_files import LiveFiles

Cached = TypeVar("Cached")

_MOST_PLANS = 2
"""Of one snapshot: with row ids and without."""
_plans: WeakKeyDictionary[LiveFiles, dict[Hashable, object]] = WeakKeyDictionary()
_lock = Lock()


def cached_plan(files: LiveFiles, key: Hashable, make: Callable[[], Cached]) -> Cached:
    """What ``make`` makes of all these files; for the same ``key`` it is asked once.

    What it makes must not hold ``files``, which would then live for ever.
    """
    with _lock:
        known = _plans.setdefault(files, {})
        if key in known:
            return known[key]  # type: ignore[return-value]  # of this key it was made by the same function
    made = make()
    with _lock:
        while len(known) >= _MOST_PLANS:
            known.pop(next(iter(known)))
        known[key] = made
    return made


class SoftReferences:
    """Objects that the JVM of a Spark context holds softly; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._soft: WeakKeyDictionary[SparkContext, dict[Hashable, JavaObject]] = WeakKeyDictionary()

    def get(self, context: SparkContext, key: Hashable) -> JavaObject | None:
        """What was put there, if the JVM still has it."""
        with self._lock:
            self._forget_stopped()
            soft = self._soft.get(context, {}).get(key)
        return None if soft is None else soft.get()

    def put(self, context: SparkContext, key: Hashable, soft: JavaObject) -> None:
        """Keep a ``java.lang.ref.SoftReference``."""
        with self._lock:
            self._soft.setdefault(context, {})[key] = soft

    def _forget_stopped(self) -> None:
        for context in [known for known in self._soft if known._jsc is None]:
            del self._soft[context]
