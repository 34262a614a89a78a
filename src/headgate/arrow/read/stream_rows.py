"""What are the rows of a batch of a stream, as Arrow tables? Read in this process, file after file.

    for rows in stream_rows(stream, stream.batch(start, end)):
        rows.to_pylist()

The stream says which files these are, and refuses a commit whose rows it cannot tell; see ``TableStream``.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from headgate.arrow.read import file_columns, scan
from headgate.arrow.read.data_file import FileReader, LiveFile
from headgate.protocol.actions import AddFile
from headgate.table.data_files import deleted_rows
from headgate.table.opened_table import OpenedTable
from headgate.table.read import arrow_memory
from headgate.table.stream.table_stream import StreamBatch, TableStream


def stream_rows(stream: TableStream, batch: StreamBatch) -> Iterator[pa.Table]:
    """The rows of a batch of added rows, some at a time."""
    if batch.failure is not None:
        raise batch.failure
    arrow_memory.prefer_jemalloc()
    table = stream.table
    stored = file_columns.stored_columns(stream.columns.metadata)
    reader = FileReader(table.store, table.location, stored, stored.schema.fields)
    files = [] if batch.initial is None else scan.live_files(table, batch.initial.files)
    for file in (*files, *_added_files(table, batch.added)):
        yield from reader.batches(file)


def _added_files(table: OpenedTable, added: Sequence[AddFile]) -> Iterator[LiveFile]:
    vectors = [add.deletion_vector for add in added]
    deleted = deleted_rows.fetch_deleted_rows(table.store, table.location, vectors)
    for add, gone in zip(added, deleted, strict=True):
        yield LiveFile(add.path, add.size, add.partition_values, gone)
