"""How are the rows of a table, or its changes, read by ``spark.read.format("headgate")``?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType
from typing_extensions import override

from headgate.arrow.read import file_columns
from headgate.data_source import file_tasks, table_finders
from headgate.data_source.file_tasks import TaskColumns
from headgate.data_source.table_finders import OWN_OPTIONS, TableFinder
from headgate.errors import InvalidRequest
from headgate.protocol.actions import AddFile, Metadata
from headgate.spark.calls import moments
from headgate.spark.scan import change_feed
from headgate.spark.streaming.read_option_rows import ReadKind, parse_read_options
from headgate.table.opened_table import OpenedTable
from headgate.table.read.change_files import AtTimestamp, VersionRange
from headgate.table.read.live_files import table_as_adds
from headgate.table.read.snapshot import Snapshot

_OF_A_FEED = ("starting_version", "starting_timestamp", "ending_version", "ending_timestamp")


class BatchReader(DataSourceReader):
    """The rows of a version of a table, or of its change feed."""

    def __init__(self, find: TableFinder, options: Mapping[str, str], schema: StructType) -> None:
        self._find, self._options, self._names = find, dict(options), list(schema.names)

    @override
    def partitions(self) -> Sequence[InputPartition]:
        table = self._find()
        asked = batch_options(self._options)
        metadata, files = _feed(table, asked) if asked.get("read_change_feed") else _rows(table, asked)
        columns = task_columns(metadata, self._names, feed=bool(asked.get("read_change_feed")))
        store = table_finders.store_opener(table, self._find)
        return [InputPartition(task) for task in file_tasks.pack_tasks(table.location, store, columns, files)]

    @override
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return file_tasks.read_batches(partition.value)


def batch_options(options: Mapping[str, str]) -> dict[str, Any]:
    """What the options of a batch read ask for."""
    asked = parse_read_options(options, ReadKind.BATCH, besides=OWN_OPTIONS)
    alone = [name for name in _OF_A_FEED if name in asked]
    if alone and not asked.get("read_change_feed"):
        raise InvalidRequest(
            f"{alone[0]} says where a change feed begins or ends: ask for one, with readChangeFeed=true, or "
            "for a version, with versionAsOf"
        )
    return asked


def snapshot_of(table: OpenedTable, asked: Mapping[str, Any]) -> Snapshot:
    """The version that the options of a batch read mean; of a change feed the last."""
    moment = asked.get("timestamp", asked.get("ending_timestamp"))
    at = None if moment is None else moments.to_epoch_millis(moment)
    return table.snapshot(version=asked.get("version", asked.get("ending_version")), timestamp=at)


def task_columns(metadata: Metadata, names: Sequence[str], *, feed: bool) -> TaskColumns:
    """The columns that tasks read."""
    stored = file_columns.stored_columns(metadata)
    schema = change_feed.feed_columns(metadata).schema if feed else stored.schema
    return TaskColumns.named(schema, stored.mode, names)


def _rows(table: OpenedTable, asked: Mapping[str, Any]) -> tuple[Metadata, list[AddFile]]:
    found = snapshot_of(table, asked)
    return found.state.metadata, table_as_adds(found.files.without_stats)


def _feed(table: OpenedTable, asked: Mapping[str, Any]) -> tuple[Metadata, list[AddFile]]:
    start = _bound(asked, "starting")
    if start is None or isinstance(start, str):
        raise InvalidRequest("a change feed needs startingVersion or startingTimestamp: give one")
    end = _bound(asked, "ending")
    last, found = table.changes(VersionRange(start, None if isinstance(end, str) else end))
    return last.state.metadata, list(change_feed.files_of_changes(table, found))


def _bound(asked: Mapping[str, Any], which: str) -> int | str | AtTimestamp | None:
    moment = asked.get(f"{which}_timestamp")
    version: int | str | None = asked.get(f"{which}_version")
    return version if moment is None else AtTimestamp(moments.to_epoch_millis(moment))
