"""Parquet files of a checkpoint: written to a temporary file of this machine, then put into the store.

So a checkpoint may be larger than memory, and nobody ever sees half of one.
"""

import mmap
import tempfile
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
from typing_extensions import Buffer

from headgate.protocol.log.checkpoint_schema import parquet_leaves

_GROUP_ROWS = 64 * 1024
_GROUP_BYTES = 32 * 1024 * 1024
_LONG_TEXTS = frozenset({"add.path", "add.stats", "remove.path", "metaData.schemaString"})

Put = Callable[[Buffer], None]


class CheckpointParquetFile:
    """One file in the making: a context, whose ``put`` is the last act."""

    def __init__(self, columns: Mapping[str, pa.DataType], compression: str) -> None:
        self._schema = pa.schema(columns)
        leaves = [leaf for name, kind in columns.items() for leaf in parquet_leaves(name, kind)]
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 — this is a context itself
        self._writer = pq.ParquetWriter(
            self._file,
            self._schema,
            compression=compression,
            use_dictionary=[leaf for leaf in leaves if ".key_value." in leaf or leaf.endswith("Provider")],
            # Readers find the rows of an action by counts of nulls; of long texts bounds are of no use.
            write_statistics=[
                leaf for leaf in leaves if leaf not in _LONG_TEXTS - {"add.path", "remove.path"}
            ],
        )
        self._waiting: list[pa.Table] = []
        self.rows = 0
        self.size_bytes = 0

    def __enter__(self) -> "CheckpointParquetFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        self._file.close()

    def write(self, column: str, rows: pa.Array) -> None:
        """More rows of one kind; they are kept until there are enough for a row group."""
        nulls = {part.name: pa.nulls(len(rows), part.type) for part in self._schema}
        self._waiting.append(pa.table({**nulls, column: rows}, schema=self._schema))
        self.rows += len(rows)
        if (
            sum(table.num_rows for table in self._waiting) >= _GROUP_ROWS
            or sum(table[column].nbytes for table in self._waiting) >= _GROUP_BYTES
        ):
            self._flush()

    def put(self, put: Put) -> None:
        """Finish the file and hand its content over."""
        self._flush()
        self._writer.close()
        self._file.flush()
        content = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self.size_bytes = len(content)
        put(content)

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting), row_group_size=_GROUP_ROWS)
        self._waiting = []
