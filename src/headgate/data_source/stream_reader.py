"""How is a table read as a stream through Python, where Spark's own engine cannot ask this process?

Offsets and files are those of ``table/stream``; a task reads its files as Arrow batches. Spark 4.0 and 4.1
tell a reader neither where a batch begins nor how much it may take, so batches take all there is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType
from typing_extensions import override

from headgate.data_source import batch_reader, file_tasks, table_finders
from headgate.data_source.table_finders import OWN_OPTIONS, TableFinder
from headgate.protocol.actions import AddFile
from headgate.spark.scan import change_feed
from headgate.spark.streaming import stream_read_kwargs
from headgate.spark.streaming.read_option_rows import ReadKind, parse_read_options
from headgate.table.read.live_files import table_as_adds
from headgate.table.stream import stream_offsets
from headgate.table.stream.admission import UNLIMITED
from headgate.table.stream.awaited_offsets import AwaitedOffsets
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import StreamReadOptions
from headgate.table.stream.table_stream import StreamBatch, TableStream

try:
    from pyspark.sql.streaming.datasource import ReadMaxFiles, SupportsTriggerAvailableNow
except ImportError:  # Spark 4.0 and 4.1, which ask neither for a limit nor for a last version

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """What later versions of Spark look for."""

    ReadMaxFiles = None  # type: ignore[assignment,misc]

MARK = "headgateMark"
"""The option by which the plan of a stream tells which table it reads."""
_BEGINNING: Mapping[str, Any] = {"begins": True}
"""What Spark is told a stream begins with: where that was, the offset of its first batch says."""
_EVERYTHING = "ReadAllAvailable"
_ONLY_RUN = ""
"""Each run of a query makes a reader of its own."""


def stream_options_of(options: Mapping[str, str]) -> StreamReadOptions:
    """What the options of a stream ask for."""
    asked: Any = parse_read_options(options, ReadKind.STREAM, besides=(*OWN_OPTIONS, MARK))
    return stream_read_kwargs.from_read_kwargs(asked)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of a table."""

    def __init__(self, find: TableFinder, asked: Callable[[], StreamReadOptions], schema: StructType) -> None:
        self._find, self._ask, self._names = find, asked, list(schema.names)
        self._until: int | None = None
        self._first: StreamOffset | None = None

    @override
    def initialOffset(self) -> dict[str, Any]:
        return dict(_BEGINNING)

    @override
    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Any]:
        begins = self._begins(start)
        all_of_it = limit is None or type(limit).__name__ == _EVERYTHING
        limits = UNLIMITED if all_of_it else None
        end = self._offsets.latest_offset(_ONLY_RUN, begins, limits, until=self._until)
        self._first = end.first
        return stream_offsets.to_plain(end)

    @override
    def getDefaultReadLimit(self) -> Any:
        return ReadMaxFiles(self._stream.settings.limits.files or 2**31 - 1)

    @override
    def prepareForTriggerAvailableNow(self) -> None:
        self._until = self._stream.newest_version()

    @override
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start == end:
            return []
        begins = None if start == _BEGINNING else stream_offsets.from_plain(start)
        stream = self._stream
        batch = stream.batch(begins, stream_offsets.from_plain(end))
        if batch.failure is not None:
            raise batch.failure
        feed = stream.settings.read_change_feed
        columns = batch_reader.task_columns(stream.columns.metadata, self._names, feed=feed)
        store = table_finders.store_opener(stream.table, self._find)
        files = _files(stream, batch)
        return [
            InputPartition(task)
            for task in file_tasks.pack_tasks(stream.table.location, store, columns, files)
        ]

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return file_tasks.read_batches(partition.value)

    @cached_property
    def _stream(self) -> TableStream:
        table = self._find()
        return TableStream(table, self._ask(), table.snapshot())

    @cached_property
    def _offsets(self) -> AwaitedOffsets:
        return AwaitedOffsets(self._stream)

    def _begins(self, start: Any) -> StreamOffset | None:
        if start is None:  # of a version of Spark that does not tell
            return self._first
        return None if start == _BEGINNING else stream_offsets.from_plain(start)

    @override
    def __reduce__(self) -> Any:
        return type(self), (self._find, self._ask, _Names(self._names))


class _Names:
    """All that tasks need of a schema."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)


def _files(stream: TableStream, batch: StreamBatch) -> list[AddFile]:
    table = stream.table
    initial = [] if batch.initial is None else table_as_adds(batch.initial.files)
    if not stream.settings.read_change_feed:
        return [*initial, *batch.added]
    changed = [*change_feed.files_of_changes(table, batch.changes)]
    if batch.initial is None:
        return changed
    version = batch.initial.version
    return [*change_feed.as_inserted(initial, version, stream.initial_timestamp(version)), *changed]
