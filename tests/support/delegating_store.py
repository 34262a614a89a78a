"""A store that is another one: the six verbs, so that a test says only what it wants otherwise."""

from collections.abc import Iterator

from typing_extensions import Buffer

from headgate.storage.store import ObjectMeta, Store


class DelegatingStore:
    """Hands every call on as it is."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner

    def read(self, path: str, *, last: int | None = None, at: range | None = None) -> bytes:
        return self._inner.read(path, last=last, at=at)

    def put(self, path: str, data: Buffer) -> None:
        self._inner.put(path, data)

    def put_if_absent(self, path: str, data: Buffer) -> None:
        self._inner.put_if_absent(path, data)

    def list_from(self, prefix: str, *, after: str | None = None) -> Iterator[ObjectMeta]:
        return self._inner.list_from(prefix, after=after)

    def head(self, path: str) -> ObjectMeta:
        return self._inner.head(path)

    def delete(self, path: str) -> None:
        self._inner.delete(path)
