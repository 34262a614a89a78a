"""A store in a dict, and a store whose calls pass a wire that may fail them."""

import threading
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from typing_extensions import Buffer

from headgate.errors import ObjectExists, ObjectNotFound, StorageUnavailable
from headgate.storage.store import ObjectMeta, Store

Answer = TypeVar("Answer")


class Wire(Protocol):
    """Carries calls to whoever performs them."""

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        """Perform the call and answer.

        ``unanswered`` is what the caller experiences when no answer comes: it is told whether the
        call is known not to have been performed.
        """
        ...


class PerfectWire:
    """Loses, delays and repeats nothing."""

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        return perform()


class RecordingWire:
    """Carries every call and remembers it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def call(
        self,
        name: str,
        perform: Callable[[], Answer],
        *,
        unanswered: Callable[[bool], Answer],
        writes: bool,
    ) -> Answer:
        self.calls.append(name)
        return perform()


class DictStore:
    """Objects in a dict; as strict as the port demands, and fast.

    Its clock counts what was written, from a moment on that a test may set.
    """

    first_ms = 0

    def __init__(self, first_ms: int | None = None) -> None:
        if first_ms is not None:
            self.first_ms = first_ms
        self._objects: dict[str, tuple[bytes, int]] = {}
        self._lock = threading.Lock()
        self._moment = 0

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        data, _ = self._found(path, "read")
        if at is not None:
            return data[at.start : at.stop]
        return data if last is None else data[max(0, len(data) - last) :]

    def put(self, path: str, data: Buffer) -> None:
        with self._lock:
            self._place(path, data)

    def put_if_absent(self, path: str, data: Buffer) -> None:
        with self._lock:
            if path in self._objects:
                raise ObjectExists(f"{path!r} exists already", path=path, operation="put_if_absent")
            self._place(path, data)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        with self._lock:
            found = sorted(path for path in self._objects if path.startswith(prefix))
            return iter([self._meta(path) for path in found if after is None or path > after])

    def head(self, path: str) -> ObjectMeta:
        self._found(path, "head")
        return self._meta(path)

    def delete(self, path: str) -> None:
        with self._lock:
            self._objects.pop(path, None)

    def _found(self, path: str, operation: str) -> tuple[bytes, int]:
        try:
            return self._objects[path]
        except KeyError:
            raise ObjectNotFound(f"{path!r} does not exist", path=path, operation=operation) from None

    def _place(self, path: str, data: Buffer) -> None:
        self._moment = max(self._moment + 1, self.first_ms)
        self._objects[path] = bytes(data), self._moment

    def _meta(self, path: str) -> ObjectMeta:
        data, moment = self._objects[path]
        return ObjectMeta(path, len(data), moment)


class FaultyStore:
    """Another store at the far end of a wire."""

    def __init__(self, store: Store, wire: Wire) -> None:
        self._store = store
        self._wire = wire

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        return self._call("read", path, lambda: self._store.read(path, last=last, at=at), writes=False)

    def put(self, path: str, data: Buffer) -> None:
        self._call("put", path, lambda: self._store.put(path, data), writes=True)

    def put_if_absent(self, path: str, data: Buffer) -> None:
        self._call("put_if_absent", path, lambda: self._store.put_if_absent(path, data), writes=True)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        def listed() -> list[ObjectMeta]:
            return list(self._store.list_from(prefix, after=after))

        return iter(self._call("list", prefix, listed, writes=False))

    def head(self, path: str) -> ObjectMeta:
        return self._call("head", path, lambda: self._store.head(path), writes=False)

    def delete(self, path: str) -> None:
        self._call("delete", path, lambda: self._store.delete(path), writes=True)

    def _call(self, operation: str, path: str, perform: Callable[[], Answer], *, writes: bool) -> Answer:
        def unanswered(untouched: bool) -> Answer:
            raise StorageUnavailable(f"{operation} {path!r}: no answer", path=path, operation=operation)

        return self._wire.call(f"{operation} {path}", perform, unanswered=unanswered, writes=writes)
