"""How is a table that a user holds read as a stream where only Python data sources work, as on Connect?"""

import uuid
from collections.abc import Callable
from functools import partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.types import StructType
from typing_extensions import override

from headgate.data_source import headgate_source
from headgate.data_source.headgate_source import HeadgateSource
from headgate.data_source.stream_reader import MARK, StreamReader
from headgate.spark.scan import scan_marks
from headgate.spark.streaming.micro_batch import Destination
from headgate.table.opened_table import OpenedTable
from headgate.table.stream.stream_read_settings import StreamReadOptions


class HeldTableSource(HeadgateSource):
    """The stream of one table, found again by what its holder knows."""

    format_name = ""
    again: Callable[[], Destination]
    asked: StreamReadOptions
    columns: StructType

    @classmethod
    @override
    def name(cls) -> str:
        return cls.format_name

    @override
    def schema(self) -> StructType:
        return self.columns

    @override
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        kind = type(self)
        return StreamReader(partial(_find, kind.again), partial(_asked, kind.asked), schema)


def stream_frame(
    spark: SparkSession, table: OpenedTable, again: Callable[[], Destination], asked: StreamReadOptions
) -> DataFrame:
    """The stream of a table, through a data source that is registered for it."""
    newest = table.snapshot()
    mark = scan_marks.new_stream_mark(table.location, newest.version)
    scan_marks.retain_mark(mark)
    name = f"{headgate_source.FORMAT}_{uuid.uuid4().hex}"
    columns = headgate_source.visible_columns(newest.state.metadata, feed=asked.read_change_feed)
    parts = {"format_name": name, "again": staticmethod(again), "asked": asked, "columns": columns}
    spark.dataSource.register(type("HeldTable", (HeldTableSource,), parts))
    return spark.readStream.format(name).option(MARK, mark.text).load()


def _find(again: Callable[[], Destination]) -> OpenedTable:
    return again().find()


def _asked(asked: StreamReadOptions) -> StreamReadOptions:
    return asked
