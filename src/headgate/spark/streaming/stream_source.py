"""How is a table the source of a stream of Spark? As a class of Python that Spark's engine asks, over py4j.

It is a ``Source`` to Spark, like that of files, with admission control. The engine asks how far a batch goes
(``latestOffset``), writes that into its checkpoint, and asks for the rows of the batch (``getBatch``): these
are a native scan of the files that the offsets name, so no row goes through Python. After a restart the
engine asks for the last batch again, and gets the same files.

``benchmarks/stream_source.py`` measures it beside a batch scan.
"""

from threading import local
from typing import Any

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaObject
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headgate.errors import InvalidRequest
from headgate.spark.jvm import streaming_classes
from headgate.spark.jvm.streaming_classes import StreamingClasses
from headgate.spark.scan import change_feed, scan, scan_marks
from headgate.table.opened_table import OpenedTable
from headgate.table.read.live_files import table_as_adds
from headgate.table.stream import stream_offsets
from headgate.table.stream.admission import UNLIMITED
from headgate.table.stream.awaited_offsets import AwaitedOffsets
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import StreamReadOptions
from headgate.table.stream.table_stream import StreamBatch, TableStream

_RUN = "spark.jobGroup.id"
"""What Spark says to the thread of a query, by the name of the run."""
_EVERYTHING = "ReadAllAvailable"


def read_stream(spark: SparkSession, table: OpenedTable, asked: StreamReadOptions) -> DataFrame:
    """The stream of a table, on a session whose driver is in this process."""
    gateway: Any = spark.sparkContext._gateway
    if not isinstance(gateway, ClientServer):
        raise InvalidRequest(
            "PYSPARK_PIN_THREAD is off, so Spark's streaming engine cannot ask this process for files: turn "
            "it on, or read by spark.readStream.format('headgate')"
        )
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]  # Spark's own
    stream = TableStream(table, asked, table.snapshot())
    source = _TableSource(spark, stream, streaming_classes.streaming_classes(gateway))
    return DataFrame(source.frame(), spark)


def batch_rows(spark: SparkSession, stream: TableStream, batch: StreamBatch) -> DataFrame:
    """The rows of a batch, which Spark is told are those of a stream."""
    table, metadata = stream.table, stream.columns.metadata
    if stream.settings.read_change_feed:
        columns = change_feed.feed_columns(metadata)
        files = [*change_feed.files_of_changes(table, batch.changes)]
        if batch.initial is not None:
            version = batch.initial.version
            inserted = table_as_adds(batch.initial.files)
            stamp = stream.initial_timestamp(version)
            files = [*change_feed.as_inserted(inserted, version, stamp), *files]
        return change_feed.rows_of_files(spark, table, columns, files, scan.stream_rows)
    columns = scan.scan_columns(metadata)
    added = [*batch.added]
    if batch.initial is None or not batch.initial.files.num_rows:
        return change_feed.rows_of_files(spark, table, columns, added, scan.stream_rows)
    first = scan.stream_rows(spark, table, columns, batch.initial.files)
    if not added:
        return first
    return first.unionByName(change_feed.rows_of_files(spark, table, columns, added, scan.stream_rows))


def _failing(spark: SparkSession, rows: DataFrame, why: str) -> DataFrame:
    """The same rows, but to read them fails: Spark also asks for batches that it does not read again."""
    nothing = [F.lit(None).cast(field.dataType).alias(field.name) for field in rows.schema.fields]
    failure = spark.range(1).where(F.raise_error(F.lit(why)).isNotNull()).select(*nothing)
    return rows.union(failure)


class _TableSource:
    """A table, as Spark's streaming engine asks for it."""

    def __init__(self, spark: SparkSession, stream: TableStream, classes: StreamingClasses) -> None:
        self._spark, self._stream, self._classes = spark, stream, classes
        self._schema = batch_rows(spark, stream, StreamBatch())._jdf.schema()
        self._mark = scan_marks.new_stream_mark(stream.table.location, stream.columns.version)
        self._offsets = AwaitedOffsets(stream)
        self._until: dict[str, int] = {}
        self._answers = local()

    def frame(self) -> JavaObject:
        """The DataFrame of the stream."""
        return self._classes.stream_frame(self, self._schema, self._spark._jsparkSession)

    def schema(self) -> JavaObject:
        return self._schema

    def latestOffset(self, start: JavaObject | None, limit: JavaObject) -> JavaObject:
        begins = None if start is None else stream_offsets.from_json(start.json())
        limits = UNLIMITED if limit.getClass().getSimpleName() == _EVERYTHING else None
        run = self._run()
        end = self._offsets.latest_offset(run, begins, limits, until=self._until.get(run))
        return self._keep(self._classes.offset(stream_offsets.to_json(end)))

    def getDefaultReadLimit(self) -> JavaObject:
        return self._keep(self._classes.max_files(self._stream.settings.limits.files or 2**31 - 1))

    def reportLatestOffset(self) -> JavaObject | None:
        return None

    def prepareForTriggerAvailableNow(self) -> None:
        self._until[self._run()] = self._stream.newest_version()

    def getBatch(self, start: JavaObject, end: JavaObject) -> JavaObject:
        begins: StreamOffset | None = None
        if not start.isEmpty():
            begins = stream_offsets.from_json(start.get().json())
        found = self._stream.batch(begins, stream_offsets.from_json(end.json()))
        rows = batch_rows(self._spark, self._stream, found)
        if found.failure is not None:
            rows = _failing(self._spark, rows, str(found.failure))
        return self._keep(rows._jdf)

    def getOffset(self) -> JavaObject:
        return self._classes.nothing

    def initialOffset(self) -> JavaObject | None:
        return None

    def deserializeOffset(self, text: str) -> JavaObject:
        return self._keep(self._classes.offset(text))

    def commit(self, _end: JavaObject) -> None:
        """Nothing is kept for batches that were read."""

    def stop(self) -> None:
        run = self._run()
        self._until.pop(run, None)
        self._offsets.forget(run)

    def toString(self) -> str:
        return f"headgate {self._stream.table.location} {self._mark.text}"

    def hashCode(self) -> int:
        return id(self) & 0x7FFF_FFFF

    def equals(self, other: Any) -> bool:
        return other is self

    def _run(self) -> str:
        """Which run of which query asks: several may read one DataFrame."""
        return str(self._spark.sparkContext.getLocalProperty(_RUN))

    def _keep(self, answer: Any) -> Any:
        """An answer, kept until the next of the thread: py4j may else drop it before the JVM has taken it."""
        self._answers.last = answer
        return answer

    class Java:
        """What py4j asks for."""

        implements = (streaming_classes.SOURCE, streaming_classes.AVAILABLE_NOW)
