"""A table as its user holds it: each method is one call into the layer that does the work."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType
from typing_extensions import Unpack, override

from headgate.calls import summary
from headgate.calls.delegation import delegate
from headgate.deferred import deferred
from headgate.errors import InvalidRequest
from headgate.lake.definition import TableAlteration
from headgate.lake.parts.upkeep import TableUpkeep
from headgate.lake.small_data import SmallData
from headgate.protocol.domains.rules import DomainSettings
from headgate.protocol.schema import json as schema_json
from headgate.spark.calls.option_kwargs import LocalRows
from headgate.spark.calls.user_calls import CallSubject, user_calls
from headgate.spark.data_files import write_options
from headgate.spark.data_files.write_options import WriteKwargs
from headgate.spark.session import schema as spark_schema
from headgate.spark.streaming import stream_write_options
from headgate.spark.streaming.micro_batch import BatchWriter, Destination
from headgate.spark.streaming.stream_reading import StreamReading
from headgate.spark.streaming.stream_write_options import BatchKwargs, StreamKwargs, StreamMode
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.lake.summaries import table_summary
    from headgate.spark.calls import moments
    from headgate.spark.commands import detail, history
    from headgate.spark.dml import delete, update
    from headgate.spark.dml.dml_metrics import OperationResult
    from headgate.spark.dml.merge.merge import Merge
    from headgate.spark.parquet import logical_columns
    from headgate.spark.scan import change_feed, scan
    from headgate.spark.session import kind
    from headgate.spark.streaming import sink
    from headgate.spark.write import append_overwrite, explain
    from headgate.spark.write.explain import WritePlan
    from headgate.table.read.change_files import AtTimestamp, VersionRange
else:
    table_summary = deferred("headgate.lake.summaries", "table_summary")
    moments = deferred("headgate.spark.calls", "moments")
    detail, history = deferred("headgate.spark.commands", "detail", "history")
    delete, update = deferred("headgate.spark.dml", "delete", "update")
    OperationResult = deferred("headgate.spark.dml.dml_metrics", "OperationResult")
    Merge = deferred("headgate.spark.dml.merge.merge", "Merge")
    logical_columns = deferred("headgate.spark.parquet", "logical_columns")
    change_feed, scan = deferred("headgate.spark.scan", "change_feed", "scan")
    kind = deferred("headgate.spark.session", "kind")
    sink = deferred("headgate.spark.streaming", "sink")
    append_overwrite, explain = deferred("headgate.spark.write", "append_overwrite", "explain")
    WritePlan = deferred("headgate.spark.write.explain", "WritePlan")
    AtTimestamp, VersionRange = deferred("headgate.table.read.change_files", "AtTimestamp", "VersionRange")


def _alteration(table: "Table") -> TableAlteration:
    return table._alteration


def _small_data(table: "Table") -> SmallData:
    return table._small_data


def _upkeep(table: "Table") -> TableUpkeep:
    return table._upkeep


def _stream_reading(table: "Table") -> StreamReading:
    return table._stream_reading


@user_calls
class Table:
    """Read it, write to it, look at its past."""

    def __init__(self, name: str, opened: OpenedTable, destination: Destination | None = None) -> None:
        self.name = name
        self._opened = opened
        self._alteration = TableAlteration(opened)
        self._small_data = SmallData(opened)
        self._upkeep = TableUpkeep(opened)
        self._destination = destination
        self._stream_reading = StreamReading(opened, self._streamed_to)

    @property
    def log(self) -> OpenedTable:
        """The table's log, for work that needs no Spark."""
        return self._opened

    @property
    def location(self) -> str:
        """Where the table's files are."""
        return self._opened.location

    @property
    def schema(self) -> StructType:
        """The columns as Spark has them, those of ``read()``; no session is needed for it."""
        columns = schema_json.parse(self._opened.describe().metadata.schema_string)
        return spark_schema.to_spark(logical_columns.visible_schema(columns))

    @override
    def __repr__(self) -> str:
        known = self._opened.loaded_snapshot
        return summary.one_line("Table", self.name, seen=None if known is None else int(known.version))

    def _repr_html_(self) -> str:
        return summary.html_or_line(
            lambda: table_summary.summarize_table(self.name, self._opened), repr(self)
        )

    def version(self) -> int:
        """The latest version.

        assert orders.version() == 2
        """
        return self._opened.describe().version

    def append(self, df: DataFrame | LocalRows, **options: Unpack[WriteKwargs]) -> int:
        """Add the rows of ``df``; the version that has them. Appends never lose to each other.

        That is a DataFrame of Spark, or for a batch that fits into this process an Arrow table, a DataFrame
        of pandas or a list of dicts: these are written without Spark, by the same rules.

        Columns are matched by name. ``merge_schema`` adds those that the table does not have;
        ``txn=(app_id, version)`` makes the write happen once, however often it is repeated;
        ``user_metadata`` is shown by the history; ``max_records_per_file``, ``compression`` and
        ``optimize_write`` shape the files. With ``domains`` the same commit gives these metadata domains
        their configurations: rows and, say, the mark up to which they were loaded arrive together or
        not at all. If the rows depend on what a domain was at a version, say so with ``since``.

            orders.append([{"id": 3, "sku": "a"}], txn=("load-orders", 7))
        """
        asked = write_options.from_kwargs(options)
        if not isinstance(df, DataFrame):
            return self._small_data.append_local(df, asked)
        return append_overwrite.append(self._opened, df, asked)

    def overwrite(self, df: DataFrame, **options: Unpack[WriteKwargs]) -> int:
        """Replace all rows by those of ``df``; the version that has them. Older versions stay readable.

        Or only some of them: ``replace_where`` replaces those that a condition selects, which the new
        ones must meet too; ``partition_overwrite="dynamic"`` those of the partitions that get new ones.
        ``overwrite_schema`` makes the columns, and with ``partition_by`` the partitioning, those of the
        write. The options of ``append`` work here too.

            orders.overwrite(df, replace_where="day = DATE'2026-01-31'")
        """
        return append_overwrite.overwrite(self._opened, df, write_options.from_kwargs(options))

    def write_stream(
        self,
        df: DataFrame,
        *,
        checkpoint: str | Path,
        mode: StreamMode = "append",
        **options: Unpack[StreamKwargs],
    ) -> StreamingQuery:
        """Start a query that writes the stream ``df``: a commit for each batch, and each batch once.

        The ``checkpoint`` is a folder of this query alone, from which it goes on when it is started again.
        With ``mode="complete"`` each batch replaces all rows, else they are added. ``available_now`` ends
        the query once it has caught up; ``processing_time="10 seconds"`` is how often it looks. The options
        of ``append`` that shape columns and files work here too, and ``overwrite_schema`` with complete.
        ``domains`` are what each batch sets, or a function of the batch and its number that tells; a batch
        without rows is a version only if that changes something.

            orders.write_stream(stream, checkpoint="checkpoints/orders", available_now=True)
        """
        return sink.start(
            df, self._streamed_to(), stream_write_options.from_kwargs(mode, options, checkpoint)
        )

    def batch_writer(self, *, mode: StreamMode = "append", **options: Unpack[BatchKwargs]) -> BatchWriter:
        """What writes each batch of a stream once, to give to ``df.writeStream.foreachBatch(…)`` yourself.

        ``app_id`` names the query in the table, else Spark's id of it does.

            stream.writeStream.foreachBatch(orders.batch_writer()).start()
        """
        return BatchWriter(self._streamed_to(), stream_write_options.from_kwargs(mode, options))

    def plan_write(
        self, df: DataFrame, *, overwrite: bool = False, **options: Unpack[WriteKwargs]
    ) -> WritePlan:
        """What a write of ``df`` would do, without doing it: the columns compared, and what each option does.

        Print it. ``outcome`` and ``allowed_by`` are for programs.

            print(orders.plan_write(df, merge_schema=True))
        """
        return explain.explain_write(
            self._opened, df, write_options.from_kwargs(options), overwrite=overwrite
        )

    def delete(
        self,
        where: Column | str | None = None,
        *,
        domains: Mapping[str, str] | None = None,
        since: int | None = None,
        alias: str | None = None,
        spark: SparkSession | None = None,
    ) -> OperationResult:
        """Delete the rows for which ``where`` is true, or all rows; the version, and how many there were.

        With ``delta.enableDeletionVectors`` files of which few rows go are not rewritten. With ``domains``
        and ``since`` the same commit sets metadata domains, as in ``append``, even if no row is deleted.
        The condition may call the table by an ``alias``.

            orders.delete("id < 10")
        """
        settings = DomainSettings(domains or {}, since)
        return delete.delete(spark or kind.active_session(), self._opened, where, settings, alias=alias)

    def update(
        self,
        set: Mapping[str, Column | str],  # noqa: A002 — the name Delta has for it
        where: Column | str | None = None,
        *,
        domains: Mapping[str, str] | None = None,
        since: int | None = None,
        alias: str | None = None,
        spark: SparkSession | None = None,
    ) -> OperationResult:
        """Give columns new values in the rows for which ``where`` is true, or in all rows.

        ``set`` has names of columns, or of fields as in ``address.city``, and Columns or SQL
        expressions over the row as it was. ``domains``, ``since`` and ``alias`` are those of ``delete``.

            orders.update({"n": "n + 1"}, where="sku = 'a'")
        """
        settings = DomainSettings(domains or {}, since)
        session = spark or kind.active_session()
        return update.update(session, self._opened, set, where, settings, alias=alias)

    def merge(
        self,
        source: DataFrame,
        condition: Column | str,
        *,
        target_alias: str = "t",
        source_alias: str | None = "s",
        domains: Mapping[str, str] | None = None,
        since: int | None = None,
    ) -> Merge:
        """A MERGE of the rows of ``source``, to which clauses are added before it is executed.

        The condition calls the table ``t`` and the source ``s``; with ``source_alias=None`` the source
        keeps the alias it has. ``domains`` and ``since`` are those of ``delete``.

            orders.merge(df, "t.id = s.id").when_matched_update_all().when_not_matched_insert_all().execute()
        """
        return Merge(
            source.sparkSession,
            self._opened,
            source,
            condition,
            target_alias,
            source_alias,
            domains=DomainSettings(domains or {}, since),
            subject=self._subject(),
        )

    def read(
        self,
        *,
        version: int | None = None,
        timestamp: datetime | str | None = None,
        or_earliest: bool = False,
        where: Column | str | None = None,
        row_ids: bool = False,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """The rows now, at a version, or as of a moment: a datetime, or ISO text.

        Without a zone a datetime is in that of this process, in which PySpark gives the timestamps of the
        history, and a text in that of the Spark session.
        A moment before the earliest version that can be read is refused, or with ``or_earliest`` means it.
        With ``where`` only those that meet a condition; files that cannot have any are not opened.
        With ``row_ids`` a table that tracks its rows also gives ``_row_id`` and ``_row_commit_version``.

            orders.read(where="sku = 'a'").show()
        """
        spark = spark or kind.active_session()
        moment = None if timestamp is None else moments.to_epoch_millis(timestamp, spark)
        snapshot = self._opened.snapshot(version=version, timestamp=moment, or_earliest=or_earliest)
        is_latest = version is None and timestamp is None
        return scan.read(spark, self._opened, snapshot, where=where, row_ids=row_ids, is_latest=is_latest)

    def changes(
        self,
        start: int | datetime | str,
        end: int | datetime | str | None = None,
        *,
        spark: SparkSession | None = None,
    ) -> DataFrame:
        """The rows that came and went from ``start`` to ``end``, both included; each a version or a moment.

        Besides the table's columns there are ``_change_type``, ``_commit_version`` and
        ``_commit_timestamp``. The table must record changes: ``delta.enableChangeDataFeed=true``.

            orders.changes(1, 2).show()
        """
        spark = spark or kind.active_session()
        asked = VersionRange(_feed_bound(start, spark), None if end is None else _feed_bound(end, spark))
        return change_feed.read(spark, self._opened, asked)

    def history(self, *, limit: int | None = None, spark: SparkSession | None = None) -> DataFrame:
        """What happened, newest first, in Delta's columns.

        orders.history(limit=5).show()
        """
        return history.frame(spark or kind.active_session(), self._opened.history(limit=limit))

    def detail(self, *, spark: SparkSession | None = None) -> DataFrame:
        """What the table is, in one row of Delta's columns.

        orders.detail().show()
        """
        snapshot, newest = self._opened.snapshot(), self._opened.history(limit=1)
        return detail.frame(
            spark or kind.active_session(),
            self._opened,
            snapshot,
            name=self.name,
            committed=newest[0].timestamp,
        )

    def unanswered(self) -> str | None:
        """Why the table's coordinator could not be asked, so that newer versions may exist; else None.

        Such a table can be read with ``Settings(read_published=True)``, or where that is not registered.

            assert orders.unanswered() is None
        """
        return self._opened.unanswered()

    restore = delegate(_upkeep, TableUpkeep.restore)
    optimize = delegate(_upkeep, TableUpkeep.optimize)
    purge = delegate(_upkeep, TableUpkeep.purge)
    vacuum = delegate(_upkeep, TableUpkeep.vacuum)
    generate = delegate(_upkeep, TableUpkeep.generate)
    read_stream = delegate(_stream_reading, StreamReading.read_stream)
    to_arrow = delegate(_small_data, SmallData.to_arrow)
    to_pandas = delegate(_small_data, SmallData.to_pandas)
    publish = delegate(_alteration, TableAlteration.publish)
    checkpoint = delegate(_alteration, TableAlteration.checkpoint)
    compact_log = delegate(_alteration, TableAlteration.compact_log)
    cleanup_log = delegate(_alteration, TableAlteration.cleanup_log)
    domains = delegate(_alteration, TableAlteration.domains)
    domain = delegate(_alteration, TableAlteration.domain)
    set_domain = delegate(_alteration, TableAlteration.set_domain)
    remove_domain = delegate(_alteration, TableAlteration.remove_domain)
    change_domains = delegate(_alteration, TableAlteration.change_domains)
    add_columns = delegate(_alteration, TableAlteration.add_columns)
    rename_column = delegate(_alteration, TableAlteration.rename_column)
    drop_columns = delegate(_alteration, TableAlteration.drop_columns)
    move_column = delegate(_alteration, TableAlteration.move_column)
    widen_column = delegate(_alteration, TableAlteration.widen_column)
    set_column_comment = delegate(_alteration, TableAlteration.set_column_comment)
    set_column_default = delegate(_alteration, TableAlteration.set_column_default)
    drop_not_null = delegate(_alteration, TableAlteration.drop_not_null)
    sync_identity = delegate(_alteration, TableAlteration.sync_identity)
    cluster_by = delegate(_alteration, TableAlteration.cluster_by)
    add_constraint = delegate(_alteration, TableAlteration.add_constraint)
    drop_constraint = delegate(_alteration, TableAlteration.drop_constraint)
    properties = delegate(_alteration, TableAlteration.properties)
    set_properties = delegate(_alteration, TableAlteration.set_properties)
    unset_properties = delegate(_alteration, TableAlteration.unset_properties)
    set_comment = delegate(_alteration, TableAlteration.set_comment)
    upgrade_protocol = delegate(_alteration, TableAlteration.upgrade_protocol)
    add_feature = delegate(_alteration, TableAlteration.add_feature)
    drop_feature = delegate(_alteration, TableAlteration.drop_feature)
    coordinate = delegate(_alteration, TableAlteration.coordinate)
    uncoordinate = delegate(_alteration, TableAlteration.uncoordinate)
    force_uncoordinate = delegate(_alteration, TableAlteration.force_uncoordinate)

    def _subject(self) -> CallSubject:
        member = self._opened.member
        ids = {} if member is None else {str(member.table_id): self.name}
        return CallSubject(self.name, self._opened.location, ids)

    def _streamed_to(self) -> Destination:
        if self._destination is None:
            raise InvalidRequest(
                "a stream commits each of its batches by itself, so it cannot write to a table of a "
                "transaction or a snapshot: open the table by lake.table(…)"
            )
        return self._destination


def _feed_bound(given: int | datetime | str, spark: SparkSession) -> int | AtTimestamp:
    return given if isinstance(given, int) else AtTimestamp(moments.to_epoch_millis(given, spark))
