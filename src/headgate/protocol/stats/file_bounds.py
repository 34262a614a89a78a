"""Between which values the columns of each file lie, read when somebody asks for a column."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

import pyarrow as pa
import pyarrow.compute as pc

from headgate.protocol.predicates.tree import Column
from headgate.protocol.stats import column_bounds
from headgate.protocol.stats.column_bounds import BoundsRequest, ColumnBounds

Path = tuple[str, ...]
Statistics = Callable[[Sequence[BoundsRequest]], Sequence[ColumnBounds]]
"""What is known of some columns, by their paths in the files, in every file."""
_NULLS = attrgetter("nulls")


class FileBounds:
    """The bounds of some files, read once for every column that is asked for.

    Keep it as long as the files: a second look at the same column costs next to nothing, in any
    thread. ``physical`` gives the path of a column in the files, where that differs from its path
    in the schema. Without ``statistics`` the files have them in their own columns. Partition
    columns never need them.
    """

    __slots__ = ("_known", "_lock", "_partitioned", "_physical", "_statistics", "files")

    def __init__(
        self,
        files: pa.Table,
        *,
        partition_columns: Iterable[str] = (),
        physical: Mapping[Path, Path] | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self.files = files
        self._partitioned = frozenset(name.lower() for name in partition_columns)
        self._physical = physical or {}
        self._statistics = statistics or partial(column_bounds.bounds_from_stats, files)
        self._known: dict[Path, ColumnBounds] = {}
        self._lock = threading.Lock()

    def of(self, column: Column, *, nulls: bool = True) -> ColumnBounds:
        """The bounds of one column; whether it may be null is known only if ``nulls`` are asked for."""
        self.load((BoundsRequest(column, nulls),))
        return self._known[self._in_files(column).path]

    def load(self, wanted: Iterable[BoundsRequest]) -> None:
        """Read several columns at once, which costs about as much as one."""
        stored = []
        for asked in wanted:
            found = self._in_files(asked.column)
            if not self.is_partition(asked.column):
                stored.append(BoundsRequest(found, asked.nulls))
            elif found.path not in self._known:
                self._known[found.path] = self._of_partition(found)
        self._of_stats(stored)

    def only(self, keep: pa.BooleanArray) -> "FileBounds":
        """The bounds of some of the files; a column is still read once for all of them."""
        return FileBounds(
            self.files.filter(keep),
            partition_columns=self._partitioned,
            physical=self._physical,
            statistics=lambda wanted: [bounds.filter(keep) for bounds in self._of_stats(wanted)],
        )

    def is_partition(self, column: Column) -> bool:
        """Whether the column is one that the table is partitioned by."""
        return len(column.path) == 1 and column.path[0].lower() in self._partitioned

    def _of_stats(self, wanted: Sequence[BoundsRequest]) -> list[ColumnBounds]:
        if not all(map(self._is_known, wanted)):
            with self._lock:  # whoever comes second finds what the first has read
                # Last those with nulls, which answer the others too.
                unknown = sorted((asked for asked in wanted if not self._is_known(asked)), key=_NULLS)
                missing = {asked.column.path: asked for asked in unknown}
                if missing:
                    found = self._statistics(list(missing.values()))
                    self._known.update(zip(missing, found, strict=True))
        return [self._known[asked.column.path] for asked in wanted]

    def _is_known(self, asked: BoundsRequest) -> bool:
        known = self._known.get(asked.column.path)
        return known is not None and known.answers(asked)

    def _in_files(self, column: Column) -> Column:
        return replace(column, path=self._physical.get(column.path, column.path))

    def _of_partition(self, column: Column) -> ColumnBounds:
        texts = pc.map_lookup(self.files["partition_values"], pa.scalar(column.path[-1]), "first")
        return column_bounds.bounds_from_partition_values(texts.combine_chunks(), column)
