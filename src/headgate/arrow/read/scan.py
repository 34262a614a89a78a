"""What are the rows of a snapshot, as an Arrow table? Read in this process, without Spark and without a JVM.

Files that cannot have rows which a condition selects are left out by their statistics, as Spark's scan does
it; the rows of the others are filtered exactly, or the condition is refused by name. With a limit no more
files are opened than it takes.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from headgate.arrow.read import file_columns
from headgate.arrow.read.data_file import FileReader, LiveFile
from headgate.deferred import deferred
from headgate.errors import InvalidRequest
from headgate.protocol.actions import DeletionVector
from headgate.protocol.log.deletion_vectors import DeletedRows
from headgate.protocol.predicates.tree import Predicate
from headgate.protocol.schema.types import Field, Struct
from headgate.spelling import did_you_mean
from headgate.storage.parallel_reads import ParallelReads
from headgate.storage.store import Store
from headgate.table.opened_table import OpenedTable
from headgate.table.read import arrow_memory
from headgate.table.read.snapshot import Snapshot

if TYPE_CHECKING:
    from headgate.arrow import row_filter
    from headgate.protocol.predicates import from_sql, sql_conditions
    from headgate.protocol.stats import data_skipping
    from headgate.table.data_files import deleted_rows
else:
    row_filter = deferred("headgate.arrow", "row_filter")
    from_sql = deferred("headgate.protocol.predicates", "from_sql")
    sql_conditions = deferred("headgate.protocol.predicates", "sql_conditions")
    data_skipping = deferred("headgate.protocol.stats", "data_skipping")
    deleted_rows = deferred("headgate.table.data_files", "deleted_rows")

_READERS = min(8, os.cpu_count() or 1)
_FILES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class RowRequest:
    """Which rows and columns are asked for."""

    columns: tuple[str, ...] | None = None
    where: str | None = None
    limit: int | None = None
    time_zone: Callable[[], str] = lambda: ""
    """In which zone moments of the condition are that name none; an empty one refuses them."""

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise InvalidRequest(f"limit is how many rows to read at most, so not {self.limit}: correct it")
        if self.columns is not None and not self.columns:
            raise InvalidRequest("columns names no column: name one, or leave it out for all of them")


ALL_ROWS = RowRequest()


def to_arrow(table: OpenedTable, snapshot: Snapshot, asked: RowRequest = ALL_ROWS) -> pa.Table:
    """The rows of a snapshot that are asked for, all columns nullable."""
    arrow_memory.prefer_jemalloc()
    stored = file_columns.stored_columns(snapshot.state.metadata)
    shown = _shown_fields(stored.schema, asked.columns)
    wanted = _predicate(asked, stored.schema)
    files = _select_files(table, snapshot, wanted)
    fields = _with_filtered(shown, wanted, stored.schema)
    reader = FileReader(table.store, table.location, stored, fields)
    keep = partial(_keep, wanted, tuple(field.name for field in shown))
    empty = keep(reader.schema.empty_table())
    pieces = (
        _read(reader, live_files(table, files), keep)
        if asked.limit is None
        else _read_some(reader, _live_files_by_need(table, files), keep, asked.limit)
    )
    return pa.concat_tables([empty, *pieces])


def _read(
    reader: FileReader, files: Sequence[LiveFile], keep: Callable[[pa.Table], pa.Table]
) -> list[pa.Table]:
    at_once = _readers(reader.store)
    if len(files) < 2:
        return [keep(reader.read(file)) for file in files]
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda file: keep(reader.read(file)), files))


def _readers(store: Store) -> int:
    """How many files are read side by side: more where each answer takes long."""
    return max(_READERS, store.reads_at_once) if isinstance(store, ParallelReads) else _READERS


def _read_some(
    reader: FileReader, files: Iterable[LiveFile], keep: Callable[[pa.Table], pa.Table], limit: int
) -> Iterator[pa.Table]:
    left = limit
    for file in files if limit else ():
        for rows in reader.batches(file):
            found = keep(rows)
            yield found.slice(0, min(left, found.num_rows))  # C counts no further than a long
            left -= found.num_rows
            if left <= 0:
                return


def _keep(wanted: Predicate | None, shown: Sequence[str], rows: pa.Table) -> pa.Table:
    """Those of the rows that are selected, with the columns that are shown."""
    if wanted is not None:
        named = dict(zip(rows.column_names, rows.columns, strict=True))
        mask = row_filter.true_for(wanted, named, rows.num_rows)
        if mask is not None:
            rows = rows.filter(mask)
    return rows.select(list(shown))


def _predicate(asked: RowRequest, schema: Struct) -> Predicate | None:
    if asked.where is None:
        return None
    found = from_sql.parse(asked.where, schema, time_zone="")
    if sql_conditions.has_syntax_error(asked.where):
        raise InvalidRequest(
            f"the condition {asked.where!r} has a syntax error, or is written as only Spark reads it: "
            "correct it, or use table.read(where=…)",
            code="PARSE_SYNTAX_ERROR",
        )
    if row_filter.first_opaque(found) is not None:  # a zone may be what is missing
        found = from_sql.parse(asked.where, schema, time_zone=asked.time_zone())
    return row_filter.require_exact(found, asked.where, "use table.read(where=…)")


def _shown_fields(schema: Struct, columns: Sequence[str] | None) -> tuple[Field, ...]:
    if columns is None:
        return schema.fields
    found = {}
    for name in columns:
        field = schema.find(name)
        if field is None:
            names = [field.name for field in schema.fields]
            raise InvalidRequest(
                f"there is no column {name!r}:{did_you_mean(name, names)} there are {', '.join(names)}",
                code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
            )
        if field.name in found:
            raise InvalidRequest(f"column {name!r} is asked for twice: name it once")
        found[field.name] = field
    return tuple(found.values())


def _with_filtered(shown: Sequence[Field], wanted: Predicate | None, schema: Struct) -> tuple[Field, ...]:
    """What is shown, and what else a condition looks at."""
    names = () if wanted is None else row_filter.top_level_names(wanted)
    known = {field.name for field in shown}
    return (*shown, *(field for field in schema.fields if field.name in names and field.name not in known))


def _select_files(table: OpenedTable, snapshot: Snapshot, wanted: Predicate | None) -> pa.Table:
    if wanted is None:
        table.scanned(snapshot, None, tuple)
        return snapshot.files.without_stats
    bounds = snapshot.bounds
    files = bounds.only(data_skipping.keep_mask(bounds, wanted)).files
    table.scanned(snapshot, wanted, files["path"].to_pylist)
    return files


def _live_files_by_need(table: OpenedTable, files: pa.Table) -> Iterator[LiveFile]:
    """The files, a few at a time: of a million that a table has a limit may need one."""
    for start in range(0, files.num_rows, _FILES_AT_ONCE):
        yield from live_files(table, files.slice(start, _FILES_AT_ONCE))


def live_files(table: OpenedTable, files: pa.Table) -> list[LiveFile]:
    """Files of a snapshot, which are columns, as what a reader takes."""
    paths, sizes = files["path"].to_pylist(), files["size"].to_pylist()
    values = files["partition_values"].to_pylist()
    vectors = files["deletion_vector"]
    deleted: Sequence[DeletedRows | None] = [None] * len(paths)
    if vectors.null_count < len(vectors):
        found = [None if row is None else DeletionVector(**row) for row in vectors.to_pylist()]
        deleted = deleted_rows.fetch_deleted_rows(table.store, table.location, found)
    return [
        LiveFile(path, size, dict(value or ()), gone)
        for path, size, value, gone in zip(paths, sizes, values, deleted, strict=True)
    ]
