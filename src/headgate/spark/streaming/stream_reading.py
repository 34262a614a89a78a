"""What does a table offer to those who read it as a stream?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from typing_extensions import Unpack

from headgate.calls.faces import load_face
from headgate.deferred import deferred
from headgate.spark.streaming.micro_batch import Destination
from headgate.table.opened_table import OpenedTable

if TYPE_CHECKING:
    from headgate.spark.scan import binders
    from headgate.spark.session import kind
    from headgate.spark.streaming import stream_read_kwargs, stream_source
    from headgate.spark.streaming.read_option_rows import check_not_refused
    from headgate.spark.streaming.stream_read_kwargs import StreamReadKwargs
else:
    binders = deferred("headgate.spark.scan", "binders")
    kind = deferred("headgate.spark.session", "kind")
    stream_read_kwargs, stream_source = deferred(
        "headgate.spark.streaming", "stream_read_kwargs", "stream_source"
    )
    check_not_refused = deferred("headgate.spark.streaming.read_option_rows", "check_not_refused")
    StreamReadKwargs = deferred("headgate.spark.streaming.stream_read_kwargs", "StreamReadKwargs")


@dataclass(frozen=True, slots=True)
class StreamReading:
    """The stream of a table."""

    opened: OpenedTable
    found_again: Callable[[], Destination]
    """Tells how another process finds the table; refused if none does."""

    def read_stream(
        self, *, spark: SparkSession | None = None, **options: Unpack[StreamReadKwargs]
    ) -> DataFrame:
        """The table as a stream: all rows of its latest version, and then those that each commit adds.

        Or from ``starting_version`` or ``starting_timestamp`` on; ``starting_version="latest"`` gives what
        comes from now on. ``max_files_per_trigger`` and ``max_bytes_per_trigger`` say how much a batch takes.
        A commit that deletes or changes rows stops the stream, unless ``ignore_deletes``, ``ignore_changes``
        or ``skip_change_commits`` say what to make of it; ``read_change_feed`` gives what changed. A commit
        that changes the columns stops it too: start the query again with a new ``read_stream()``.

            orders.read_stream(max_files_per_trigger=100).writeStream.format("console").start()
        """
        session = spark or kind.active_session()
        asked = stream_read_kwargs.from_read_kwargs(options, session)
        if not kind.is_connect(session) and binders.may_be_classic(session):
            return stream_source.read_stream(session, self.opened, asked)
        if asked.schema_tracking_location is not None:
            check_not_refused("schemaTrackingLocation")
        found: Any = load_face("stream_frame")(session, self.opened, self.found_again().sent(), asked)
        return _as_frame(found)


def _as_frame(found: Any) -> DataFrame:
    frame: DataFrame = found
    return frame
