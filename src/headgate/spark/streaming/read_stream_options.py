"""What do the keyword arguments of ``read_stream`` ask for?"""

from datetime import datetime
from typing import TypedDict

from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest
from headgate.spark.calls import arguments, moments
from headgate.table.stream.read_options import LATEST, StreamReadOptions


class StreamReadKwargs(TypedDict, total=False):
    """The keyword arguments."""

    starting_version: int | str
    starting_timestamp: datetime | str
    read_change_feed: bool
    max_files_per_trigger: int
    max_bytes_per_trigger: int
    ignore_deletes: bool
    ignore_changes: bool
    skip_change_commits: bool
    ignore_file_deletion: bool
    exclude_regex: str
    fail_on_data_loss: bool


def from_read_kwargs(asked: StreamReadKwargs, spark: SparkSession | None = None) -> StreamReadOptions:
    """The options of these keyword arguments; moments without a zone are in that of the session."""
    given = arguments.take_options(asked, StreamReadKwargs, "a stream")
    start = given.get("starting_version")
    if isinstance(start, str) and start.lower() != LATEST:
        raise InvalidRequest(f"starting_version is a version or {LATEST!r}, not {start!r}: correct it")
    if isinstance(start, str):
        given["starting_version"] = LATEST
    moment = given.get("starting_timestamp")
    if moment is not None:
        given["starting_timestamp"] = moments.to_epoch_millis(moment, spark)
    return StreamReadOptions(**given)
