"""What do the keyword arguments of ``read_stream`` ask for?"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypedDict

from pyspark.sql import SparkSession

from headgate.errors import InvalidRequest
from headgate.spark.calls import moments, option_kwargs
from headgate.table.stream import schema_tracking
from headgate.table.stream.stream_read_settings import LATEST, StreamReadOptions


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
    schema_tracking_location: str | Path
    streaming_source_tracking_id: str
    allow_source_column_drop: str | int
    allow_source_column_rename: str | int
    allow_source_column_type_change: str | int


def from_read_kwargs(asked: StreamReadKwargs, spark: SparkSession | None = None) -> StreamReadOptions:
    """The options of these keyword arguments; moments without a zone are in that of the session."""
    given = option_kwargs.take_options(asked, StreamReadKwargs, "a stream")
    start = given.get("starting_version")
    if isinstance(start, str) and start.lower() != LATEST:
        raise InvalidRequest(f"starting_version is a version or {LATEST!r}, not {start!r}: correct it")
    if isinstance(start, str):
        given["starting_version"] = LATEST
    moment = given.get("starting_timestamp")
    if moment is not None:
        given["starting_timestamp"] = moments.to_epoch_millis(moment, spark)
    return StreamReadOptions(**_as_texts(given))


def _as_texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with places and confirmed versions as texts."""
    found = dict(given)
    for name in given.keys() & _TEXTS:
        if isinstance(given[name], bool) or not isinstance(given[name], str | int | Path | None):
            raise InvalidRequest(f"{name} is a text, not {given[name]!r}: correct it")
        found[name] = None if given[name] is None else str(given[name])
    return found


_TEXTS = frozenset(
    {
        "schema_tracking_location",
        "streaming_source_tracking_id",
        *(row.option for row in schema_tracking.CONFIRMED_CHANGES),
    }
)
