"""Which rows does each version of a table bring? Read in this process as long as commits only add rows.

    follower = RowFollower(table, RowsAsked(start=3))
    for line in follower.new_lines():     the rows of versions 3, 4 …, up to the latest
        …
    follower.new_lines()                  those of versions that were committed since

A commit that takes rows away is refused by name, unless it is to be passed over; changed rows are told by a
change data feed, which Spark reads (``ChangeFollower``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from pyspark.sql import SparkSession

from headgate.arrow import json_values
from headgate.arrow.read.stream_rows import stream_rows
from headgate.cli.shell.engine import collect_answer
from headgate.lake.table import Table
from headgate.table.stream.admission import ReadLimits
from headgate.table.stream.stream_offsets import StreamOffset
from headgate.table.stream.stream_read_settings import StreamReadOptions
from headgate.table.stream.table_stream import TableStream

_NO_LIMITS = ReadLimits(None, None)
_FEED = ("_change_type", "_commit_version", "_commit_timestamp")


class RowLine(msgspec.Struct, frozen=True, kw_only=True):
    """A row, and what became of it in which version. Keys are never renamed, only added to."""

    version: int
    change: str
    """``insert``, ``delete``, ``update_preimage`` or ``update_postimage``."""
    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """Where to begin, and what to pass over."""

    start: int | Literal["latest"] | None = None
    """A version; only what comes from now on; or None: the rows that there are, and what is added."""
    skips_changes: bool = False


class RowFollower:
    """Gives the rows of a table, version after version."""

    def __init__(self, table: Table, asked: RowsAsked) -> None:
        options = StreamReadOptions(starting_version=asked.start, skip_change_commits=asked.skips_changes)
        self._stream = TableStream(table.log, options, table.log.snapshot())
        self._here: StreamOffset = self._stream.start()

    def new_lines(self) -> Iterator[RowLine]:
        """The rows of all versions that it has not given yet."""
        newest = self._stream.newest_version()
        while self._here.version <= newest:
            yield from self._version_lines(self._here)

    def _version_lines(self, here: StreamOffset) -> Iterator[RowLine]:
        version = here.version
        end = self._stream.latest_offset(here, _NO_LIMITS, until=version)
        for rows in stream_rows(self._stream, self._stream.batch(here, end)):
            kinds = [field.type for field in rows.schema]
            for row in rows.to_pylist():
                plain = {
                    name: json_values.json_value(value, kind)
                    for (name, value), kind in zip(row.items(), kinds, strict=True)
                }
                yield RowLine(version=version, change="insert", row=plain)
        self._here = end


@dataclass(slots=True)
class ChangeFollower:
    """Gives the changed rows of a table by its change data feed, version after version."""

    table: Table
    start: int
    session: Callable[[], SparkSession]

    def new_lines(self) -> Iterator[RowLine]:
        """The changes of all versions that it has not given yet."""
        newest = self.table.log.describe().version
        if newest < self.start:
            return
        feed = self.table.changes(self.start, newest, spark=self.session())
        answer = collect_answer(feed.orderBy("_commit_version", "_change_type"), None)
        for row in answer.plain_rows():
            own = {name: value for name, value in row.items() if name not in _FEED}
            yield RowLine(version=row["_commit_version"], change=row["_change_type"], row=own)
        self.start = newest + 1
