"""What is ``format("headgate")``? A data source of Spark in Python, for tables by path and by name.

It is for programs that name a format and cannot call ``table.read()``. Spark's Python data sources read all
columns of a table whatever a query selects, so ``table.read()`` and ``table.read_stream()``, which are
Spark's own parquet scan, are several times as fast.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType
from typing_extensions import override

from headgate.data_source import arrow_writer, batch_reader, stream_reader, table_finders
from headgate.data_source.arrow_writer import TableWriter
from headgate.data_source.batch_reader import BatchReader
from headgate.data_source.stream_reader import MARK, StreamReader
from headgate.data_source.table_finders import OWN_OPTIONS, Lakes, TableFinder
from headgate.errors import InvalidRequest, TableNotFound
from headgate.lake.lake import lake_at
from headgate.lake.path_table import at_path
from headgate.protocol.actions import Metadata
from headgate.spark.calls.user_calls import user_call
from headgate.spark.parquet import logical_columns
from headgate.spark.scan import change_feed, scan
from headgate.spark.session import schema as spark_schema
from headgate.spark.streaming.read_option_rows import ReadKind, parse_read_options
from headgate.table.stream.stream_read_settings import StreamReadOptions

FORMAT = "headgate"


class HeadgateSource(DataSource):
    """The format, without a lake; one that knows lakes is made of it when it is registered."""

    lakes: ClassVar[Lakes] = {}

    @classmethod
    @override
    def name(cls) -> str:
        return FORMAT

    @override
    def schema(self) -> StructType:
        options = self._given()
        feed = _is_feed(options)
        batch = {name: text for name, text in options.items() if not _is_of_streams(name)}
        asked = batch_reader.batch_options(batch) if len(batch) == len(options) else {}
        found = batch_reader.snapshot_of(self._finder()(), asked)
        return visible_columns(found.state.metadata, feed=feed)

    @override
    def reader(self, schema: StructType) -> DataSourceReader:
        return BatchReader(self._finder(), self._given(), schema)

    @override
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        asked = stream_reader.stream_options_of(self._given())
        return StreamReader(self._finder(), partial(_same, asked), schema)

    @override
    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        asked = arrow_writer.write_options_of(self._given())
        find = self._finder()
        try:
            find()
        except TableNotFound:
            self._create(schema)
        return TableWriter(find, asked, overwrite=overwrite)

    def _given(self) -> dict[str, str]:
        return {name: str(text) for name, text in self.options.items()}

    def _finder(self) -> TableFinder:
        return table_finders.find_by_options(self.options, self.lakes)

    def _create(self, schema: StructType) -> None:
        place = table_finders.path_option(self.options)
        if place is not None:
            at_path(place, columns=schema)
            return
        address, name = table_finders.table_name(self.options, self.lakes)
        lake_at(address).create_table(name, schema)


def visible_columns(metadata: Metadata, *, feed: bool) -> StructType:
    """The columns of a table as Spark is told them."""
    columns = change_feed.feed_columns(metadata) if feed else scan.scan_columns(metadata)
    return spark_schema.to_spark(logical_columns.visible_schema(columns.schema))


@user_call
def register_source(spark: SparkSession, lakes: Mapping[str, Any] | None = None) -> None:
    """Have a Spark session know ``format("headgate")``, for tables by path and by name in these lakes.

    ``lakes`` are lakes by the names they have here; ``lake.register(spark)`` does the same for one of them.

        headgate.register_source(spark, {"main": lake})
    """
    addresses = {name.lower(): _address(name, lake) for name, lake in (lakes or {}).items()}
    # Made here, so that it goes to the server and to the workers with the lakes that it knows.
    known = type("RegisteredSource", (HeadgateSource,), {"lakes": addresses})
    spark.dataSource.register(known)


def _address(name: str, lake: Any) -> Any:
    if lake.address is None:
        raise InvalidRequest(
            f"the lake {name!r} was opened in a way that another process cannot repeat, so a data source "
            "cannot reach it: open it with headgate.connect"
        )
    return lake.address


def _same(asked: StreamReadOptions) -> StreamReadOptions:
    return asked


def _is_feed(options: Mapping[str, str]) -> bool:
    rest = {name: text for name, text in options.items() if name.lower().startswith("readchange")}
    return bool(parse_read_options(rest, ReadKind.BATCH).get("read_change_feed", False))


def _is_of_streams(name: str) -> bool:
    """Whether only a stream takes an option; a schema is asked for before Spark tells which it is."""
    if name.lower() == MARK.lower():
        return True
    try:
        parse_read_options({name: "1"}, ReadKind.BATCH, besides=OWN_OPTIONS)
    except InvalidRequest as exc:
        return "there is no option" in exc.message
    return False
