"""What does one task of Spark read? Some files of a table, in its Python process, as Arrow batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from headgate.arrow.read.data_file import FileReader, LiveFile
from headgate.arrow.read.file_columns import StoredColumns
from headgate.errors import SchemaMismatch
from headgate.protocol.actions import AddFile
from headgate.protocol.schema import column_mapping
from headgate.protocol.schema.column_mapping import ColumnMappingMode
from headgate.protocol.schema.types import Field, Struct
from headgate.storage.store import Store
from headgate.table.data_files import deleted_rows

_TASK_BYTES = 64 * 1024 * 1024
_TASK_FILES = 64


@dataclass(frozen=True, slots=True)
class TaskColumns:
    """The columns of a table, and those of them that are read."""

    schema: Struct
    mode: ColumnMappingMode
    wanted: tuple[Field, ...]

    @staticmethod
    def named(schema: Struct, mode: ColumnMappingMode, names: Sequence[str]) -> "TaskColumns":
        """The columns of these names, which Spark has planned with."""
        wanted = tuple(field for name in names if (field := schema.find(name)) is not None)
        if len(wanted) < len(names):
            raise SchemaMismatch(
                "the columns of the table changed since Spark planned the query: load it again",
                code="DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS",
            )
        return TaskColumns(schema, mode, wanted)

    def constants(self, file: AddFile) -> frozenset[str]:
        """The columns of which the log has the value, in lower case."""
        return frozenset(
            field.name.lower()
            for field in self.schema.fields
            if column_mapping.physical_name(field, self.mode) in file.partition_values
        )


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Files that one task reads."""

    location: str
    open_store: Callable[[], Store]
    columns: TaskColumns
    files: tuple[AddFile, ...]


def pack_tasks(
    location: str, open_store: Callable[[], Store], columns: TaskColumns, files: Iterable[AddFile]
) -> Iterator[ReadTask]:
    """Tasks of about the same size that together read all files."""
    taken: list[AddFile] = []
    for file in files:
        taken.append(file)
        if len(taken) >= _TASK_FILES or sum(each.size for each in taken) >= _TASK_BYTES:
            yield ReadTask(location, open_store, columns, tuple(taken))
            taken = []
    if taken:
        yield ReadTask(location, open_store, columns, tuple(taken))


def read_batches(task: ReadTask) -> Iterator[pa.RecordBatch]:
    """The rows of a task."""
    store, columns = task.open_store(), task.columns
    for file in task.files:
        stored = StoredColumns(columns.schema, columns.mode, columns.constants(file))
        reader = FileReader(store, task.location, stored, columns.wanted)
        vector = file.deletion_vector
        gone = None
        if vector is not None:
            gone = deleted_rows.fetch_deleted_rows(store, task.location, [vector])[0]
        for rows in reader.batches(LiveFile(file.path, file.size, file.partition_values, gone)):
            yield from rows.to_batches()
