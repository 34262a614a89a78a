"""The statistics of the files of a large checkpoint: whole, or only what they say of some columns.

As JSON they are most of a checkpoint, and few of their columns are ever asked for. So they are
read in batches of which only typed bounds are kept, and read again for a column nobody has asked
for yet.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.schema.types import describe_type
from headgate.protocol.stats import column_bounds
from headgate.protocol.stats.column_bounds import BoundsRequest, ColumnBounds
from headgate.protocol.stats.stats_json import StatsLeaf
from headgate.protocol.stats.stats_leaves import StatsLeafReader

CHECKPOINT_ROW = "row"
"""A column while the statistics of some files are still to be loaded: where these are among them."""

_RECORDS = StatsLeaf("numRecords", ())
Answer = TypeVar("Answer")
_Key = tuple[tuple[str, ...], str, bool]


class StatisticsBatches(Protocol):
    """The files of a checkpoint, in the order of their rows."""

    def __call__(
        self, leaves: Collection[StatsLeaf] | None, work: Callable[[Iterator[pa.Table]], Answer], /
    ) -> Iterable[Answer]:
        """What ``work`` makes of the batches of each, columns ``stats`` and perhaps ``stats_parsed``.

        With ``leaves`` there need be no more than these take.
        """
        ...


class CheckpointStatistics:
    """Shared by all versions that build on one checkpoint, in any thread."""

    __slots__ = ("_known", "_lock", "_pieces")

    def __init__(self, pieces: StatisticsBatches) -> None:
        self._pieces = pieces
        self._known: dict[_Key, ColumnBounds] = {}
        self._lock = threading.Lock()

    def whole(self) -> pa.Table:
        """One row per file: ``stats``, and perhaps ``stats_parsed``."""
        none = pa.table({"stats": pa.nulls(0, pa.string())})
        return pa.concat_tables([none, *self._pieces(None, _one_table)], promote_options="default")

    def bounds(self, wanted: Sequence[BoundsRequest]) -> list[ColumnBounds]:
        """What is known of some columns, by their paths in the files."""
        with self._lock:
            missing = [asked for asked in wanted if not self._is_known(asked)]
            if missing:
                reader = column_bounds.BoundsReader(missing)
                found = list(self._pieces(reader.leaves, reader.read)) or [reader.read(())]
                parts = zip(*found, strict=True)
                self._known.update(
                    (_key(asked), column_bounds.concat_bounds(part))
                    for asked, part in zip(missing, parts, strict=True)
                )
            return [self._known[_key(asked)] for asked in wanted]

    def record_counts(self) -> pa.Array:
        """How many rows each file has, deleted ones too; null where nobody says."""
        parts = self._pieces((_RECORDS,), lambda batches: [record_counts(batch) for batch in batches])
        found = [counts for part in parts for counts in part]
        return pa.concat_arrays(found) if found else pa.nulls(0, pa.int64())

    def _is_known(self, asked: BoundsRequest) -> bool:
        known = self._known.get(_key(asked))
        return known is not None and known.answers(asked)


def _key(asked: BoundsRequest) -> _Key:
    column = asked.column
    return column.path, describe_type(column.type), column.was_float


def record_counts(files: pa.Table) -> pa.Array:
    """How many rows files have, by statistics that are in columns of their own or among theirs."""
    return StatsLeafReader({_RECORDS: pa.int64()}).read(files)[_RECORDS]


def live_record_counts(files: pa.Table, statistics: CheckpointStatistics) -> pa.Array:
    """How many rows live files have, those with a ROW as the checkpoint has them."""
    rows, known = files[CHECKPOINT_ROW], statistics.record_counts()
    own = record_counts(files.filter(pc.is_null(rows))) if rows.null_count else known[:0]
    return pa.concat_arrays([known, own]).take(_row_positions(rows, len(known)))


def _one_table(batches: Iterator[pa.Table]) -> pa.Table:
    none = pa.table({"stats": pa.nulls(0, pa.string())})
    return pa.concat_tables([none, *batches], promote_options="default")


def live_bounds(
    files: pa.Table, statistics: CheckpointStatistics, wanted: Sequence[BoundsRequest]
) -> list[ColumnBounds]:
    """What is known of some columns in live files, those with a ROW as the checkpoint has them."""
    rows = files[CHECKPOINT_ROW]
    own = column_bounds.bounds_from_stats(
        files.filter(pc.is_null(rows)) if rows.null_count else files[:0], wanted
    )
    known = [
        column_bounds.concat_bounds((of_checkpoint, of_commits)) if rows.null_count else of_checkpoint
        for of_checkpoint, of_commits in zip(statistics.bounds(wanted), own, strict=True)
    ]
    count = len(known[0]) - rows.null_count
    if are_all_in_order(rows, count):
        return known
    order = _row_positions(rows, count)
    return [bounds.take(order) for bounds in known]


def are_all_in_order(rows: pa.ChunkedArray, count: int) -> bool:
    """Whether all ``count`` rows of a checkpoint are there, in their order, and only then come others."""
    return len(rows) == count + rows.null_count and bool(
        rows.slice(0, count).equals(pa.chunked_array([row_numbers(count)], pa.int64()))
    )


def row_numbers(count: int) -> pa.Array:
    """0, 1, 2, … for ROW."""
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count), start=-1)


def _row_positions(rows: pa.ChunkedArray, count: int) -> pa.Array:
    """The row of each file, those without one counted on after the last."""
    others = pc.cumulative_sum(pc.cast(pc.is_null(rows), pa.int64()), start=count - 1)
    return pc.coalesce(rows, others).combine_chunks()
