"""How many rows data files have by their own footers, whatever the log says of them.

Asked before a file is taken away because all its rows are deleted: statistics of another writer may
count too few, and rows that nobody deleted would go with the file.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from headgate.errors import ObjectNotFound
from headgate.protocol.actions import AddFile
from headgate.spark.parquet import footers
from headgate.table.opened_table import OpenedTable
from headgate.table.read import file_paths

_READERS = 16


def row_counts(table: OpenedTable, files: Sequence[AddFile]) -> Mapping[str, int | None]:
    """By path, the rows of each file, deleted ones too; None where the footer cannot be read."""
    if not files:
        return {}
    paths = [file.path for file in files]
    with ThreadPoolExecutor(min(_READERS, len(paths))) as pool:
        return dict(zip(paths, pool.map(lambda path: _rows(table, path), paths), strict=True))


def _rows(table: OpenedTable, path: str) -> int | None:
    try:
        footer = footers.read(*file_paths.locate_object(table.store, table.location, path))
    except (ObjectNotFound, pa.ArrowException):
        return None
    return None if footer is None else int(footer.num_rows)
