"""An object as a file, for readers that want parts of it: each read asks the store for that range."""

import os

from headgate.storage.store import Store


class RangeFile:
    """As much of Python's binary files as pyarrow uses."""

    closed = False

    def __init__(self, store: Store, path: str) -> None:
        self._store = store
        self._path = path
        self._size = store.head(path).size
        self._position = 0

    def size(self) -> int:
        return self._size

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = start + offset
        return self._position

    def read(self, count: int | None = None) -> bytes:
        stop = self._size if count is None or count < 0 else min(self._size, self._position + count)
        at = range(self._position, stop)
        self._position = max(self._position, stop)
        return self._store.read(self._path, at=at) if at else b""

    def close(self) -> None:
        self.closed = True
