"""A stream into a table: what must be true before it starts, and the query that Spark runs."""

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from headgate.errors import InvalidRequest, TableNotFound
from headgate.spark.data_files.epoch_metrics import STREAMING_UPDATE
from headgate.spark.dml import target_scan
from headgate.spark.scan import self_reads
from headgate.spark.scan.scan_marks import ScanMark
from headgate.spark.session import kind
from headgate.spark.streaming import query_identity
from headgate.spark.streaming.micro_batch import BatchWriter, Destination, check_columns
from headgate.spark.streaming.stream_write_options import StreamOptions
from headgate.spark.write import append_overwrite, create_as
from headgate.storage.locate import locate
from headgate.table.opened_table import OpenedTable
from headgate.table.read.snapshot import Snapshot


def start(df: DataFrame, destination: Destination, asked: StreamOptions) -> StreamingQuery:
    """Start a query that writes the stream ``df``; what could not work is refused here, in plain words.

    What is wrong with the first batch would else end the query, from inside Spark.
    """
    if not df.isStreaming:
        raise InvalidRequest(
            "these rows are not a stream, which spark.readStream gives: write them with append or overwrite"
        )
    check_columns(append_overwrite.incoming_schema(df))
    _check_connect_server(df, destination, asked)
    reads = _check_fits(df, destination, asked)
    writer = df.writeStream.outputMode(asked.mode).option("checkpointLocation", str(asked.checkpoint))
    if asked.query_name is not None:
        writer = writer.queryName(asked.query_name)
    if asked.available_now:
        writer = writer.trigger(availableNow=True)
    elif asked.processing_time is not None:
        writer = writer.trigger(processingTime=asked.processing_time)
    return writer.foreachBatch(BatchWriter(destination, asked, reads)).start()


def _check_connect_server(df: DataFrame, destination: Destination, asked: StreamOptions) -> None:
    """That a server of Spark Connect, where batches are written, finds the table and the query's id."""
    if kind.is_connect(df):
        destination.sent()
        if asked.app_id is None:
            locate(str(asked.checkpoint))


def _check_fits(df: DataFrame, destination: Destination, asked: StreamOptions) -> tuple[ScanMark, ...]:
    """That the rows can be written to the table as it is now, or to the one that would be made.

    What they read of the table themselves is the answer: batches do not tell everywhere.
    """
    try:
        table = destination.find()
    except TableNotFound:
        if destination.make is None:
            raise
        create_as.definition_from_rows(df, asked.write)
        return ()
    base = table.snapshot()
    if asked.overwrites:
        target_scan.check_not_append_only(base, STREAMING_UPDATE)
    append_overwrite.prepare_write(table, base, df, asked.write, overwrite=asked.overwrites)
    _check_continues(table, base, asked)
    return self_reads.self_read_marks(df, table)


def _check_continues(table: OpenedTable, base: Snapshot, asked: StreamOptions) -> None:
    """That a name for the batches is not used with a new checkpoint, whose batches are numbered anew."""
    if asked.app_id is None or asked.checkpoint is None:
        return
    found = base.state.txns.get(asked.app_id)
    if found is not None and _is_new(asked.checkpoint):
        raise InvalidRequest(
            f"{table.location} has the batches of {asked.app_id!r} up to {found.version}, and the checkpoint "
            f"{asked.checkpoint} is new: its batches begin at 0 and would be taken for those. Go on with the "
            "old checkpoint, or give another app_id"
        )


def _is_new(checkpoint: str) -> bool:
    try:
        return query_identity.query_id_of_checkpoint(checkpoint) is None
    except InvalidRequest:  # Spark has checkpoints in stores that Headgate does not know
        return False
