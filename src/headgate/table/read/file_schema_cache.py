"""What data files say of their columns, remembered while a table is open: files never change."""

import threading

import pyarrow as pa

MAX_FILES = 65_536
"""How many files are remembered; beyond that the ones remembered first are forgotten."""

Key = tuple[str, int]


class FileSchemaCache:
    """Schemas of data files by path and size; equal ones are kept once. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[Key, pa.Schema] = {}
        self._alike: dict[bytes, pa.Schema] = {}

    def get(self, key: Key) -> pa.Schema | None:
        """The schema of a file, if it is remembered."""
        return self._found.get(key)

    def put(self, key: Key, schema: pa.Schema) -> None:
        """Remember the schema of a file."""
        # Schemas compare equal without their field ids, so they are compared as bytes.
        same = schema.serialize().to_pybytes()
        with self._lock:
            if len(self._found) >= MAX_FILES:
                self._found.pop(next(iter(self._found)))
            if len(self._alike) >= MAX_FILES:
                self._alike.clear()
            self._found[key] = self._alike.setdefault(same, schema)
