"""What is kept between two reads of a snapshot, and for how long."""

import gc
import weakref
from typing import Any

from headgate.spark.scan import scan_cache
from headgate.spark.scan.scan_cache import SoftReferences
from headgate.table.read.live_files import LiveFiles


class Context:
    """As much of a Spark context as it takes to tell whether it was stopped."""

    def __init__(self) -> None:
        self._jsc: object | None = object()

    def stop(self) -> None:
        self._jsc = None


class Soft:
    """A reference that a JVM may clear."""

    def __init__(self, held: object) -> None:
        self.held: object | None = held

    def get(self) -> object | None:
        return self.held


def test_a_plan_is_made_once_for_the_same_files_and_key() -> None:
    files, other = LiveFiles(), LiveFiles()
    made: list[str] = []

    def make(name: str) -> str:
        return scan_cache.cached_plan(
            files if name != "c" else other, name[0], lambda: made.append(name) or name
        )

    assert [make(name) for name in ("a", "a2", "b", "c", "a3")] == ["a", "a", "b", "c", "a"]
    assert made == ["a", "b", "c"]


def test_few_plans_of_one_snapshot_are_kept() -> None:
    files = LiveFiles()
    for key in range(10):
        scan_cache.cached_plan(files, key, lambda: key)  # noqa: B023 - it is called at once

    assert scan_cache.cached_plan(files, 9, lambda: "anew") == 9
    assert scan_cache.cached_plan(files, 0, lambda: "anew") == "anew"


def test_a_plan_goes_with_the_files_it_is_of() -> None:
    files = LiveFiles()
    gone = weakref.ref(scan_cache.cached_plan(files, "key", SoftReferences))

    gc.collect()
    assert gone() is not None
    del files
    gc.collect()

    assert gone() is None


def test_what_the_jvm_dropped_is_no_longer_there() -> None:
    held, context, soft = SoftReferences(), Context(), Soft("arrays")
    put: Any = held.put
    put(context, ("a",), soft)
    get: Any = held.get

    assert (get(context, ("a",)), get(context, ("b",)), get(Context(), ("a",))) == ("arrays", None, None)
    soft.held = None
    assert get(context, ("a",)) is None


def test_nothing_is_kept_for_a_context_that_was_stopped_or_is_gone() -> None:
    held, stopped, forgotten = SoftReferences(), Context(), Context()
    references = []
    for context in (stopped, forgotten):
        soft = Soft("arrays")
        references.append(weakref.ref(soft))
        put: Any = held.put
        put(context, (), soft)
    del soft, context, forgotten
    stopped.stop()

    get: Any = held.get
    assert get(Context(), ()) is None

    gc.collect()
    assert [reference() for reference in references] == [None, None]
